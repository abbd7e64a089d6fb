"""Enumerations in the text of a model: their declarations, and words in place of numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from itertools import count
from typing import TypeAlias

from constrint.expr import (
    And,
    BoolVar,
    Comparison,
    Const,
    Element,
    Iff,
    IfThenElse,
    Implies,
    IntExpr,
    IntVar,
    Member,
    Not,
    Or,
    Selection,
    Table,
)
from constrint.expr.array_shapes import label_text
from constrint.expr.domain import EnumDomain, Label
from constrint.expr.enumerated import labels_of
from constrint.expr.global_expr import Function, Relation
from constrint.expr.walk import inner_first
from constrint.expr.written import Writer, quote, write_set
from constrint.modelling.declarations import Declarations

Labels: TypeAlias = "tuple[object, ...]"
_CHOOSING = (Element, Selection, IfThenElse)
_ANY_VALUES = (*_CHOOSING, Member, Table, And, Or, Not, Implies, Iff)
"""Expressions that take values of an enumeration whatever the others are."""


class LabelWriter(Writer):
    """Writes numbers of enumerations as their words, where the text declares them."""

    def __init__(self, names: dict[Labels, str]) -> None:
        super().__init__()
        self.enumerations = names

    def constant(self, number: int, labels: Labels | None) -> str:
        """The word of a number, or the number."""
        labels = number.labels if isinstance(number, Label) else labels
        if labels is None or labels not in self.enumerations or not 0 <= number < len(labels):
            return str(number)
        return quote(label_text(labels[number]))

    def words(self) -> list[str]:
        """The names of the enumerations, and their words."""
        words = [label_text(label) for labels in self.enumerations for label in labels]
        return [*self.enumerations.values(), *words]

    def declarations(self) -> list[str]:
        """The lines that declare the enumerations."""
        return [
            f"enum {quote(name)} := {{{', '.join([quote(label_text(label)) for label in labels])}}}"
            for labels, name in self.enumerations.items()
        ]

    def declaration(self, variable: IntVar | BoolVar) -> str:
        """The line that declares a variable."""
        name, domain = quote(variable.name), variable.domain
        if isinstance(variable, BoolVar):
            return f"{name} bool"
        if not isinstance(domain, EnumDomain) or domain.labels not in self.enumerations or domain.is_empty:
            return f"{name} in {write_set(domain)}"
        if domain.size == len(domain.labels):
            return f"{name} in {quote(self.enumerations[domain.labels])}"
        return f"{name} in {{{', '.join([self.constant(one, domain.labels) for one in domain])}}}"


def named_enumerations(
    model: Declarations, taken: Iterable[str], exprs: Iterable[IntExpr], goals: Iterable[IntExpr]
) -> dict[Labels, str]:
    """The enumerations that the text declares, with a name for each.

    Others stay numbers: those with values that are no words, with words that have another meaning in the
    text, and those that arithmetic or comparisons use as numbers, which the language refuses.

    Args:
        model: The model.
        taken: The names that the text has already.
        exprs: All expressions of the text.
        goals: Those of them whose numbers count.
    """
    owners: dict[Labels, str] = {}
    for variable in model.variables.values():
        if isinstance(variable.domain, EnumDomain) and all(map(_is_word, variable.domain.labels)):
            owners.setdefault(variable.domain.labels, variable.name)
    if not owners:
        return {}
    names = set(taken)
    words = {label_text(label) for labels in owners for label in labels}
    refused = {labels for labels in map(labels_of, goals) if labels is not None}
    refused.update(_used_as_numbers(exprs))
    found: dict[Labels, str] = {}
    for labels, owner in owners.items():
        own = set(map(label_text, labels))
        if labels not in refused and names.isdisjoint(own):
            found[labels] = _free_name(owner, names | words)
            names |= own | {found[labels]}
    return found


def _is_word(label: object) -> bool:
    return isinstance(label, str | Enum) and label_text(label).isidentifier()


def _free_name(owner: str, taken: set[str]) -> str:
    start = owner.partition("[")[0]
    wished = f"{start}_values" if start.isidentifier() else "values"
    return next(name for i in count(1) if (name := wished if i == 1 else f"{wished}{i}") not in taken)


def _used_as_numbers(exprs: Iterable[IntExpr]) -> Iterator[Labels]:
    """The labels of what stands where the language wants numbers, or beside other labels."""
    for node in inner_first(list(exprs)):
        kind = type(node)
        if kind is Element:
            assert isinstance(node, Element)
            yield from _unlike(Const(value) for value in node.values)
        elif kind is Selection:
            assert isinstance(node, Selection)
            yield from _unlike(node.entries)
        elif kind is IfThenElse:
            assert isinstance(node, IfThenElse)
            yield from _unlike((node.then, node.otherwise))
        elif kind in (Comparison, Relation, Function):
            yield from _unlike(node.children)
        elif kind not in _ANY_VALUES:
            yield from filter(None, map(labels_of, node.children))


def _unlike(parts: Iterable[IntExpr]) -> Iterator[Labels]:
    """The labels among parts, if they have several."""
    found = {labels for labels in map(labels_of, parts) if labels is not None}
    if len(found) > 1:
        yield from found
