"""Automata: `regular`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias

from constrint.errors import ModelError
from constrint.expr import (
    And,
    BoolConst,
    BoolExpr,
    Comparison,
    Const,
    IntExpr,
    Member,
    Or,
    linear,
    placed,
)
from constrint.expr.domain import Domain
from constrint.expr.enumerated import Valued, coded
from constrint.expr.global_arguments import expressions
from constrint.expr.global_expr import Definition, Field, Relation
from constrint.globals.posting import need, variables_of
from constrint.lowering.problem import TRUE, Problem
from constrint.propagators import Table
from constrint.support.arguments import integer
from constrint.support.deadline import watched

if TYPE_CHECKING:
    from constrint.lowering.conditions import Lowering

__all__ = ["regular"]

Rows = tuple[tuple[int, ...], ...]
Transitions: TypeAlias = Iterable[Iterable[Any]] | Mapping[Any, Any]

MOST_SUBSETS = 20_000  # most sets of states of an automaton that is not deterministic


def _arcs(transitions: Rows) -> dict[tuple[int, int], int]:
    return {(state, symbol): following for state, symbol, following in transitions}


def post_run(
    lowering: Lowering,
    variables: tuple[int, ...],
    following: Callable[[int, int], int | None],
    start: int,
    accepting: Callable[[int], bool] | None,
) -> bool:
    """Post that an automaton accepts the variables: a table of (state, value, next state) for each of them.

    States between variables become variables. Transitions that no accepted word uses are left out.

    Args:
        lowering: The lowering to post to.
        variables: The word.
        following: The next state for a state and a value, or None if there is none.
        start: The initial state.
        accepting: Whether a state is final; None for all.

    Returns:
        False if no word is accepted.
    """
    layers = layers_of(lowering.problem, variables, following, start, accepting)
    if layers is None:
        return False
    problem = lowering.problem
    state = problem.constant(start)
    for i, (v, arcs) in watched(enumerate(zip(variables, layers, strict=True))):
        problem.keep_values(v, sorted({x for _, x, _ in arcs}))
        if len({(q, r) for q, _, r in arcs}) == 1 and i == len(layers) - 1:
            return True
        after = problem.declare(Domain.of_values([r for _, _, r in arcs]))
        problem.define(after, ((state, 0), (v, 0)))
        problem.propagators.append(Table(TRUE, (state, v, after), tuple(arcs)))
        state = after
    return True


def layers_of(
    problem: Problem,
    variables: tuple[int, ...],
    following: Callable[[int, int], int | None],
    start: int,
    accepting: Callable[[int], bool] | None,
) -> list[list[tuple[int, int, int]]] | None:
    """The arcs of each entry, as (state, value, next state), that accepted words use; None without any."""
    layers: list[list[tuple[int, int, int]]] = []
    states = {start}
    for v in watched(variables):
        own = problem.values[v]
        values = own or range(problem.lo[v], problem.hi[v] + 1, problem.step[v])
        arcs = [(q, x, r) for q in sorted(states) for x in values if (r := following(q, x)) is not None]
        layers.append(arcs)
        states = {r for _, _, r in arcs}
    alive = {q for q in states if accepting is None or accepting(q)}
    for i in range(len(layers) - 1, -1, -1):
        layers[i] = [arc for arc in layers[i] if arc[2] in alive]
        alive = {q for q, _, _ in layers[i]}
    return layers if start in alive else None


def _successors(transitions: Rows) -> dict[tuple[int, int], set[int]]:
    """The next states of each state and value."""
    found: dict[tuple[int, int], set[int]] = {}
    for state, symbol, following in transitions:
        found.setdefault((state, symbol), set()).add(following)
    return found


def _meaning(word: tuple[int, ...], transitions: Rows, start: int, accepting: tuple[int, ...]) -> bool:
    arcs = _successors(transitions)
    states = {start}
    for symbol in word:
        states = {following for state in states for following in arcs.get((state, symbol), ())}
    return not states.isdisjoint(accepting)


def is_deterministic(transitions: Rows) -> bool:
    """Whether each state has at most one next state for each value."""
    return all(len(states) == 1 for states in _successors(transitions).values())


def _decomposed(
    args: tuple[IntExpr, ...], transitions: Rows, start: int, accepting: tuple[int, ...]
) -> BoolExpr:
    """The condition as sums over transitions: after each entry at most one transition is taken.

    Of an automaton that is not deterministic: as conditions that a state is reached.
    """
    if not is_deterministic(transitions):
        return _reached(args, transitions, start, accepting)
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


def _reached(
    args: tuple[IntExpr, ...], transitions: Rows, start: int, accepting: tuple[int, ...]
) -> BoolExpr:
    """A final state is among those that are reached after the last entry."""
    reached: dict[int, BoolExpr] = {start: BoolConst(True)}
    for arg in watched(args):
        taken: dict[int, list[BoolExpr]] = {}
        is_symbol: dict[int, BoolExpr] = {}
        for state, symbol, following in dict.fromkeys(transitions):
            if state in reached:
                read = is_symbol.setdefault(symbol, Comparison("==", arg, Const(symbol)))
                taken.setdefault(following, []).append(And((reached[state], read)))
        reached = {state: Or(tuple(ways)) for state, ways in taken.items()}
    return Or(tuple([reached[state] for state in accepting if state in reached]))


class _Subsets:
    """The states of the deterministic automaton: sets of states, numbered as they are met."""

    def __init__(self, transitions: Rows, start: int, accepting: tuple[int, ...]) -> None:
        self._arcs = _successors(transitions)
        self._final = frozenset(accepting)
        self._sets = [frozenset([start])]
        self._numbers = {self._sets[0]: 0}

    def following(self, number: int, symbol: int) -> int | None:
        states = [self._arcs.get((state, symbol), ()) for state in self._sets[number]]
        found = frozenset([following for some in states for following in some])
        if not found:
            return None
        if found not in self._numbers:
            if len(self._sets) >= MOST_SUBSETS:
                raise ModelError(
                    f"regular: the automaton has more than {MOST_SUBSETS} sets of states that words reach; "
                    "make it deterministic, or smaller"
                )
            self._numbers[found] = len(self._sets)
            self._sets.append(found)
        return self._numbers[found]

    def is_final(self, number: int) -> bool:
        return not self._sets[number].isdisjoint(self._final)


def _post(
    lowering: Lowering, args: tuple[IntExpr, ...], transitions: Rows, start: int, accepting: tuple[int, ...]
) -> None:
    variables = variables_of(lowering, args)
    symbols = sorted({symbol for _, symbol, _ in transitions})
    for v in variables:
        lowering.problem.keep_values(v, symbols)
    if is_deterministic(transitions):
        arcs, final = _arcs(transitions), frozenset(accepting)
        need(post_run(lowering, variables, lambda q, x: arcs.get((q, x)), start, final.__contains__))
    else:
        subsets = _Subsets(transitions, start, accepting)
        need(post_run(lowering, variables, subsets.following, 0, subsets.is_final))


def _check(args: tuple[IntExpr, ...], transitions: Rows, start: int, accepting: tuple[int, ...]) -> None:
    if any(len(row) != 3 for row in transitions):
        raise ModelError("regular: a transition is a state, a value and the next state: write (0, 5, 1)")


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
    values: Iterable[Valued],
    transitions: Transitions,
    start: Hashable,
    accepting: Iterable[Hashable] | None = None,
) -> BoolExpr:
    """The condition that an automaton accepts the values in order.

    Posted as a table of (state, value, next state) for each entry, over the states that accepted words reach
    (Pesant, "A regular language membership constraint for finite sequences of variables", CP 2004; as tables:
    Quimper and Walsh, CP 2006). The tables form a chain, so it is domain consistent if no variable occurs
    twice. O(n t) for t transitions. Negated, or as a truth value, it is a sum over the transitions for each
    entry. An automaton that is not deterministic is made so for the words that the domains allow; the sets of
    states that these words reach count as states.

    Args:
        values: The word; of enumerations, transitions have the labels.
        transitions: (state, value, next state); or a mapping from (state, value) to the next state. A word
            that needs a missing transition is rejected. A state may have several transitions for one value:
            then a word is accepted if one of its runs ends in an accepting state.
        start: The initial state.
        accepting: The final states of accepted words; every state by default.

    States are integers, or any hashable values, such as strings and tuples, which are numbered by order of
    appearance.
    """
    rows = transition_rows(transitions, "regular")
    numbers = state_numbers([start, *(state for q, _, r in rows for state in (q, r))])
    word, read = coded(values, [x for _, x, _ in rows])
    moves = zip(rows, read, strict=True)
    parts = (
        expressions(word, "values"),
        tuple([(numbers[q], integer(x, "each value of transitions"), numbers[r]) for (q, _, r), x in moves]),
        numbers[start],
        tuple([numbers[state] for state in final_states(accepting, numbers, "regular")]),
    )
    return placed(Relation(REGULAR, REGULAR.checked(parts)))


def transition_rows(transitions: Transitions, name: str, columns: int = 3) -> list[tuple[object, ...]]:
    """The transitions as rows; raises `ModelError` for one of another length."""
    if isinstance(transitions, Mapping):  # a state may itself be a tuple
        has_cost = columns == 4
        rows = [(*_parts(pair), *(_parts(end) if has_cost else (end,))) for pair, end in transitions.items()]
    elif not isinstance(transitions, Iterable):
        raise ModelError(f"{name}: transitions are a list of (state, value, next state), not {transitions!r}")
    else:
        rows = [_parts(row) for row in transitions]
    for row in rows:
        if len(row) != columns:
            cost = " and its cost: write (0, 5, 1, 20)" if columns == 4 else ": write (0, 5, 1)"
            comma = "," if columns == 4 else " and"
            raise ModelError(f"{name}: a transition is a state, a value{comma} the next state{cost}")
    return rows


def _parts(row: object) -> tuple[object, ...]:
    """The parts of a transition; one that is no list has one part."""
    return tuple(row) if isinstance(row, Iterable) and not isinstance(row, str) else (row,)


def state_numbers(states: Iterable[Hashable]) -> dict[Hashable, int]:
    """The number of each state: its own where all are integers, else by order of appearance."""
    try:
        listed = list(dict.fromkeys(states))
    except TypeError as error:
        raise ModelError(f"a state is any hashable value, such as a string or a tuple: {error}") from None
    if all(isinstance(state, SupportsIndex) for state in listed):
        return {state: integer(state, "each state") for state in listed}
    return {state: number for number, state in enumerate(listed)}


def final_states(
    states: Iterable[Hashable] | None, numbers: dict[Hashable, int], name: str
) -> list[Hashable]:
    """The accepting states that a run can end in, all for None; raises `ModelError` for an unknown name."""
    if states is None:
        return list(numbers)
    is_one = isinstance(states, str) or not isinstance(states, Iterable)
    listed: list[object] = [states] if is_one else list(states)
    if not is_one and isinstance(states, Hashable) and states in numbers:  # a state that is a tuple
        if all(state in numbers for state in listed):
            raise ModelError(
                f"{name}: {states!r} is a state, and so is each of its parts: write the accepting states in "
                f"a list, [{states!r}]"
            )
        listed = [states]
    for state in listed:
        if not isinstance(state, Hashable):
            raise ModelError(f"{name}: a state is any hashable value, not {state!r}")
        if state not in numbers and not isinstance(state, SupportsIndex):
            raise ModelError(f"{name}: no transition has the accepting state {state!r}")
    return [state for state in listed if state in numbers]
