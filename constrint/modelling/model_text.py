"""A model as text for people: `print(model)`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from constrint.expr import BoolVar, IntExpr, IntVar
from constrint.expr.shown import show, show_domain, show_name
from constrint.support.long_numbers import counted

if TYPE_CHECKING:
    from constrint.modelling.declarations import Declarations

Item = TypeVar("Item")

MOST_LINES = 50  # of variables, of definitions, of constraints


def heading(model: Declarations) -> str:
    """The first line: the name of the model and its size."""
    sizes = counted(len(model.variables), "variable"), counted(len(model.constraints), "constraint")
    return f"Model({model.name!r}: {', '.join(sizes)})"


def model_text(model: Declarations) -> str:
    """The variables, definitions, constraints and goals of a model, a line for each; the first of many."""
    goals = [
        f"{'maximize' if way == 'max' else 'minimize'} {show_goal(model, expr)}" for expr, way in model.goals
    ]
    goals += [f"prefer {show(expr)} {way}" for expr, way in model.preferences]
    lines = [
        *_first(model.variables.values(), declaration),
        *_first(model.lets.items(), lambda named: f"{show_name(named[0])} := {show_goal(model, named[1])}"),
        *_first(model.constraints, repr),
        *_first(model.disabled, lambda constraint: f"off: {constraint!r}"),
        *goals,
    ]
    return "\n".join([repr(model), *[f"  {line}" for line in lines]])


def show_goal(model: Declarations, expr: IntExpr) -> str:
    """The text of a goal or definition, with its fractions."""
    unit = model.units.get(expr)
    return show(expr) if unit is None else repr(unit)


def _first(items: Collection[Item], write: Callable[[Item], str]) -> Iterator[str]:
    yield from map(write, islice(items, MOST_LINES))
    if len(items) > MOST_LINES:
        yield f"… {len(items) - MOST_LINES:,} more"


def declaration(variable: IntVar | BoolVar) -> str:
    """The declaration of a variable for people."""
    kind = "bool" if isinstance(variable, BoolVar) else f"in {show_domain(variable.domain)}"
    return f"{show_name(variable.name)} {kind}"
