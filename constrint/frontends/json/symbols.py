"""Enumeration and set variables in JSON: their values, beside the variables on which they stand."""

from __future__ import annotations

from typing import Any, TypeAlias

from constrint.errors import ModelError, shown
from constrint.expr import BoolVar, IntVar
from constrint.frontends.json.places import JsonPlace
from constrint.modelling.declarations import Declarations
from constrint.modelling.symbols import EnumVar, SetVar, distinct

Json: TypeAlias = Any


def write_symbols(model: Declarations) -> list[Json]:
    """The JSON of the enumeration and set variables; raises `ModelError` for values that it cannot hold."""
    written = []
    for name, symbol in model.symbols.items():
        kind, values = (
            ("enum", symbol.values) if isinstance(symbol, EnumVar) else ("set", tuple(symbol.members))
        )
        for value in values:
            if type(value) not in (str, int, bool):
                raise ModelError(
                    f"the value {value!r} of '{name}' has no form in JSON: use strings and integers"
                )
        written.append({"name": name, kind: list(values)})
    return written


def read_symbols(model: Declarations, place: JsonPlace, document: Json) -> None:
    """Add the enumeration and set variables of a document; their variables are declared."""
    for where, item in place.items(document):
        entry = where.object(item, required=("name",), optional=("enum", "set"))
        name = where.at("name").text(entry["name"])
        if ("enum" in entry) == ("set" in entry):
            raise where.error("give the values of an enumeration as 'enum', or the members of a set as 'set'")
        kind = "enum" if "enum" in entry else "set"
        given = where.at(kind).array(entry[kind])
        for i, value in enumerate(given):
            if type(value) not in (str, int, bool):
                raise where.at(kind).at(i).error(f"{shown(repr(value))} is neither a string nor an integer")
        try:
            values = distinct(given, f"the values of '{name}'")
        except ModelError as error:
            raise where.error(str(error)) from None
        if kind == "enum":
            index = model.variables.get(name)
            if not isinstance(index, IntVar) or (index.domain.lo, index.domain.hi) != (0, len(values) - 1):
                raise where.error(
                    f"'{name}' needs a variable of that name with a domain of 0..{len(values) - 1}"
                )
            model.symbols[name] = EnumVar(name, values, index)
            continue
        members = {value: model.variables.get(f"{name}[{value}]") for value in values}
        booleans = {value: one for value, one in members.items() if isinstance(one, BoolVar)}
        if len(booleans) < len(members) or name in model.variables:
            raise where.error(f"'{name}' needs a Boolean variable '{name}[member]' for each member")
        model.symbols[name] = SetVar(name, booleans)
