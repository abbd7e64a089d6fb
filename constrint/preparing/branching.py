"""Branching: which variable search decides next, and which of its values it tries first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from constrint.engine.select import (
    ANY_VALUE,
    AS_BEST,
    BY_DEGREE,
    BY_SCORE,
    FEWEST,
    GREATEST,
    IN_ORDER,
    LARGEST,
    LEAST,
    LOWER_HALF,
    MEDIAN,
    MOST,
    MOST_CONSTRAINED,
    OCCURRENCE,
    REGRET,
    SMALLEST,
    UPPER_HALF,
)
from constrint.errors import ModelError
from constrint.expr import IntExpr
from constrint.expr.arithmetic.arguments import flat
from constrint.expr.enumerated import EnumExpr
from constrint.store.state import COUNT_CHANGES, COUNT_FAILURES
from constrint.support.deadline import check_deadline
from constrint.support.record import public_names

if TYPE_CHECKING:
    from constrint.expr.arrays import ExprArray
    from constrint.preparing.callbacks import Decide
    from constrint.propagators import Propagator

VariableSelector: TypeAlias = Literal[
    "auto",
    "dom_deg",
    "input_order",
    "first_fail",
    "anti_first_fail",
    "smallest",
    "largest",
    "most_constrained",
    "occurrence",
    "max_regret",
    "dom_w_deg",
    "activity",
]
ValueSelector: TypeAlias = Literal[
    "auto", "min", "max", "middle", "lower_half", "upper_half", "random", "best_so_far"
]

VARIABLE_RULES: dict[str, int] = {
    "auto": BY_DEGREE,
    "dom_deg": BY_DEGREE,
    "input_order": IN_ORDER,
    "first_fail": FEWEST,
    "anti_first_fail": MOST,
    "smallest": SMALLEST,
    "largest": LARGEST,
    "most_constrained": MOST_CONSTRAINED,
    "occurrence": OCCURRENCE,
    "max_regret": REGRET,
    "dom_w_deg": BY_SCORE,
    "activity": BY_SCORE,
}
WEIGHINGS: dict[str, int] = {"dom_w_deg": COUNT_FAILURES, "activity": COUNT_CHANGES}
VALUE_RULES: dict[ValueSelector, int] = {
    "auto": LEAST,
    "min": LEAST,
    "max": GREATEST,
    "middle": MEDIAN,
    "lower_half": LOWER_HALF,
    "upper_half": UPPER_HALF,
    "random": ANY_VALUE,
    "best_so_far": AS_BEST,
}


def _check(variables: str, values: str) -> None:
    for given, known in ((variables, VariableSelector), (values, ValueSelector)):
        if given not in get_args(known):
            raise ModelError(f"there is no selector {given!r}; there are: {', '.join(get_args(known))}")


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Variables, or expressions over them, that are decided before those of later groups.

    Attributes:
        over: The variables, enumerations and expressions, and arrays of them; constants are ignored.
        variables: The variable selector; see `Brancher`.
        values: The value selector; see `Brancher`.
    """

    over: Sequence[IntExpr | EnumExpr | ExprArray | int]
    variables: VariableSelector = "input_order"
    values: ValueSelector = "auto"

    def __post_init__(self) -> None:
        _check(self.variables, self.values)
        plain = [one.index if isinstance(one, EnumExpr) else one for one in flat(self.over)]
        object.__setattr__(self, "over", tuple(plain))
        for expr in plain:
            if not isinstance(expr, IntExpr | int):
                raise ModelError(f"a group is made of variables and expressions, not of {expr!r}")


@dataclass(frozen=True, slots=True)
class Brancher:
    """A search strategy: variable and value selection.

    Attributes:
        variables: The variable selector. "auto": "dom_deg", and "dom_w_deg" after 100 failures. "dom_deg":
            least domain size divided by degree. "input_order": in order of declaration. "first_fail": least
            domain size. "anti_first_fail": greatest domain size. "smallest": smallest least value. "largest":
            greatest greatest value. "most_constrained": least domain size, ties by degree. "occurrence":
            greatest degree. "max_regret": greatest difference between the two least values. "dom_w_deg":
            least domain size divided by the failures of its constraints. "activity": least domain size
            divided by its recent activity (how often it was narrowed).
        values: The value selector. "auto": the values that improve the objective first, "min" if unknown.
            "min" and "max": in order. "middle": median first (domains of over 128 values are halved).
            "lower_half" and "upper_half": split the domain. "random": drawn with the seed of the search.
            "best_so_far": near the value in the last solution, "auto" before there is one.
        groups: Groups of variables that are decided first, in this order.
        decide: A function that makes the decisions; see `Domains`.
    """

    variables: VariableSelector = "auto"
    values: ValueSelector = "auto"
    groups: tuple[Group, ...] = ()
    decide: Decide | None = None
    # How scores are updated, 0 for not at all, and whether that starts later, if the search proves long.
    weighing: int = field(default=0, init=False, repr=False, compare=False)
    learns_later: bool = field(default=False, init=False, repr=False, compare=False)
    _internal = ("learns_later", "weighing")
    __dir__ = public_names

    def __post_init__(self) -> None:
        _check(self.variables, self.values)
        for group in self.groups:
            if not isinstance(group, Group):
                raise ModelError(f"groups are given as Group([x, y, …], …), not {group!r}")
        object.__setattr__(self, "groups", tuple(self.groups))
        selectors = {self.variables, *(group.variables for group in self.groups)}
        asked = {WEIGHINGS[name] for name in selectors if name in WEIGHINGS}
        if len(asked) > 1:
            raise ModelError('"dom_w_deg" and "activity" share one score: use one of them')
        object.__setattr__(self, "weighing", asked.pop() if asked else 0)
        object.__setattr__(self, "learns_later", "auto" in selectors and not self.weighing)


