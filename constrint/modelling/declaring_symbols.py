"""Declaring enumeration and set variables: the variables on which they stand."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any, cast

from constrint.errors import ModelError
from constrint.expr.domain import EnumDomain
from constrint.expr.enumerated import distinct
from constrint.modelling.bounds import array_axes
from constrint.modelling.symbols import EnumVar, SetVar
from constrint.support.arguments import integer

if TYPE_CHECKING:
    from constrint.expr.array_shapes import LabelledShape
    from constrint.expr.arrays import ExprArray
    from constrint.expr.enumerated import Value
    from constrint.modelling.declarations import Declarations


def declare_enum(model: Declarations, name: str, values: Iterable[Value]) -> EnumVar[Value]:
    """Declare an enumeration variable; see `WithSymbols.enum_var`."""
    domain = EnumDomain.labelled(_values(name, values))
    return _declared(model, name, domain)


def declare_enums(
    model: Declarations, name: str, shape: LabelledShape, values: Iterable[Value]
) -> ExprArray[EnumVar[Value]]:
    """Declare an array of enumeration variables; see `WithSymbols.enum_vars`."""
    axes = array_axes(name, shape)
    domain = EnumDomain.labelled(_values(name, values))
    found: ExprArray[EnumVar[Value]] = axes.array([_declared(model, one, domain) for one in axes.names(name)])
    return found


def _values(name: str, values: Iterable[Hashable]) -> tuple[object, ...]:
    listed = distinct(values, f"the values of '{name}'")
    if not listed:
        raise ModelError(f"'{name}' has no values: give at least one")
    return listed


def _declared(model: Declarations, name: str, domain: EnumDomain) -> EnumVar[Any]:
    model.variable(name, domain)
    return cast("EnumVar", model.symbols[name])


def declare_set(
    model: Declarations, name: str, members: Iterable[Value], min_size: int, max_size: int | None
) -> SetVar[Value]:
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
