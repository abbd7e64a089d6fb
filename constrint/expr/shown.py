"""Expressions shown to people: the text that `print`, f-strings, messages and notebooks show.

It is the text of the constrint language, except that the names of arrays' elements and of parts of
intervals, ``x[0,1]`` and ``task.start``, have no backquotes. Large expressions are cut: deep parts and the
middle of long lists are shown as ``…``, so the text is short however many parts there are and however they
are shared.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import Enum
from typing import Any

from constrint.errors import shown, shown_number
from constrint.expr import BoolVar, Const, IntExpr, IntVar, Member, Sum, Table
from constrint.expr.base import BoolExpr
from constrint.expr.domain import Domain, EnumDomain, Label
from constrint.expr.enumerated import labels_of
from constrint.expr.global_expr import Definition
from constrint.expr.strengths import COMPARE, SUM
from constrint.expr.written import Writer, quote

MOST_PARTS = 300
"""Parts of an expression that is shown whole, each counted once for each path to it."""
SHOWN_LEVELS = 40
"""Levels of an expression that is shown whole."""
SHOWN_ENTRIES = 10
"""Entries that are shown of a long list."""
LONGEST_NUMBER = 1_000
"""Bits of a number that is shown whole."""
LONGEST_NAME = 100
_DEPTHS = (8, 5, 4, 3, 2, 1)  # to which a large expression is cut: the first at which few parts are left
_PLAIN = re.compile(r"[^\W\d]\w*(\[(-?\d+|[^\W\d]\w*)(,(-?\d+|[^\W\d]\w*))*\])?(\.\w+)*")


class Cut(BoolExpr):
    """A placeholder for a part that is not shown: its text and how tightly it binds."""

    __slots__ = ("binding", "text")
    text: str
    binding: int | None

    def __init__(self, text: str = "…", binding: int | None = None) -> None:
        self.text = text
        self.binding = binding

    @property
    def children(self) -> tuple[IntExpr, ...]:
        return ()

    def __str__(self) -> str:
        return self.text


class _TooLarge(Exception):  # noqa: N818 - an outcome, not a fault
    """More parts are left than may be shown."""


def show(expr: IntExpr) -> str:
    """The text of an expression for people."""
    return _Showing().text(shortened(expr))


def shower() -> Writer:
    """Writes expressions that have been shortened, for people."""
    return _Showing()


def show_domain(domain: Domain) -> str:
    """The text of a domain for people."""
    if isinstance(domain, EnumDomain):
        numbers = _middle_cut(tuple(domain))
        members = [str(one) if isinstance(one, Cut) else show_label(domain.labels[one]) for one in numbers]
        return "{" + ", ".join(members) + "}"
    if domain.values is not None and len(domain.values) > SHOWN_ENTRIES:
        return "{" + ", ".join(map(str, _middle_cut(domain.values))) + "}"
    return str(domain) if _is_written(domain) else "…"


def show_name(name: str) -> str:
    """The text of a name for people: in backquotes unless it is a word, as ``x[0,1]`` or ``task.start``."""
    name = shown(name, LONGEST_NAME)
    if not name.isidentifier() and _PLAIN.fullmatch(name):
        return name
    return quote(name.replace("`", "'").replace("\n", "\\n").replace("\r", "\\r"))


def show_label(label: object) -> str:
    """The text of a value of an enumeration for people."""
    if isinstance(label, Enum):
        return label.name
    return label if isinstance(label, str) and label.isidentifier() else shown(repr(label), LONGEST_NAME)


class _Showing(Writer):
    """Writes expressions that have been shortened."""

    def name(self, name: str) -> str:
        return show_name(name)

    def constant(self, number: int, labels: tuple[Any, ...] | None) -> str:
        labels = number.labels if isinstance(number, Label) else labels
        is_label = labels is not None and 0 <= number < len(labels)
        return show_label(labels[number]) if labels is not None and is_label else str(number)

    def member(self, expr: Member) -> tuple[str, int]:
        if expr.scale is None:
            return super().member(expr)
        from constrint.expr.written_fractions import show_member

        return show_member(self, expr.arg, expr), COMPARE

    def node(self, expr: IntExpr) -> tuple[str, int]:
        if isinstance(expr, Cut):
            return expr.text, super().node(_ATOMIC)[1] if expr.binding is None else expr.binding
        if not isinstance(expr, IntVar | BoolVar) and type(expr).__module__.partition(".")[0] != "constrint":
            return type(expr).__name__, super().node(_ATOMIC)[1]
        return super().node(expr)


_ATOMIC = Const(1)


def shortened(expr: IntExpr) -> IntExpr:
    """The expression itself if it is small, else one in which `Cut` stands for deep and for many parts."""
    if _is_small(expr):
        return expr
    for depth in _DEPTHS:
        try:
            return _Shortener().cut(expr, depth)
        except _TooLarge:
            continue
    return Cut()


def _is_small(root: IntExpr) -> bool:
    """Whether an expression has few parts, none of them deep, long or a long number."""
    parts, level, depth = 0, [root], 0
    while level:
        parts, depth = parts + len(level), depth + 1
        if parts > MOST_PARTS or depth > SHOWN_LEVELS:
            return False
        below: list[IntExpr] = []
        for node in level:
            if type(node) is Sum and node.count > MOST_PARTS:
                return False
            if not isinstance(node, IntVar | BoolVar):
                parts += _constants(node)
            below += node.children
            if parts + len(below) > MOST_PARTS:
                return False
        level = below
    return True


def _constants(node: IntExpr) -> int:
    """How many constants a node holds; very many if one of them is long."""
    if type(node) is Sum:
        return _entries([c for c, _ in node.terms if c.bit_length() > LONGEST_NUMBER] + [node.constant]) - 1
    return sum([_entries(getattr(node, name)) for name in getattr(node, "__match_args__", ())])


def _entries(part: object) -> int:
    if isinstance(part, int):
        return 1 if part.bit_length() <= LONGEST_NUMBER else MOST_PARTS + 1
    if isinstance(part, Domain):
        if not _is_written(part):
            return MOST_PARTS + 1
        return len(part.values or ())
    if isinstance(part, tuple | frozenset):
        if len(part) > MOST_PARTS:
            return len(part)
        return sum([_entries(one) for one in part])
    return 0


def _is_written(domain: Domain) -> bool:
    bounds = (domain.lo or 0, domain.hi or 0, domain.step)
    return all(bound.bit_length() <= LONGEST_NUMBER for bound in bounds)


def _middle_cut(items: Any) -> tuple[Any, ...]:
    if len(items) <= SHOWN_ENTRIES:
        return tuple(items)
    return (*items[: SHOWN_ENTRIES - 2], Cut(), items[-1])


class _Shortener:
    """Makes the shortened copy of an expression; raises `_TooLarge` if it has too many parts itself."""

    def __init__(self) -> None:
        self.left = MOST_PARTS

    def cut(self, expr: IntExpr, depth: int) -> IntExpr:
        """An expression with at most so many levels."""
        self.left -= 1
        if self.left < 0:
            raise _TooLarge
        if isinstance(expr, IntVar | BoolVar | Cut):
            return expr
        if type(expr) is Const:
            return self.part(expr.value, depth) if _entries(expr.value) > 1 else expr
        if depth <= 0:
            return Cut()
        special = _SPECIAL.get(type(expr))
        if special is not None:
            return special(self, expr, depth - 1)
        fields = getattr(expr, "__match_args__", ())
        if not fields:
            return expr
        return type(expr)(*[self.part(getattr(expr, name), depth - 1) for name in fields])

    def part(self, part: Any, depth: int) -> Any:
        """A field of an expression."""
        if isinstance(part, IntExpr):
            return self.cut(part, depth)
        if isinstance(part, tuple):
            return tuple([self.part(one, depth) for one in _middle_cut(part)])
        if isinstance(part, int) and _entries(part) > 1:
            return Cut(shown(shown_number(part), 20))
        if not isinstance(part, Definition):
            self.left -= 1
        return part

    def sum(self, expr: Sum, depth: int) -> IntExpr:
        terms: list[tuple[int, IntExpr]] = []
        for entry in _middle_cut(expr.terms):
            if isinstance(entry, Cut):
                terms.append((1, entry))
            elif _entries(entry[0]) > 1:
                factor = shown(shown_number(entry[0]), 20)
                terms.append((1, Cut(f"{factor} * {_Showing().text(self.cut(entry[1], depth), SUM + 2)}")))
            else:
                terms.append((entry[0], self.cut(entry[1], depth)))
        constant = expr.constant
        if _entries(constant) > 1:
            terms, constant = [*terms, (1, self.part(constant, depth))], 0
        return Sum(tuple(terms), constant)

    def member(self, expr: Member, depth: int) -> IntExpr:
        if expr.scale is not None:
            arg = self.cut(expr.arg, depth)
            return Cut(_Showing().member(Member(arg, expr.domain, expr.scale))[0], COMPARE)
        text = _Showing().text(self.cut(expr.arg, depth), SUM)
        labels = labels_of(expr.arg)
        own = expr.domain if labels is None else EnumDomain.labelled(labels, expr.domain)
        return Cut(f"{text} in {show_domain(own)}", COMPARE)

    def table(self, expr: Table, depth: int) -> IntExpr:
        args = [_Showing().text(self.cut(arg, depth)) for arg in _middle_cut(expr.args)]
        labels = [labels_of(arg) for arg in expr.args]

        def entries(row: tuple[int, ...]) -> list[str]:
            texts = [
                str(self.part(one, depth)) if own is None else _Showing().constant(one, own)
                for one, own in zip(row, labels, strict=True)
            ]
            return [str(one) for one in _middle_cut(texts)]

        shown_rows = _middle_cut(sorted(expr.rows))
        rows = [str(row) if isinstance(row, Cut) else f"[{', '.join(entries(row))}]" for row in shown_rows]
        return Cut(f"table([{', '.join(args)}], [{', '.join(rows)}])")


_SPECIAL: dict[type, Callable[[_Shortener, Any, int], IntExpr]] = {
    Sum: _Shortener.sum,
    Member: _Shortener.member,
    Table: _Shortener.table,
}
