"""Walking over expressions with shared or deep parts, without recursion."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator

from constrint.expr.base import IntExpr
from constrint.support.limits import exceeded


def inner_first(roots: Iterable[IntExpr], known: Container[int] = ()) -> Iterator[IntExpr]:
    """The parts of expressions and the expressions themselves, each once, parts before what they are in.

    Args:
        roots: The expressions.
        known: Identities of expressions that are left out, and with them their parts.
    """
    seen: set[int] = set()
    for root in roots:
        stack = [root]
        while stack:
            node = stack[-1]
            if id(node) in seen or id(node) in known:
                stack.pop()
                continue
            waiting = [child for child in node.children if id(child) not in seen and id(child) not in known]
            if waiting:
                stack += waiting
                continue
            stack.pop()
            seen.add(id(node))
            yield node


class Depths:
    """Depths of expressions with shared parts, each part visited once.

    Args:
        limit: The greatest depth; None for no limit.
    """

    def __init__(self, limit: int | None) -> None:
        self._limit = limit
        self._depth: dict[int, int] = {}
        self._kept: list[IntExpr] = []

    def note(self, expr: IntExpr) -> int:
        """The depth of an expression; raises `LimitExceeded` beyond the limit."""
        depth = self._depth
        if id(expr) not in depth:
            own: dict[int, int] = {}  # inner parts are not kept: they may be garbage-collected later
            for node in inner_first([expr], depth):
                below = [own.get(id(child)) or depth.get(id(child), 0) for child in node.children]
                own[id(node)] = 1 + max(below, default=0)
            self._kept.append(expr)
            depth[id(expr)] = own[id(expr)]
        if self._limit is not None and depth[id(expr)] > self._limit:
            raise exceeded("depth", self._limit)
        return depth[id(expr)]
