"""Decisions made by the caller: the domains that a function sees, and the decision that it returns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Literal, TypeAlias

from constrint.engine.select import choose_value
from constrint.errors import ModelError
from constrint.expr import IntExpr
from constrint.store.domains import contains, member_count
from constrint.store.state import AT_LEAST, AT_MOST, DESCEND, EQUAL, LEVEL, PHASE, TO_DECIDE, State
from constrint.support.record import record

Relation: TypeAlias = Literal["==", "<=", ">="]


@record(eq=False)
class Decision:
    """The decision that search tries first; its opposite comes after.

    Attributes:
        variable: A variable of the model that is not fixed.
        relation: "==", "<=" or ">=".
        value: The value to compare with. Both the decision and its opposite must leave some values.
    """

    variable: IntExpr
    relation: Relation
    value: int


@record()
class View:
    """The remaining values of a variable."""

    _state: State
    _v: int

    @property
    def min(self) -> int:
        """The least value."""
        return int(self._state.lo[self._v])

    @property
    def max(self) -> int:
        """The greatest value."""
        return int(self._state.hi[self._v])

    @property
    def size(self) -> int:
        """The number of values."""
        return int(member_count(self._state, self._v))

    @property
    def is_fixed(self) -> bool:
        """Whether there is only one value."""
        return self.min == self.max

    def __contains__(self, value: int) -> bool:
        return bool(contains(self._state, self._v, value))

    def __iter__(self) -> Iterator[int]:
        step = int(self._state.step[self._v])
        return (x for x in range(self.min, self.max + 1, step) if x in self)


class Domains(Mapping[IntExpr, View]):
    """The domains at a node of the search, by variable; the argument of a `Brancher`'s function.

    The function returns a `Decision`, or None to leave this one to the brancher's other rules. The object is
    valid during the call only.
    """

    def __init__(self, variables: Mapping[IntExpr, int], state: State) -> None:
        self._variables = variables
        self._state = state

    def __getitem__(self, variable: IntExpr) -> View:
        return View(self._state, self._variables[variable])

    def __iter__(self) -> Iterator[IntExpr]:
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)

    @property
    def open(self) -> list[IntExpr]:
        """The variables that are not fixed, in order of declaration."""
        lo, hi = self._state.lo, self._state.hi
        return [variable for variable, v in self._variables.items() if lo[v] != hi[v]]


Decide: TypeAlias = Callable[[Domains], Decision | None]


def ask(decide: Decide, variables: Mapping[IntExpr, int], state: State) -> None:
    """Call the function at the present node, and write its decision into the level."""
    level = int(state.scalar[LEVEL])
    decision = decide(Domains(variables, state))
    if decision is None:
        choose_value(state, level, int(state.scalar[TO_DECIDE]))
    else:
        v, kind, value = _read(decision, variables, state)
        state.level_variable[level] = v
        state.level_decision[level] = kind
        state.level_value[level] = value
    state.scalar[PHASE] = DESCEND


def _read(decision: Decision, variables: Mapping[IntExpr, int], state: State) -> tuple[int, int, int]:
    """Variable, kind and value of a decision for the engine; raises if it does not divide the domain."""
    if not isinstance(decision, Decision):
        raise ModelError(f"a function that branches gives a Decision or None, not {decision!r}")
    if decision.variable not in variables:
        raise ModelError(f"a decision is about a variable of the model, not {decision.variable!r}")
    v = variables[decision.variable]
    low, high, value = int(state.lo[v]), int(state.hi[v]), decision.value
    if decision.relation == "<=" and low <= value < high:
        return v, AT_MOST, value
    if decision.relation == ">=" and low < value <= high:
        return v, AT_LEAST, value
    if decision.relation == "==" and low < high and contains(state, v, value):
        if value == low:
            return v, AT_MOST, value
        if value == high:
            return v, AT_LEAST, value
        if state.hole[v] >= 0:
            return v, EQUAL, value
        # The opposite would be a hole that such a wide domain cannot have; a bound leads to the value too.
        return v, AT_LEAST, value
    raise ModelError(
        f"the decision {decision.variable!r} {decision.relation} {value!r} does not divide its values, "
        f"which lie in {low}..{high}"
    )
