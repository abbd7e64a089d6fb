"""Why a model has no solution: a minimal set of its constraints that contradict each other.

QuickXplain (Junker 2004): halves of the constraints are set aside as long as the rest is infeasible alone, so
a small conflict among many constraints takes few solves. Domains are always part of the background.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from constrint.errors import UnboundedError
from constrint.model import Model
from constrint.modelling.declarations import Constraint
from constrint.modelling.result import Status


@dataclass(frozen=True, slots=True)
class Conflict:
    """Constraints that cannot hold together.

    Attributes:
        constraints: The guilty constraints, in the model's order; none if the definitions are to blame
            (or, where only assumptions are in question, the model without them).
        empty: Names of variables whose domain is empty.
        minimal: Whether every constraint is needed for the conflict; False where time ran out.
    """

    constraints: tuple[Constraint, ...]
    empty: tuple[str, ...] = ()
    minimal: bool = True

    def __str__(self) -> str:
        if self.empty:
            return f"there is no value for {', '.join(self.empty)}: the domain is empty"
        if not self.constraints:
            return "the definitions have no value anywhere in the domains"
        if len(self.constraints) == 1:
            heading = "this constraint cannot hold anywhere in the domains"
        else:
            heading = f"these {len(self.constraints)} constraints contradict each other"
            heading += "" if self.minimal else " (there may be a smaller set; time ran out)"
        return "\n".join([f"{heading}:", *[f"  {describe(constraint)}" for constraint in self.constraints]])

    def _repr_html_(self) -> str:
        from constrint.answers.notebook import conflict_html

        return conflict_html(self)


def describe(constraint: Constraint) -> str:
    """A constraint as its source shows it, with its place and name."""
    position = constraint.position
    label = "assumed: " if constraint.assumed else ""
    label += f"{constraint.name}: " if constraint.name else ""
    place = "" if position is None else f"{position}: "
    return f"{place}{label}{shown(constraint)}"


def shown(constraint: Constraint) -> str:
    """The text of a constraint, in one line: the user's own where it is known."""
    from constrint.frontends.text.writer import write_expression

    position = constraint.position
    text = position.text if position else ""
    return " ".join(text.split()) or write_expression(constraint.expr)


def find_conflict(model: Model, *, time_limit: float = 5.0, background: Sequence[int] = ()) -> Conflict:
    """A minimal conflict of a model that is known to be infeasible.

    Args:
        model: A model without solutions.
        time_limit: Seconds; when they are over the conflict so far is returned, which may not be minimal.
        background: Numbers of constraints that are beyond question: none of them is blamed.
    """
    empty = tuple(name for name, variable in model.variables.items() if variable.domain.is_empty)
    if empty:
        return Conflict((), empty)
    search = _Search(model, time.monotonic() + time_limit)
    given = list(background)
    numbers = [i for i in range(len(model.constraints)) if i not in set(given)]
    guilty = [] if search.infeasible(given) else search.needed(given, numbers, changed=False)
    return Conflict(tuple(model.constraints[i] for i in sorted(guilty)), minimal=not search.cut_short)


class _Search:
    """Finds which constraints, by number, a conflict needs."""

    def __init__(self, model: Model, deadline: float) -> None:
        self.model = model
        self.deadline = deadline
        self.cut_short = False

    def infeasible(self, numbers: Sequence[int]) -> bool:
        """Whether some of the constraints are proven to contradict each other."""
        remaining = self.deadline - time.monotonic()
        if remaining <= 0:
            self.cut_short = True
            return False
        part = Model(self.model.name)
        part.variables = self.model.variables
        part.lets = self.model.lets
        part.constraints = [self.model.constraints[i] for i in sorted(numbers)]
        try:
            status = part.solve(time_limit=remaining).status
        except UnboundedError:
            return False
        if status is Status.UNKNOWN:
            self.cut_short = True
        return status is Status.INFEASIBLE

    def needed(self, background: list[int], candidates: Sequence[int], *, changed: bool) -> list[int]:
        """The candidates that a conflict needs beside the background."""
        if changed and self.infeasible(background):
            return []
        if len(candidates) <= 1:
            return list(candidates)
        half = len(candidates) // 2
        first, second = list(candidates[:half]), list(candidates[half:])
        from_second = self.needed(background + first, second, changed=bool(first))
        from_first = self.needed(background + from_second, first, changed=bool(from_second))
        return from_first + from_second
