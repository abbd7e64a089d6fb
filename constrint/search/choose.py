"""Which method takes a model: the whole choice in one table, with its reasons.

`choose` names the methods in the order in which they are tried. Those of `FIRST` may leave the model to the
next one: they stop after a bounded amount of work. The first method of `MAIN` whose condition holds ends the
search.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from constrint.preparing.branching import PLAIN
from constrint.preparing.options import Options
from constrint.preparing.prepared import Plan
from constrint.presolve import Root

Method: TypeAlias = Literal["brief search", "tables", "learning", "shared search", "portfolio", "branching"]

LEAST_COMBINATIONS = 16_384  # of values; for fewer, search ends before numpy is loaded (80 ms)
FARTHEST = 1 << 40  # bounds beyond that are not alternated on


@dataclass(frozen=True)
class Choice:
    """A method, and why it is tried.

    Attributes:
        method: The method's name.
        reason: The condition that holds, for people.
    """

    method: Method
    reason: str

    def __str__(self) -> str:
        return f"{self.method}: {self.reason}"


@dataclass(frozen=True)
class Case:
    """What the choice depends on.

    Attributes:
        plan: The model made ready.
        root: What presolve left.
        options: How the caller wants to search.
        learning_gave_up: Whether the learning search was tried and gave up.
    """

    plan: Plan
    root: Root
    options: Options
    learning_gave_up: bool = False


Condition: TypeAlias = Callable[[Case], bool]


def choose(case: Case) -> list[Choice]:
    """The methods in the order in which they are tried."""
    tried = [Choice(method, reason) for method, holds, reason in FIRST if holds(case)]
    return [*tried, main_method(case)]


def main_method(case: Case) -> Choice:
    """The method that ends the search."""
    return next(Choice(method, reason) for method, holds, reason in MAIN if holds(case))


def may_search_briefly(options: Options, learning_gave_up: bool = False) -> bool:
    """Whether a search may begin anew after a few nodes: not where the caller or workers would notice."""
    return (
        options.restarts is None
        and not options.lns
        and options.brancher.decide is None
        and options.sharing is None
        and (options.learn is not True or learning_gave_up)
    )


def _suits_tables(case: Case) -> bool:
    plan, root, options = case.plan, case.root, case.options
    if not (plan.goals or plan.preferences):
        return False
    if options.engine != "auto" or options.learn is True or options.brancher != PLAIN:
        return False
    if root.exact or not root.stable:
        return False
    box = root.box
    combinations = 1
    for v in set(plan.variables.values()):
        combinations *= (box.hi[v] - box.lo[v]) // box.step[v] + 1
    return combinations >= LEAST_COMBINATIONS


def _suits_portfolio(case: Case) -> bool:
    root, options = case.root, case.options
    return (
        options.learn == "auto"
        and options.brancher.decide is None
        and options.restarts is None
        and not options.lns
        and not case.plan.preferences
        and not root.exact
        and root.stable
        and all(
            low > -FARTHEST and high < FARTHEST for low, high in zip(root.box.lo, root.box.hi, strict=True)
        )
    )


FIRST: tuple[tuple[Method, Condition, str], ...] = (
    (
        "tables",
        _suits_tables,
        "an optimum is wanted, no search strategy is named, all numbers fit int64, and there are at least "
        f"{LEAST_COMBINATIONS:,} combinations of values",
    ),
    (
        "brief search",
        lambda case: case.root.postponed,
        "a first solution is wanted and no search strategy is named: some nodes come before costly presolve",
    ),
)
"""Methods that are tried first and may leave the model to the next."""

MAIN: tuple[tuple[Method, Condition, str], ...] = (
    (
        "learning",
        lambda case: case.options.learn is True and not case.root.exact and not case.learning_gave_up,
        "learn=True, and all numbers fit int64",
    ),
    (
        "shared search",
        lambda case: case.options.sharing is not None,
        "workers= or executor= is given",
    ),
    (
        "portfolio",
        _suits_portfolio,
        "no restarts, neighbourhoods or decisions of the caller's, and all numbers fit int64: branching, and "
        "once it proves long in turns with learning, linear relaxations and large neighbourhoods",
    ),
    (
        "branching",
        lambda case: True,
        "a search strategy is named or learning is off, or numbers need more than int64",
    ),
)
"""Methods that end the search; the first whose condition holds is taken."""
