"""The arguments of a FlatZinc constraint, with the types that its definition expects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from constrint.expr import BoolExpr, IntExpr
from constrint.expr.domain import Domain
from constrint.frontends.flatzinc.items import Item, Value
from constrint.frontends.flatzinc.sets import Lookup
from constrint.modelling.symbols import SetExpr


class Builder(Lookup, Protocol):
    """Makes expressions from values."""

    def number(self, value: Value, line: int, depth: int = 0) -> IntExpr:
        """An integer expression."""

    def numbers(self, values: Sequence[Value], line: int, depth: int = 0) -> list[IntExpr]:
        """Integer expressions."""

    def condition(self, value: Value, line: int, depth: int = 0) -> BoolExpr:
        """A condition."""

    def constants(self, values: Sequence[Value], line: int) -> list[int]:
        """Constants."""

    def constant(self, value: Value, line: int) -> int:
        """A constant."""

    def members(self, value: Value, line: int) -> Domain:
        """A constant set."""

    def set_of(self, value: Value, line: int) -> SetExpr:
        """A set, constant or not."""


class Arguments:
    """The arguments of a constraint, converted on access."""

    def __init__(self, builder: Builder, item: Item, args: Sequence[Value], depth: int = 0) -> None:
        self._builder = builder
        self._item = item
        self._args = args
        self.depth = depth

    @property
    def count(self) -> int:
        """Number of arguments."""
        return len(self._args)

    def number(self, place: int) -> IntExpr:
        """An integer expression."""
        return self._builder.number(self._args[place], self._item.line, self.depth)

    def condition(self, place: int) -> BoolExpr:
        """A condition."""
        return self._builder.condition(self._args[place], self._item.line, self.depth)

    def numbers(self, place: int) -> list[IntExpr]:
        """An array of integer expressions."""
        return self._builder.numbers(self._entries(place), self._item.line, self.depth)

    def conditions(self, place: int) -> list[BoolExpr]:
        """An array of conditions."""
        return [self._builder.condition(value, self._item.line, self.depth) for value in self._entries(place)]

    def constant(self, place: int) -> Any:
        """A constant."""
        return self._builder.constant(self._args[place], self._item.line)

    def constants(self, place: int) -> list[Any]:
        """An array of constants."""
        return self._builder.constants(self._entries(place), self._item.line)

    def members(self, place: int) -> Domain:
        """A constant set."""
        return self._builder.members(self._args[place], self._item.line)

    def listed(self, place: int) -> list[int]:
        """The members of a constant set."""
        domain = self.members(place)
        if domain.size is None:
            raise ValueError("a set without bounds")
        self._builder.document.budget.values(domain.size, self._builder.document.place(self._item.line))
        return list(domain)

    def set(self, place: int) -> SetExpr:
        """A set, constant or not."""
        return self._builder.set_of(self._args[place], self._item.line)

    def sets(self, place: int) -> list[SetExpr]:
        """An array of sets."""
        return [self._builder.set_of(value, self._item.line) for value in self._entries(place)]

    def is_constant_set(self, place: int) -> bool:
        """Whether an argument is a constant set."""
        return isinstance(self._builder.resolved(self._args[place], self._item.line), Domain)

    def combine(self, nodes: int) -> None:
        """Count the operators and operands of the constraint's translation."""
        self._builder.document.budget.node(nodes, self._builder.document.place(self._item.line))

    def require(self, condition: BoolExpr) -> None:
        """Add a constraint to the model, regardless of how the arguments are used."""
        self._builder.model.add(condition, name=f"line {self._item.line}: {self._item.name}")

    def but_last(self) -> Arguments:
        """These arguments without the last."""
        return Arguments(self._builder, self._item, self._args[:-1], self.depth)

    def last(self) -> BoolExpr:
        """The last argument, a condition."""
        return self.condition(len(self._args) - 1)

    def _entries(self, place: int) -> list[Value]:
        found = self._builder.entries(self._args[place], self._item.line)
        self._builder.document.budget.count_steps(len(found))
        return found
