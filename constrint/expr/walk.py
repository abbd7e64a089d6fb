"""Walking over expressions with shared or deep parts, without recursion."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator

from constrint.expr.base import IntExpr


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
