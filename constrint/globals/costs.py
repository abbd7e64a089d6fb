"""Automata with costs: `cost_regular`."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING

from constrint.errors import ModelError
from constrint.expr import And, BoolExpr, Comparison, Const, IntExpr, IntLike, Member, as_expr, linear, placed
from constrint.expr.domain import Domain
from constrint.expr.enumerated import Valued, coded
from constrint.expr.global_arguments import expressions
from constrint.expr.global_expr import Definition, Field, Relation
from constrint.globals.automata import (
    Rows,
    Transitions,
    final_states,
    layers_of,
    state_numbers,
    transition_rows,
)
from constrint.globals.posting import need, variables_of
from constrint.lowering.problem import TRUE, Linear
from constrint.propagators import Table
from constrint.support.arguments import integer
from constrint.support.deadline import watched

if TYPE_CHECKING:
    from constrint.lowering.conditions import Lowering

__all__ = ["cost_regular"]

Exprs = tuple[IntExpr, ...]


def _arcs(transitions: Rows) -> dict[tuple[int, int], tuple[int, int]]:
    return {(state, symbol): (following, cost) for state, symbol, following, cost in transitions}


def _meaning(
    word: tuple[int, ...], transitions: Rows, start: int, accepting: tuple[int, ...], cost: int
) -> bool:
    arcs, state, total = _arcs(transitions), start, 0
    for symbol in word:
        if (state, symbol) not in arcs:
            return False
        state, more = arcs[state, symbol]
        total += more
    return state in accepting and total == cost


def _decomposed(
    args: Exprs, transitions: Rows, start: int, accepting: tuple[int, ...], cost: IntExpr
) -> BoolExpr:
    """The state after each entry as a sum over the transitions, and the costs of all as another."""
    rows = list(dict.fromkeys(transitions))
    states = sorted({start, *(row[0] for row in rows), *(row[2] for row in rows)})
    number = {q: k for k, q in enumerate(states, 1)}  # 0 stands for "no state"
    state: IntExpr = Const(number[start])
    total: list[tuple[int, IntExpr]] = []
    for arg in watched(args):
        taken = [
            And((Comparison("==", state, Const(number[q])), Comparison("==", arg, Const(x))))
            for q, x, _, _ in rows
        ]
        state = linear([(number[row[2]], condition) for row, condition in zip(rows, taken, strict=True)])
        total += [(row[3], condition) for row, condition in zip(rows, taken, strict=True) if row[3]]
    final = Member(state, Domain.of_values([number[q] for q in accepting if q in number]))
    return And((final, Comparison("==", linear(total), cost)))


def _post(
    lowering: Lowering, args: Exprs, transitions: Rows, start: int, accepting: tuple[int, ...], cost: IntExpr
) -> None:
    """A table of (state, value, next state, cost) for each entry; the costs add up to the total."""
    problem = lowering.problem
    variables, total = variables_of(lowering, args), lowering.sum_of(cost)
    symbols = sorted({row[1] for row in transitions})
    for v in variables:
        problem.keep_values(v, symbols)
    arcs = {pair: (r, lowering.check(price)) for pair, (r, price) in _arcs(transitions).items()}
    layers = layers_of(
        problem,
        variables,
        lambda q, x: arcs.get((q, x), (None, 0))[0],
        start,
        frozenset(accepting).__contains__,
    )
    need(layers is not None)
    state, paid = problem.constant(start), Linear({}, 0)
    for v, layer in watched(zip(variables, layers or (), strict=True)):
        problem.keep_values(v, sorted({x for _, x, _ in layer}))
        rows = tuple([(q, x, r, arcs[q, x][1]) for q, x, r in layer])
        after = problem.declare(Domain.of_values([row[2] for row in rows]))
        price = problem.declare(Domain.of_values([row[3] for row in rows]))
        for z in (after, price):
            problem.define(z, ((state, 0), (v, 0)))
        problem.propagators.append(Table(TRUE, (state, v, after, price), rows))
        paid = paid.plus(Linear({price: 1}, 0))
        state = after
    lowering.conditions.require_equal(paid.plus(total, -1))


def _check(args: Exprs, transitions: Rows, start: int, accepting: tuple[int, ...], cost: IntExpr) -> None:
    if any(len(row) != 4 for row in transitions):
        raise ModelError(
            "cost_regular: a transition is a state, a value, the next state and its cost: write (0, 5, 1, 20)"
        )
    if len({row[:2] for row in transitions}) < len(set(transitions)):
        raise ModelError(
            "cost_regular: a state has two transitions for one value; make the automaton deterministic first"
        )


COST_REGULAR = Definition(
    "cost_regular",
    (
        Field("values", "exprs", may_be_empty=True),
        Field("transitions", "rows", may_be_empty=True),
        Field("start", "int"),
        Field("accepting", "ints", may_be_empty=True),
        Field("cost", "expr"),
    ),
    _meaning,
    _decomposed,
    _post,
    _check,
)


def cost_regular(
    values: Iterable[Valued],
    transitions: Transitions,
    start: Hashable,
    accepting: Iterable[Hashable] | None,
    cost: IntLike,
) -> BoolExpr:
    """The condition that a deterministic automaton accepts the values, and its transitions cost so much.

    A table of (state, value, next state, cost) for each entry, and the sum of the costs: each entry is domain
    consistent, the sum bounds consistent. Weaker than shortest paths through all entries (Demassey, Pesant,
    Rousseau, "A Cost-Regular based hybrid column generation approach", Constraints 2006). O(n t) for t
    transitions. Negated, or as a truth value, it is a sum over the transitions for each entry.

    Args:
        values: The word; of enumerations, transitions have the labels.
        transitions: (state, value, next state, cost); or a mapping from (state, value) to (next state, cost).
            A pair of state and value occurs at most once. A word that needs a missing one is rejected.
        start: The initial state.
        accepting: The final states of accepted words; None for every state.
        cost: The total cost: a number or an expression.

    States are integers, or any hashable values, such as strings and tuples, which are numbered by order of
    appearance.
    """
    rows = transition_rows(transitions, "cost_regular", 4)
    numbers = state_numbers([start, *(state for q, _, r, _ in rows for state in (q, r))])
    what = "each value and cost of transitions"
    word, read = coded(values, [x for _, x, _, _ in rows])
    moves = zip(rows, read, strict=True)
    parts = (
        expressions(word, "values"),
        tuple([(numbers[q], integer(x, what), numbers[r], integer(c, what)) for (q, _, r, c), x in moves]),
        numbers[start],
        tuple([numbers[state] for state in final_states(accepting, numbers, "cost_regular")]),
        as_expr(cost),
    )
    return placed(Relation(COST_REGULAR, COST_REGULAR.checked(parts)))
