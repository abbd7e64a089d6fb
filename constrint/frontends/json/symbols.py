"""Enumeration and set variables in JSON: their values, beside the variables on which they stand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from constrint.errors import ModelError, shown
from constrint.expr import BoolVar
from constrint.expr.domain import Domain, EnumDomain
from constrint.expr.enumerated import distinct
from constrint.frontends.json.places import JsonPlace
from constrint.modelling.declarations import Declarations
from constrint.modelling.symbols import EnumVar, SetVar

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


@dataclass(frozen=True)
class JsonSymbol:
    """An enumeration or set variable of a document.

    Attributes:
        where: Its place in the document.
        kind: "enum" or "set".
        values: Its values, or the possible members.
    """

    where: JsonPlace
    kind: str
    values: tuple[object, ...]


def read_symbols(place: JsonPlace, document: Json) -> dict[str, JsonSymbol]:
    """The enumeration and set variables of a document, by name."""
    found: dict[str, JsonSymbol] = {}
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
            found[name] = JsonSymbol(where, kind, distinct(given, f"the values of '{name}'"))
        except ModelError as error:
            raise where.error(str(error)) from None
    return found


def add_symbols(model: Declarations, symbols: Mapping[str, JsonSymbol]) -> None:
    """Add the enumeration and set variables to a model whose variables are declared."""
    for name, symbol in symbols.items():
        if symbol.kind == "enum":
            if name not in model.symbols:
                last = len(symbol.values) - 1
                raise symbol.where.error(
                    f"'{name}' needs a variable of that name with a domain within 0..{last}"
                )
            continue
        members = {value: model.variables.get(f"{name}[{value}]") for value in symbol.values}
        booleans = {value: one for value, one in members.items() if isinstance(one, BoolVar)}
        if len(booleans) < len(members) or name in model.variables:
            raise symbol.where.error(f"'{name}' needs a Boolean variable '{name}[member]' for each member")
        model.symbols[name] = SetVar(name, booleans)


def enum_domain(symbol: JsonSymbol | None, domain: Domain) -> Domain:
    """The domain of a variable with the labels of its enumeration, if it has one that fits."""
    if symbol is None or symbol.kind != "enum" or domain.lo is None or domain.hi is None:
        return domain
    fits = domain.lo >= 0 and domain.hi < len(symbol.values)
    return EnumDomain.labelled(symbol.values, domain) if fits else domain
