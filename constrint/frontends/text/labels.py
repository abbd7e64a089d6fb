"""Checks that values of enumerations stand where they have a meaning, for the text language."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from constrint.expr import IntExpr
from constrint.expr.domain import Domain, EnumDomain, Label
from constrint.expr.enumerated import labels_of
from constrint.expr.global_expr import Field
from constrint.frontends.constants import ConstantReader, Place

MOST_SHOWN = 6
"""Values of an enumeration that a message shows."""


def members_of(domain: Domain) -> Iterable[int]:
    """The members of a finite set, those of an enumeration as its words."""
    if not isinstance(domain, EnumDomain):
        return domain
    return [Label(number, domain.labels) for number in domain]


def check_numbers(reader: ConstantReader, place: Place, operands: Iterable[object]) -> None:
    """Refuse values of enumerations among the operands of arithmetic."""
    for one in operands:
        labels = labels_of(one) if isinstance(one, IntExpr) else None
        if labels is not None and isinstance(one, IntExpr):
            message = f"'{one}' is one of {_named(labels)}, and a number is needed here"
            hint = f"give the values numbers: rank[…] := {list(range(len(labels)))[:3]}, then rank[{one}]"
            raise reader.error(place, message, hint)


def check_alike(reader: ConstantReader, place: Place, *parts: object) -> None:
    """Refuse values of several enumerations that are compared, or stand in one list."""
    known: tuple[object, ...] | None = None
    for part in parts:
        labels = _labels(part)
        if labels is not None and known is not None and labels != known:
            message = f"{_named(known)} and {_named(labels)} are other enumerations"
            raise reader.error(place, message, "compare values of one enumeration")
        known = known or labels


def check_index(reader: ConstantReader, place: Place, known: tuple[str, ...], index: IntExpr) -> None:
    """Refuse a value of another enumeration as an index."""
    labels = labels_of(index)
    if labels is not None and labels != known:
        message = f"'{index}' is one of {_named(labels)}, and the indices are {_named(known)}"
        raise reader.error(place, message, "an index is a value of the array's own enumeration")


def check_call(
    reader: ConstantReader, place: Place, fields: Sequence[Field], labels: str, parts: Sequence[Any]
) -> None:
    """Refuse values of several enumerations in arguments of a constraint whose values are of one kind."""
    named = [field.name for field in fields]
    alike: list[object] = []
    for name, part in zip(named, parts, strict=False):
        if name in labels.split():
            alike += part if isinstance(part, tuple | list) else [part]
    check_alike(reader, place, *alike)
    if named[:2] == ["values", "transitions"] and any(_labels(value) is not None for value in parts[0]):
        check_alike(reader, place, *parts[0], *[row[1] for row in parts[1] if len(row) > 1])
    if named == ["values", "rows"]:
        for column, value in enumerate(parts[0]):
            entries = [row[column] for row in parts[1] if len(row) > column]
            if _labels(value) is not None or any(isinstance(entry, Label) for entry in entries[:1]):
                check_alike(reader, place, value, *entries)


def _labels(part: object) -> tuple[object, ...] | None:
    if isinstance(part, IntExpr):
        return labels_of(part)
    if isinstance(part, Domain):
        return part.labels if isinstance(part, EnumDomain) else None
    return part.labels if isinstance(part, Label) else None


def _named(labels: Sequence[object]) -> str:
    more = ", …" if len(labels) > MOST_SHOWN else ""
    return f"{{{', '.join(map(str, labels[:MOST_SHOWN]))}{more}}}"
