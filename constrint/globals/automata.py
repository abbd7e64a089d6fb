"""Automata: `regular`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from constrint.errors import ModelError
from constrint.expr import And, BoolExpr, Comparison, Const, IntExpr, IntLike, Member, linear, placed
from constrint.expr.domain import Domain
from constrint.expr.global_arguments import expressions, integers, rows_of
from constrint.expr.global_expr import Definition, Field, Relation
from constrint.globals.posting import need, variables_of
from constrint.lowering.problem import TRUE
from constrint.propagators import Table
from constrint.support.arguments import integer
from constrint.support.deadline import watched

if TYPE_CHECKING:
    from constrint.lowering.conditions import Lowering

Rows = tuple[tuple[int, ...], ...]


def _arcs(transitions: Rows) -> dict[tuple[int, int], int]:
    return {(state, symbol): following for state, symbol, following in transitions}


def post_run(
    lowering: Lowering,
    variables: tuple[int, ...],
    following: Callable[[int, int], int | None],
    start: int,
    accepting: frozenset[int] | None,
) -> bool:
    """Post that an automaton accepts the variables: a table of (state, value, next state) for each of them.

    States between variables become variables. Transitions that no accepted word uses are left out.

    Args:
        lowering: The lowering to post to.
        variables: The word.
        following: The next state for a state and a value, or None if there is none.
        start: The initial state.
        accepting: The final states; None for all.

    Returns:
        False if no word is accepted.
    """
    problem = lowering.problem
    layers: list[list[tuple[int, int, int]]] = []
    states = {start}
    for v in watched(variables):
        own = problem.values[v]
        values = own or range(problem.lo[v], problem.hi[v] + 1, problem.step[v])
        arcs = [(q, x, r) for q in sorted(states) for x in values if (r := following(q, x)) is not None]
        layers.append(arcs)
        states = {r for _, _, r in arcs}
    alive = states if accepting is None else states & accepting
    for i in range(len(layers) - 1, -1, -1):
        layers[i] = [arc for arc in layers[i] if arc[2] in alive]
        alive = {q for q, _, _ in layers[i]}
    if start not in alive:
        return False
    state = problem.constant(start)
    for i, (v, arcs) in watched(enumerate(zip(variables, layers, strict=True))):
        problem.keep_values(v, sorted({x for _, x, _ in arcs}))
        if len({(q, r) for q, _, r in arcs}) == 1 and i == len(layers) - 1:
            return True
        after = problem.declare(Domain.of_values([r for _, _, r in arcs]))
        problem.define(after, ((state, 0), (v, 0)))
        problem.nodes.append(Table(TRUE, (state, v, after), tuple(arcs)))
        state = after
    return True


def _meaning(word: tuple[int, ...], transitions: Rows, start: int, accepting: tuple[int, ...]) -> bool:
    arcs = _arcs(transitions)
    state: int | None = start
    for symbol in word:
        state = arcs.get((state, symbol)) if state is not None else None
    return state in accepting


def _decomposed(
    args: tuple[IntExpr, ...], transitions: Rows, start: int, accepting: tuple[int, ...]
) -> BoolExpr:
    """The condition as sums over transitions: after each entry at most one transition is taken."""
    states = sorted({start, *(q for q, _, _ in transitions), *(r for _, _, r in transitions)})
    number = {q: k for k, q in enumerate(states, 1)}  # 0 stands for "no state"
    state: IntExpr = Const(number[start])
    for arg in watched(args):
        taken = [
            (
                number[r],
                And((Comparison("==", state, Const(number[q])), Comparison("==", arg, Const(symbol)))),
            )
            for q, symbol, r in dict.fromkeys(transitions)  # a repeated transition would count twice
        ]
        state = linear(taken)
    return Member(state, Domain.of_values([number[q] for q in accepting if q in number]))


def _post(
    lowering: Lowering, args: tuple[IntExpr, ...], transitions: Rows, start: int, accepting: tuple[int, ...]
) -> None:
    variables = variables_of(lowering, args)
    symbols = sorted({symbol for _, symbol, _ in transitions})
    for v in variables:
        lowering.problem.keep_values(v, symbols)
    arcs = _arcs(transitions)
    need(post_run(lowering, variables, lambda q, x: arcs.get((q, x)), start, frozenset(accepting)))


def _check(args: tuple[IntExpr, ...], transitions: Rows, start: int, accepting: tuple[int, ...]) -> None:
    if any(len(row) != 3 for row in transitions):
        raise ModelError("regular: a transition is a state, a value and the next state: write (0, 5, 1)")
    if len(_arcs(transitions)) < len(set(transitions)):
        raise ModelError(
            "regular: a state has two transitions for one value; make the automaton deterministic first"
        )


REGULAR = Definition(
    "regular",
    (
        Field("values", "exprs", may_be_empty=True),
        Field("transitions", "rows", may_be_empty=True),
        Field("start", "int"),
        Field("accepting", "ints", may_be_empty=True),
    ),
    _meaning,
    _decomposed,
    _post,
    _check,
)


def regular(
    values: Iterable[IntLike],
    transitions: Iterable[Iterable[int]],
    start: int,
    accepting: Iterable[int],
) -> BoolExpr:
    """The condition that a deterministic automaton accepts the values in order.

    Posted as a table of (state, value, next state) for each entry, over the states that accepted words reach
    (Pesant, "A regular language membership constraint for finite sequences of variables", CP 2004; as tables:
    Quimper and Walsh, CP 2006). The tables form a chain, so it is domain consistent if no variable occurs
    twice. O(n t) for t transitions. Negated, or as a truth value, it is a sum over the transitions for each
    entry.

    Args:
        values: The word.
        transitions: (state, value, next state). A pair of state and value occurs at most once. A word that
            needs a missing transition is rejected.
        start: The initial state.
        accepting: The final states of accepted words.
    """
    parts = (
        expressions(values, "values"),
        rows_of(transitions, "transitions"),
        integer(start, "start"),
        integers(accepting, "accepting"),
    )
    return placed(Relation(REGULAR, REGULAR.checked(parts)))
