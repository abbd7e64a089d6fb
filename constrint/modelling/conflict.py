"""The reason why a model has no solution: constraints that contradict each other."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from constrint.errors import printable
from constrint.expr.shown import show
from constrint.support.record import public_names

if TYPE_CHECKING:
    from constrint.modelling.declarations import Constraint


MOST_VARIABLES = 3  # whose domains are shown for a single constraint
MOST_LISTED = 50  # constraints that are shown where time ran out before the set was small


@dataclass(frozen=True, slots=True, repr=False)
class Conflict:
    """Constraints that cannot hold together.

    Attributes:
        constraints: The guilty constraints in the model's order; empty if only assumptions could be guilty
            and the model has no solution even without them.
        empty: Names of variables whose domain is empty.
        minimal: Whether every constraint is needed for the conflict; False if time ran out.
        beside: Whether they are assumptions that contradict the model's other constraints, which are not
            listed: so it is for a result's conflict.
    """

    constraints: tuple[Constraint, ...]
    empty: tuple[str, ...] = ()
    minimal: bool = True
    beside: bool = False
    _internal = ("listed",)
    __dir__ = public_names

    def __str__(self) -> str:
        if self.empty:
            return f"there is no value for {', '.join(self.empty)}: the domain is empty"
        if not self.constraints:
            return "the model has no solution even without the assumptions"
        if self.beside:
            several = len(self.constraints) > 1
            under = f"these {len(self.constraints)} assumptions together" if several else "this assumption"
            heading = f"the model has no solution under {under}"
        elif len(self.constraints) == 1:
            heading = f"this constraint cannot hold{_domains(self.constraints[0])}"
        else:
            heading = f"these {len(self.constraints)} constraints contradict each other"
        if not self.minimal and len(self.constraints) > 1:
            heading += " (there may be a smaller set; time ran out)"
        lines = [f"  {describe(constraint)}" for constraint in self.listed]
        if len(lines) < len(self.constraints):
            lines.append(f"  … and {len(self.constraints) - len(lines):,} more")
        return "\n".join([f"{heading}:", *lines])

    def __repr__(self) -> str:
        return str(self)

    @property
    def listed(self) -> tuple[Constraint, ...]:
        """The constraints to show: all of a minimal set, the first of one that time left large."""
        return self.constraints if self.minimal else self.constraints[:MOST_LISTED]

    def _repr_html_(self) -> str:
        from constrint.modelling.notebook import conflict_html

        return conflict_html(self)


def _domains(constraint: Constraint) -> str:
    """The domains of the variables of a constraint, the first of many."""
    from constrint.modelling.model_text import declaration

    variables = list(islice(constraint.expr.variables(), MOST_VARIABLES + 1))
    texts = [printable(declaration(one)) for one in variables[:MOST_VARIABLES]]
    more = ", …" if len(variables) > MOST_VARIABLES else ""
    return f" with {', '.join(texts)}{more}" if texts else ""


def describe(constraint: Constraint) -> str:
    """A constraint as its source shows it, with its place and name."""
    position = constraint.position
    place = "" if position is None else f"{position}: "
    return f"{place}{_label(constraint)}{shown(constraint)}"


def labelled(constraint: Constraint) -> str:
    """A constraint as the text language writes it, with its name."""
    return f"{_label(constraint)}{printable(show(constraint.expr))}"


def _label(constraint: Constraint) -> str:
    name = f"{printable(constraint.name)}: " if constraint.name else ""
    return f"assumed: {name}" if constraint.assumed else name


def shown(constraint: Constraint) -> str:
    """The text of a constraint in one line: the user's own text if it is known."""
    position = constraint.position
    text = position.text if position else ""
    return printable(" ".join(text.split()) or show(constraint.expr))
