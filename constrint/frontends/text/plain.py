"""Reads plain statements from the inside out, without making their trees.

A long text has thousands of statements of few shapes. Where a statement is plain, a declaration, definition
or condition of names, numbers, operators and functions of integers, the steps of its shape are taken one
after the other with the rules by which trees are read, in a third of the time. Whatever is not plain, and
every mistake, raises `NotPlain` before the model is changed: the tree is read then.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import TypeAlias, cast

from constrint.errors import ConstrintError, LimitError
from constrint.expr import BoolConst, BoolExpr, Const, IntExpr
from constrint.expr.domain import Domain, EnumDomain
from constrint.expr.position import Source, Span
from constrint.frontends.parse_tables import Shape
from constrint.frontends.text.calls import CALLED
from constrint.frontends.text.expressions import LOGICAL, RULES, ExpressionReader
from constrint.frontends.text.syntax import Statement
from constrint.settings.reading import ReadingSettings

PlainPart: TypeAlias = "IntExpr | Domain | str"
"""The value of a part of a statement: a name that is declared, defined or called is its word."""
Rule: TypeAlias = "Callable[[ExpressionReader, Span, list[PlainPart]], PlainPart]"

_NESTING = frozenset(["group", "call", "not_", "unary", "power", "implies", "iff"])
_SETS = frozenset(["range", "bound", "braces"])
_TARGETS = {"declare": None, "declare_bool": None, "let": 1, "named": 1}
"""Statements whose names are no operands: all of them, or the first."""


class NotPlain(Exception):  # noqa: N818 - another way of reading applies, which is no fault
    """The tree of the statement must be read."""


class Plan:
    """How statements of a shape are read.

    Attributes:
        kind: The name of the statement's node: "declare" for all declarations of numbers.
        names: The places of words that are operands by name.
        numbers: Those of numbers.
        calls: Those that name functions.
        steps: What is done for each other node, inner ones first: the rule, the places of its parts among
            the words and earlier steps, and its first and last word.
        placed: Whether a rule asks where its words stand: those of domains do not.
        parts: The places of the parts of the statement.
        nesting: How many operators and brackets it has that may nest.
        depth: How deep it is nested at most.
        count: How many operators and operands it has, but for the numbers of a domain.
    """

    __slots__ = ("calls", "count", "depth", "kind", "names", "nesting", "numbers", "parts", "placed", "steps")

    def __init__(self, shape: Shape) -> None:
        """The plan of a shape; raises `NotPlain` for one that has none."""
        kinds = shape.kinds
        self.kind, root, *_ = shape.steps[-1]
        if self.kind == "chain" and kinds[root[1]] == "IN" and shape.steps[root[0] - len(kinds)][0] == "name":
            self.kind = "declare"
        self.nesting = sum([kind in _NESTING for kind, *_ in shape.steps])
        self.depth = self.nesting + kinds.count("TIMES")  # a quotient is as deep as those before it
        targets = set(root[: _TARGETS[self.kind]] if self.kind in _TARGETS else ())
        targets.update([inner[0] for kind, inner, *_ in shape.steps if kind == "call"])
        listed = {one for kind, inner, *_ in shape.steps if kind in ("bound", "braces") for one in inner}
        self.count = 0
        self.names: list[int] = []
        self.numbers: list[int] = []
        self.calls: list[int] = []
        self.steps: list[tuple[Rule, list[int], int, int]] = []
        places = list(range(len(kinds)))  # of the words and nodes among the words and steps
        nodes = shape.steps[:-1] if self.kind in _TARGETS else shape.steps
        for node, (kind, inner, first, last) in enumerate(nodes, len(kinds)):
            if first is None or last is None or kind not in _KINDS or kinds[first] == "QUOTED":
                raise NotPlain
            is_listed = kind in _SETS or (kind == "number" and node in listed)
            self.count += not is_listed and node not in targets
            if kind in _PASSED:
                places.append(places[inner[_PASSED[kind]]])
                if kind == "number":
                    self.numbers.append(first)
                elif kind == "name" and node not in targets:
                    self.names.append(first)
                continue
            if kind == "call":
                self.calls.append(first)
            places.append(len(kinds) + len(self.steps))
            self.steps.append((_RULES[kind], [places[one] for one in inner], first, last))
        self.placed = any(rule not in _UNPLACED for rule, *_ in self.steps)
        self.parts = [places[one] for one in root] if self.kind in _TARGETS else places[-1:]


def plan_of(shape: Shape) -> Plan | None:
    """The plan of a shape, made once; None if its statements are not plain."""
    if shape.plan is None:
        try:
            shape.plan = Plan(shape)
        except NotPlain:
            shape.plan = False
    return cast("Plan", shape.plan) or None


def values(
    reader: ExpressionReader, statement: Statement, plan: Plan, settings: ReadingSettings
) -> list[PlainPart]:
    """The values of the parts of a statement; raises `NotPlain`."""
    names, budget, words = reader.names, reader.budget, statement.words
    for place in plan.calls:
        if words[place] not in CALLED or words[place] in names:
            raise NotPlain
    if plan.nesting > settings.most_nesting:
        raise NotPlain
    limit, counts = budget.limits.depth, (budget.node_count, budget.value_count)
    if limit is not None and plan.depth > limit:
        raise NotPlain
    parts: list[PlainPart] = list(words)
    try:
        budget.node(plan.count)
        for place in plan.names:
            found = names.get(words[place])
            if not isinstance(found, IntExpr):
                raise NotPlain
            parts[place] = found
        for place in plan.numbers:
            budget.digits(words[place])
            parts[place] = Const(_number(words[place], settings.longest_number))
        where = Span(reader.source, statement.begin, statement.begin)
        starts = list(accumulate(map(len, words), initial=statement.begin)) if plan.placed else ()
        for rule, inner, first, last in plan.steps:
            if starts:
                where = Span(reader.source, starts[first], starts[last + 1])
            parts.append(rule(reader, where, [parts[one] for one in inner]))
    except (ConstrintError, NotPlain) as problem:
        if isinstance(problem, LimitError):
            raise
        budget.node_count, budget.value_count = counts
        raise NotPlain from None
    return [parts[place] for place in plan.parts]


def word_place(source: Source, statement: Statement, word: int) -> Span:
    """The place of a word of a statement."""
    start = statement.begin + sum(map(len, statement.words[:word]))
    return Span(source, start, start + len(statement.words[word]))


# ---------------------------------------------------------------- rules


def _number(word: str, longest: int) -> int:
    if len(word) > longest or (word[0] == "0" and word != "0"):
        raise NotPlain
    return int(word)


def _truth(reader: ExpressionReader, place: Span, parts: list[PlainPart]) -> PlainPart:
    return BoolConst(bool(parts[0] == "true")).at(place)


def _range(reader: ExpressionReader, place: Span, parts: list[PlainPart]) -> PlainPart:
    low, high, step = _constants([*[part for part in parts if not isinstance(part, str)], Const(1)])[:3]
    if step < 1:
        raise NotPlain
    return EnumDomain.of_constants(Domain.of_range(low, high, step), (low, high))


def _braces(reader: ExpressionReader, place: Span, parts: list[PlainPart]) -> PlainPart:
    reader.budget.values(len(parts) - 2)
    values = _constants(parts[1:-1])
    return EnumDomain.of_constants(Domain.of_values(values), values)


def _call(reader: ExpressionReader, place: Span, parts: list[PlainPart]) -> PlainPart:
    name, arguments = cast("str", parts[0]), parts[2:-1]
    if any(not isinstance(argument, IntExpr) for argument in arguments):
        raise NotPlain
    function = CALLED[name]
    if not function.fewest <= len(arguments) <= (function.most or len(arguments)):
        raise NotPlain
    exprs = tuple(cast("list[IntExpr]", arguments))
    if any(not isinstance(one, BoolExpr) for one in exprs[: function.conditions]):
        raise NotPlain
    return reader.applied(place, function, exprs).at(place)


def _constants(parts: list[PlainPart]) -> list[int]:
    if any(type(part) is not Const for part in parts):
        raise NotPlain
    return [part.value for part in cast("list[Const]", parts)]


def _operator(kind: str) -> Rule:
    rule = RULES[kind]
    allowed = (
        (BoolExpr, str) if kind in LOGICAL else (IntExpr, str, Domain) if kind == "chain" else (IntExpr, str)
    )

    def read(reader: ExpressionReader, place: Span, parts: list[PlainPart]) -> PlainPart:
        for part in parts:
            if not isinstance(part, allowed):
                raise NotPlain
        found = rule(reader, place, parts)
        return found.at(place)

    return read


_PASSED = {"name": 0, "number": 0, "bound": 0, "group": 1}
"""Nodes that are what one of their parts is, and which."""
_RULES: dict[str, Rule] = {
    **{kind: _operator(kind) for kind in RULES},
    "truth": _truth,
    "range": _range,
    "braces": _braces,
    "call": _call,
}
_KINDS = frozenset([*_PASSED, *_RULES])
_UNPLACED = (_range, _braces)
