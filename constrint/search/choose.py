"""The choice of search methods, in one table with reasons.

`choose` returns the methods in the order in which they are tried. Those of `TRIED_FIRST` stop after a bounded
amount of work and may leave the model to the next. The first method of `MAIN` whose condition holds completes
the search.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from constrint.preparing.branching import PLAIN
from constrint.preparing.options import Options
from constrint.preparing.prepared import Prepared
from constrint.presolve import Root
from constrint.presolve.root import most_propagations
from constrint.propagators import CeilDiv, Divides, DivMod, Gcd, Lcm, Power, Product
from constrint.settings import DEFAULT
from constrint.support.long_numbers import written

Method: TypeAlias = Literal[
    "descent",
    "tables",
    "brief search",
    "learning",
    "side by side",
    "shared search",
    "portfolio",
    "branching",
]

# Functions that tables evaluate and whose bounds are weak.
ARITHMETIC = (CeilDiv, Divides, DivMod, Gcd, Lcm, Power, Product)


@dataclass(frozen=True)
class Choice:
    """A method, and the reason why it is tried.

    Attributes:
        method: The method's name.
        reason: The condition that holds, for people.
    """

    method: Method
    reason: str

    def __str__(self) -> str:
        return f"{self.method}: {self.reason}"


@dataclass(slots=True)
class Case:
    """The facts on which the choice depends.

    Attributes:
        prepared: The prepared model.
        root: The root after presolve.
        options: The search options.
        learning_gave_up: Whether the learning search was tried and gave up.
    """

    prepared: Prepared
    root: Root
    options: Options
    learning_gave_up: bool = False


Condition: TypeAlias = Callable[[Case], bool]


def choose(case: Case) -> list[Choice]:
    """The methods in the order in which they are tried."""
    return [*first_methods(case), main_method(case)]


def first_methods(case: Case) -> list[Choice]:
    """The methods that are tried before the one that completes the search."""
    return [Choice(method, reason) for method, holds, reason in TRIED_FIRST if holds(case)]


def main_method(case: Case) -> Choice:
    """The method that completes the search."""
    method, reason = next((method, reason) for method, holds, reason in MAIN if holds(case))
    return Choice(method, reason if isinstance(reason, str) else reason(case))


def may_search_briefly(options: Options, learning_gave_up: bool = False) -> bool:
    """Whether a search may restart after a few nodes, unnoticed by callbacks and workers."""
    return (
        options.restarts is None
        and not options.lns
        and options.brancher.decide is None
        and options.sharing is None
        and (options.learn is not True or learning_gave_up)
    )


def _suits_tables(case: Case) -> bool:
    prepared, root, options = case.prepared, case.root, case.options
    if not (prepared.goals or prepared.preferences):
        return False
    if options.engine != "auto" or options.learn is True or options.brancher != PLAIN:
        return False
    if root.exact or not root.stable:
        return False
    if len(prepared.goals) == 1 and not prepared.preferences and not _is_arithmetic(root):
        return False
    rules = root.settings.enumeration
    lo, hi = root.box.lo, root.box.hi
    opened = [v for v in set(prepared.variables.values()) if lo[v] < hi[v]]
    if len(opened) > rules.most_columns:
        return False
    combinations = 1
    for v in opened:
        combinations *= root.box.size(v)
        if combinations >= rules.least_combinations:
            return True
    return False


def _is_arithmetic(root: Root) -> bool:
    """Whether functions of integers are a good part of the constraints."""
    count = sum(isinstance(node, ARITHMETIC) for node in root.propagators)
    return count > 0 and count >= root.settings.enumeration.share_of_arithmetic * len(root.propagators)


def _suits_descent(case: Case) -> bool:
    return not case.prepared.goals and case.options.sharing is None and _suits_tables(case)


def _suits_portfolio(case: Case) -> bool:
    return next(obstacles(case), None) is None


def obstacles(case: Case) -> Iterator[str]:
    """The conditions of a portfolio that do not hold, each with the setting of its limit."""
    root, options = case.root, case.options
    if options.learn != "auto":
        yield f"learn={options.learn}" + (", and that search gave up" if case.learning_gave_up else "")
    if options.brancher.decide is not None:
        yield "branching= is a function of the caller's"
    if options.restarts is not None and options.restarts.alone:
        yield f"restarts= asks for {options.restarts.rule!r} restarts"
    if options.lns:
        yield "lns=True"
    if case.prepared.preferences:
        yield "values are preferred"
    if root.exact:
        yield "numbers need more than int64"
    if not root.stable:
        most, count = most_propagations(root.propagators, root.settings.presolve), len(root.propagators)
        yield (
            f"{most:,} propagations of {count:,} constraints reach no fixpoint at the root "
            "(presolve.propagations, presolve.propagations_of_constraint)"
        )
    farthest = root.settings.search.farthest
    widest = max(-min(root.box.lo, default=0), max(root.box.hi, default=0))
    if widest >= farthest:
        yield f"a variable may be {written(widest)} from 0, not less than {farthest:,} (search.farthest)"


def why_no_portfolio(case: Case) -> str:
    """The conditions of a portfolio that fail, in one text; the last is that of searches side by side."""
    return "; ".join(obstacles(case)) or 'executor= or engine="interpreted" is given'


TRIED_FIRST: tuple[tuple[Method, Condition, str], ...] = (
    (
        "descent",
        _suits_descent,
        "values are preferred and nothing is optimised: the values that are tried first may all be free",
    ),
    (
        "tables",
        _suits_tables,
        "an optimum is wanted, there are several goals or products, quotients and the like, no search "
        "strategy is named, all numbers fit int64, and there are at least "
        f"{DEFAULT.enumeration.least_combinations:,} combinations of values of at most "
        f"{DEFAULT.enumeration.most_columns:,} variables",
    ),
    (
        "brief search",
        lambda case: case.root.postponed,
        "a first solution is wanted and no search strategy is named: some nodes come before costly presolve",
    ),
)
"""Methods that are tried first and may leave the model to the next."""

MAIN: tuple[tuple[Method, Condition, str | Callable[[Case], str]], ...] = (
    (
        "learning",
        lambda case: case.options.learn is True and not case.root.exact and not case.learning_gave_up,
        "learn=True, and all numbers fit int64",
    ),
    (
        "side by side",
        lambda case: (
            case.options.workers > 1 and case.options.engine != "interpreted" and _suits_portfolio(case)
        ),
        "workers= is given without an executor, and the searches of a portfolio suit it",
    ),
    (
        "shared search",
        lambda case: case.options.sharing is not None,
        lambda case: (
            f"workers= or executor= is given, and searches side by side do not suit: {why_no_portfolio(case)}"
        ),
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
        lambda case: f"no portfolio: {why_no_portfolio(case)}",
    ),
)
"""Methods that complete the search; the first whose condition holds is used."""