PLAIN = Brancher()
"""The default brancher."""

Branching: TypeAlias = "Brancher | Group | Sequence[Group] | Decide | str"
"""The type of `branching=`: a brancher, its groups, a function that decides, or names of selectors."""


def as_brancher(branching: Branching | None) -> Brancher:
    """The brancher that `branching=` describes."""
    if branching is None:
        return PLAIN
    if isinstance(branching, Brancher):
        return branching
    if callable(branching):
        return Brancher(decide=branching)
    if isinstance(branching, Group):
        return Brancher(groups=(branching,))
    if isinstance(branching, str):
        return brancher_named(branching)
    if isinstance(branching, Sequence) and not isinstance(branching, str):
        return Brancher(groups=tuple(branching))
    raise ModelError(
        f"branching is a Brancher, a list of Group, a function or names of selectors such as "
        f'"first_fail,min", not {branching!r}'
    )


def brancher_named(text: str) -> Brancher:
    """The brancher of a variable selector, a value selector, or both with a comma between them."""
    known = {"variables": get_args(VariableSelector), "values": get_args(ValueSelector)}
    chosen: dict[str, Any] = {}
    for word in text.replace(" ", "").split(","):
        kinds = [kind for kind, words in known.items() if word in words and kind not in chosen]
        if not kinds:
            listed = "; ".join(f"{kind}: {', '.join(words)}" for kind, words in known.items())
            raise ModelError(f"branching {text!r}: there is no selector '{word}'; {listed}")
        chosen[kinds[0]] = word
    return Brancher(**chosen)


Inputs: TypeAlias = Mapping[int, tuple[tuple[int, int], ...]]


MOST_INHERITED = 2_000_000
"""The most constraints, over all variables, that are counted because of functions of a variable."""


def dependents(count: int, propagators: Sequence[Propagator], inputs: Inputs) -> list[int]:
    """For each variable, the number of constraints on it, or on functions of it."""
    return [len(numbers) for numbers in reached_by(count, propagators, inputs)]


def reached_by(
    count: int, propagators: Sequence[Propagator], inputs: Inputs, most: int = MOST_INHERITED
) -> list[Sequence[int]]:
    """For each variable, the numbers of the constraints on it or on functions of it, in order.

    Constraints on functions count until there are `most` of them in all, those on the last functions first:
    a chain of n functions would need n² numbers.
    """
    own: list[list[int]] = [[] for _ in range(count)]
    for number, node in enumerate(propagators):
        check_deadline()
        for v in node.scope():
            if not own[v] or own[v][-1] != number:  # a variable may occur in a constraint more than once
                own[v].append(number)
    reached: list[Sequence[int]] = list(own)
    # A function has a greater number than its arguments, unless its variable existed before.
    for z in sorted(inputs, reverse=True):
        check_deadline()
        for v, _ in inputs[z]:
            if most <= 0:
                return reached
            before = reached[v]
            if reached[z] and v != z:
                reached[v] = sorted({*before, *reached[z]})
                most -= len(reached[v]) - len(before) + 1
    return reached


def credits_of(variables: Sequence[int], reached: Sequence[Sequence[int]], count: int) -> list[list[int]]:
    """For each constraint, the places of the decision variables that reach it."""
    places: list[list[int]] = [[] for _ in range(count)]
    for place, v in enumerate(variables):
        for number in reached[v]:
            places[number].append(place)
    return places


def directions(goal: int, inputs: Inputs) -> dict[int, int]:
    """Monotonicity of an objective in each variable: 1 non-decreasing, -1 non-increasing, 0 unknown."""
    known: dict[int, int] = {goal: 1}
    for z in sorted(inputs, reverse=True):
        if z not in known:
            continue
        for v, direction in inputs[z]:
            direction *= known[z]
            known[v] = direction if known.get(v, direction) == direction else 0
    return known
