"""Nodes of syntax trees: each knows its first and last token, and so its place.

lark's own propagation of positions visits every child of every rule, and took half the time of parsing. Here
a place is made from two tokens on demand, so the rules of the grammar must keep their brackets.
"""

from __future__ import annotations

from lark import Token, Tree
from lark.tree import Meta


class Node(Tree[Token]):
    """A tree whose place is given by its first and last token.

    Attributes:
        first: The first token; None if there is none.
        last: The last token.
    """

    def __init__(self, data: str, children: list[Tree[Token] | Token], meta: Meta | None = None) -> None:
        self.data = data
        self.children = children
        self.first: Token | None = None
        self.last: Token | None = None
        for child in children:
            token = child.first if isinstance(child, Node) else child
            if isinstance(token, Token):
                self.first = token
                break
        for child in reversed(children):
            token = child.last if isinstance(child, Node) else child
            if isinstance(token, Token):
                self.last = token
                break

    @property
    def meta(self) -> Meta:
        """Lines, columns and offsets of the first character and after the last one."""
        place = Meta()  # type: ignore[no-untyped-call]  # lark's own
        first, last = self.first, self.last
        if first is not None and last is not None:
            place.empty = False
            place.line, place.column, place.start_pos = (
                first.line or 1,
                first.column or 1,
                first.start_pos or 0,
            )
            place.end_line, place.end_column = last.end_line or 1, last.end_column or 1
            place.end_pos = last.end_pos or 0
        return place
