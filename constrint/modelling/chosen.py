"""The variables that an argument chooses: variables, names, arrays, enumerations and sets."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

from constrint.errors import ModelError
from constrint.expr import BoolVar, IntExpr, IntVar
from constrint.modelling.intervals import Interval
from constrint.modelling.symbols import EnumVar, SetVar

if TYPE_CHECKING:
    from constrint.expr.arrays import ExprArray
    from constrint.modelling.declarations import Declarations

Chosen: TypeAlias = "str | IntExpr | ExprArray | EnumVar | SetVar"
"""The name of a variable, a variable of any kind, or an array of them."""


def chosen_variables(model: Declarations, given: Any, use: str) -> list[IntVar | BoolVar]:
    """The variables of a model that are given, each once.

    Args:
        model: The model.
        given: Variables or their names, arrays, enumeration and set variables; one of them, or many.
        use: What is done with them, for messages.

    Raises:
        ModelError: Something else is among them, such as a variable of another model.
    """
    found: dict[IntVar | BoolVar, None] = {}
    for one in given if _is_list(given) else [given]:
        if isinstance(one, str):
            one = model.symbols.get(one, one)
        name = one if isinstance(one, str) else getattr(one, "name", None)
        known = model.variables.get(name) if isinstance(name, str) else None
        if isinstance(one, EnumVar | SetVar) and model.symbols.get(one.name) is one:
            found.update(dict.fromkeys(one.variables))
        elif known is not None and (known is one or isinstance(one, str)):
            found[known] = None
        elif _is_list(one):
            found.update(dict.fromkeys(chosen_variables(model, one, use)))
        else:
            advice = "declare one that equals the expression" if isinstance(one, IntExpr) else "give those"
            if isinstance(one, Interval):
                advice = "give parts of the interval, such as its `start`"
            raise ModelError(f"{one!r} is not a variable of this model: {use}, so {advice}")
    return list(found)


def _is_list(given: object) -> bool:
    return isinstance(given, Iterable) and not isinstance(given, str | IntExpr | EnumVar | SetVar | Interval)
