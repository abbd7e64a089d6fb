"""Nodes and tokens of syntax trees, whose places come from the first and last token.

Rules of the grammars must keep their brackets, so that a node's tokens tell its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any


class Token(str):
    """A word of a text.

    Attributes:
        type: Its terminal in the grammar.
        start_pos: Its offset.
        line: Its line, from 1.
    """

    __slots__ = ("line", "start_pos", "type")
    type: str
    start_pos: int
    line: int

    @property
    def end_pos(self) -> int:
        """The offset behind it."""
        return self.start_pos + len(self)


class Place:
    """Where a node stands.

    Attributes:
        line: Its first line, from 1.
        start_pos: The offset of its first character.
        end_pos: The offset behind its last one.
    """

    __slots__ = ("end_pos", "line", "start_pos")

    def __init__(self, line: int, start_pos: int, end_pos: int) -> None:
        self.line, self.start_pos, self.end_pos = line, start_pos, end_pos


class Node:
    """A tree; lark's parsers make such nodes as well, with tokens of lark's.

    Attributes:
        data: The name of its rule.
        children: Nodes and tokens.
        first: The first token; None if there is none.
        last: The last token.
    """

    __slots__ = ("children", "data", "first", "last")

    def __init__(self, data: str, children: list[Any], meta: object = None) -> None:
        self.data = data
        self.children = children
        self.first = _first(children)
        self.last = _last(children)

    @property
    def meta(self) -> Place:
        """Its place."""
        first, last = self.first, self.last
        if first is None or last is None:
            return Place(1, 0, 0)
        return Place(first.line or 1, first.start_pos or 0, last.end_pos or 0)

    def iter_subtrees(self) -> Iterator[Node]:
        """This node and all nodes in it, each once, children first."""
        found: dict[int, Node] = {}
        queue = [self]
        for node in queue:
            if id(node) not in found:
                found[id(node)] = node
                queue += [one for one in reversed(node.children) if isinstance(one, Node)]
        return reversed(found.values())


def _first(children: Iterable[Any]) -> Any:
    for child in children:
        token = child.first if type(child) is Node else child
        if token is not None:
            return token
    return None


def _last(children: list[Any]) -> Any:
    for child in reversed(children):
        token = child.last if type(child) is Node else child
        if token is not None:
            return token
    return None
