"""Orders: monotonic lists, lexicographic order, precedence of values."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from itertools import pairwise
from typing import TYPE_CHECKING

from constrint.errors import ModelError
from constrint.expr import And, BoolConst, BoolExpr, Comparison, Const, Implies, IntExpr, Or
from constrint.expr.enumerated import Valued
from constrint.expr.global_arguments import relation
from constrint.expr.global_expr import Definition, Field
from constrint.globals.automata import post_run
from constrint.globals.posting import need, variables_of
from constrint.lowering.problem import TRUE
from constrint.propagators import Lexicographic
from constrint.support.deadline import watched

if TYPE_CHECKING:
    from constrint.lowering.conditions import Lowering

__all__ = ["decreasing", "increasing", "lex_less", "lex_less_equal", "value_precede"]

WIDEST_RUN = 4096  # greatest number of values of an expression for which value_precede is an automaton

_COMPARED = {"<=": int.__le__, "<": int.__lt__, ">=": int.__ge__, ">": int.__gt__}


def _chain(name: str, operator: str) -> Definition:
    """The definition of a chain: each entry compares by the operator with the next."""

    def meaning(values: tuple[int, ...]) -> bool:
        return all(_COMPARED[operator](a, b) for a, b in pairwise(values))

    def decomposed(args: tuple[IntExpr, ...]) -> BoolExpr:
        return And(tuple(Comparison(operator, a, b) for a, b in watched(pairwise(args))))

    return Definition(name, (Field("values", "exprs"),), meaning, decomposed, labels="values", ordered=True)


INCREASING = _chain("increasing", "<=")
STRICTLY_INCREASING = _chain("strictly_increasing", "<")
DECREASING = _chain("decreasing", ">=")
STRICTLY_DECREASING = _chain("strictly_decreasing", ">")


def _lexicographic(name: str, strict: bool) -> Definition:
    def meaning(xs: tuple[int, ...], ys: tuple[int, ...]) -> bool:
        return xs < ys if strict else xs <= ys

    def decomposed(xs: tuple[IntExpr, ...], ys: tuple[IntExpr, ...]) -> BoolExpr:
        rest: BoolExpr = BoolConst(not strict)
        for x, y in reversed(list(zip(xs, ys, strict=True))):
            rest = Or((Comparison("<", x, y), And((Comparison("==", x, y), rest))))
        return rest

    def post(lowering: Lowering, xs: tuple[IntExpr, ...], ys: tuple[IntExpr, ...]) -> None:
        left, right = variables_of(lowering, xs), variables_of(lowering, ys)
        lowering.problem.propagators.append(Lexicographic(TRUE, left, right, strict))

    def literal(
        lowering: Lowering, target: int | None, xs: tuple[IntExpr, ...], ys: tuple[IntExpr, ...]
    ) -> int:
        left, right = variables_of(lowering, xs), variables_of(lowering, ys)
        inputs = [*((x, -1) for x in left), *((y, 1) for y in right)]
        key = ("lexicographic", left, right, strict)
        found, is_new = lowering.conditions.defined(key, target, inputs)
        if is_new:
            lowering.problem.propagators.append(Lexicographic(found, left, right, strict))
        return found

    return Definition(
        name,
        (Field("xs", "exprs"), Field("ys", "exprs")),
        meaning,
        decomposed,
        post,
        literal=literal,
        equal="xs ys",
        labels="xs ys",
        ordered=True,
    )


LEX_LESS = _lexicographic("lex_less", True)
LEX_LESS_EQUAL = _lexicographic("lex_less_equal", False)


def _precede_meaning(order: tuple[int, ...], values: tuple[int, ...]) -> bool:
    seen = 0
    for value in values:
        if value in order[seen + 1 :]:
            return False
        if seen < len(order) and value == order[seen]:
            seen += 1
    return True


def _precede_decomposed(order: tuple[int, ...], args: tuple[IntExpr, ...]) -> BoolExpr:
    """For each entry that has a value of the order, an earlier entry has the value before it."""
    parts: list[BoolExpr] = []
    for former, value in pairwise(order):
        for i, arg in watched(enumerate(args)):
            before = Or(tuple(Comparison("==", other, Const(former)) for other in args[:i]))
            parts.append(Implies(Comparison("==", arg, Const(value)), before))
    return And(tuple(parts))


def _post_precede(lowering: Lowering, order: tuple[int, ...], args: tuple[IntExpr, ...]) -> None:
    """Post the automaton whose state is the number of values that have occurred."""
    variables = variables_of(lowering, args)
    problem = lowering.problem
    if any((problem.hi[v] - problem.lo[v]) // problem.step[v] >= WIDEST_RUN for v in variables):
        lowering.require(lowering.kept(_precede_decomposed(order, args)))
        return
    place = {value: k for k, value in enumerate(order)}

    def following(state: int, value: int) -> int | None:
        k = place.get(value, -1)
        return state + 1 if k == state else None if k > state else state

    need(post_run(lowering, variables, following, 0, None))


def _check_precede(order: tuple[int, ...], args: tuple[IntExpr, ...]) -> None:
    if len(set(order)) < len(order):
        raise ModelError("value_precede: a value is listed twice")


VALUE_PRECEDE = Definition(
    "value_precede",
    (Field("order", "ints"), Field("values", "exprs")),
    _precede_meaning,
    _precede_decomposed,
    _post_precede,
    _check_precede,
    labels="order values",
)


def increasing(values: Iterable[Valued], *, strict: bool = False) -> BoolExpr:
    """The condition that no entry is greater than the next; if strict, that each is less.

    n - 1 comparisons, which form a chain and are therefore domain consistent. O(n).
    """
    definition = STRICTLY_INCREASING if strict else INCREASING
    return relation(definition, values)


def decreasing(values: Iterable[Valued], *, strict: bool = False) -> BoolExpr:
    """The condition that no entry is less than the next; if strict, that each is greater.

    n - 1 comparisons, which form a chain and are therefore domain consistent. O(n).
    """
    definition = STRICTLY_DECREASING if strict else DECREASING
    return relation(definition, values)


def lex_less(xs: Iterable[Valued], ys: Iterable[Valued]) -> BoolExpr:
    """The condition that one list is lexicographically less than another of the same length.

    Domain consistent if no variable occurs twice (Frisch et al., CP 2002), O(n), also if negated. A truth
    value is fixed as soon as the bounds decide it.
    """
    return relation(LEX_LESS, xs, ys)


def lex_less_equal(xs: Iterable[Valued], ys: Iterable[Valued]) -> BoolExpr:
    """The condition that one list is lexicographically at most another of the same length; see `lex_less`."""
    return relation(LEX_LESS_EQUAL, xs, ys)


def value_precede(order: Iterable[Hashable], values: Iterable[Valued]) -> BoolExpr:
    """The condition that each value of `order` first occurs after the value before it in `order`.

    It breaks the symmetry of interchangeable values (Law and Lee, CP 2004). Posted as an automaton, with a
    table for each step: domain consistent if no variable occurs twice, O(n m d) for m values. Negated, as a
    truth value, or over more than 4,096 values, it is an implication for each expression and value.
    """
    return relation(VALUE_PRECEDE, order, values)
