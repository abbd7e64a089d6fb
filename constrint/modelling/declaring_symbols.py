"""Declaring enumeration and set variables: the variables on which they stand."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING

from constrint.errors import ModelError
from constrint.modelling.symbols import EnumVar, SetVar, distinct
from constrint.support.arguments import integer

if TYPE_CHECKING:
    from constrint.modelling.declarations import Declarations


def declare_enum(model: Declarations, name: str, values: Iterable[Hashable]) -> EnumVar:
    """Declare an enumeration variable; see `Declarations.enum_var`."""
    listed = distinct(values, f"the values of '{name}'")
    if not listed:
        raise ModelError(f"'{name}' has no values: give at least one")
    symbol = EnumVar(name, listed, model.int_var(name, 0, len(listed) - 1))
    model.symbols[name] = symbol
    return symbol


def declare_set(
    model: Declarations, name: str, members: Iterable[Hashable], min_size: int, max_size: int | None
) -> SetVar:
    """Declare a set variable; see `Declarations.set_var`."""
    listed = distinct(members, f"the members of '{name}'")
    least = integer(min_size, f"'{name}': min_size")
    most = len(listed) if max_size is None else integer(max_size, f"'{name}': max_size")
    if least > min(most, len(listed)):
        raise ModelError(f"'{name}' has at least {least} and at most {min(most, len(listed))} members")
    model.declare_name(name)
    symbol = SetVar(name, {one: model.bool_var(f"{name}[{one}]") for one in listed})
    model.symbols[name] = symbol
    if least > 0:
        model.add(symbol.cardinality >= least)
    if most < len(listed):
        model.add(symbol.cardinality <= most)
    return symbol
