"""Meanings of names in the text language, besides expressions and lists or sets of integers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, islice, product
from operator import mul
from typing import TYPE_CHECKING, TypeAlias, TypeGuard, cast

from constrint.expr import Const, IntExpr
from constrint.expr.domain import Domain, Label

if TYPE_CHECKING:
    from lark import Token, Tree

    from constrint.expr.position import Source
    from constrint.expr.rational import Rational

    Node: TypeAlias = Tree[Token]


@dataclass(frozen=True)
class EnumerationType:
    """An enumeration: words for the integers from 0.

    Attributes:
        name: Its name.
        labels: The words in order.
    """

    name: str
    labels: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The numbers of the words."""
        return {label: number for number, label in enumerate(self.labels)}

    @cached_property
    def members(self) -> tuple[Const, ...]:
        """The words as constants."""
        return tuple([Const(Label(number, self.labels)) for number in range(len(self.labels))])


class Axis:
    """One index set of an array.

    Attributes:
        members: The indices in order.
        labels: Their texts in the names of elements; None where these are the numbers.
        enumeration: The enumeration whose members they are, if they are one's.
    """

    def __init__(
        self,
        members: range | tuple[int, ...],
        labels: tuple[str, ...] | None = None,
        enumeration: EnumerationType | None = None,
    ) -> None:
        self.members = members
        self.labels = labels
        self.enumeration = enumeration

    def __len__(self) -> int:
        return len(self.members)

    @cached_property
    def _places(self) -> dict[int, int]:
        return {member: place for place, member in enumerate(self.members)}

    def place(self, index: int) -> int | None:
        """The place of an index, from 0; None if it is no member."""
        if isinstance(self.members, range):
            return self.members.index(index) if index in self.members else None
        return self._places.get(index)

    def texts(self) -> tuple[str, ...]:
        """The texts of the indices in names of elements."""
        return self.labels if self.labels is not None else tuple(map(str, self.members))

    def part(self, places: list[int]) -> Axis:
        """The axis of some of the places."""
        labels = None if self.labels is None else tuple([self.labels[place] for place in places])
        chosen = tuple([self.members[place] for place in places])
        if labels is None and chosen and chosen == tuple(range(chosen[0], chosen[0] + len(chosen))):
            return Axis(range(chosen[0], chosen[0] + len(chosen)))
        return Axis(chosen, labels, self.enumeration)

    def constants(self) -> Iterator[Const]:
        """The indices as constants, those of an enumeration as its words."""
        words = None if self.enumeration is None else self.enumeration.members
        return iter([Const(index) if words is None else words[index] for index in self.members])

    def __str__(self) -> str:
        members = self.members
        if self.labels is not None:
            return "{" + ", ".join(self.labels[:6]) + (", …" if len(self.labels) > 6 else "") + "}"
        if isinstance(members, range) and members.step == 1:
            return f"{members.start}..{members.stop - 1}"
        return "{" + ", ".join(map(str, members[:6])) + (", …" if len(members) > 6 else "") + "}"


class Array:
    """An array of expressions and fractions over index sets.

    Attributes:
        axes: The index sets.
        entries: The elements in row-major order.
    """

    def __init__(self, axes: tuple[Axis, ...], entries: tuple[Number, ...]) -> None:
        self.axes = axes
        self.entries = entries

    @cached_property
    def integers(self) -> tuple[IntExpr, ...] | None:
        """The elements where none is a fraction; None for an array with fractions."""
        return None if has_fractions(self) else cast("tuple[IntExpr, ...]", self.entries)

    @cached_property
    def strides(self) -> tuple[int, ...]:
        """The distance between neighbours along each axis."""
        after = accumulate([len(axis) for axis in reversed(self.axes)], mul, initial=1)
        return tuple(islice(after, len(self.axes)))[::-1]

    def parts(self) -> Iterator[Value]:
        """The elements along the first axis: expressions, or arrays of the other axes."""
        if len(self.axes) == 1:
            yield from self.entries
            return
        length = self.strides[0]
        for place in range(len(self.axes[0])):
            yield Array(self.axes[1:], self.entries[place * length : (place + 1) * length])


@dataclass(frozen=True)
class Items:
    """A list that is no list of constants: of expressions, or of lists.

    Attributes:
        items: What it lists.
    """

    items: tuple[Value, ...]


@dataclass(frozen=True)
class Template:
    """A function of the text: its body is read anew in each call.

    Attributes:
        name: Its name.
        parameters: Names of its parameters.
        body: The tree of its body.
        source: The text that the tree is of.
    """

    name: str
    parameters: tuple[str, ...]
    body: Node
    source: Source


Value: TypeAlias = (
    "IntExpr | tuple[int, ...] | Domain | Array | Items | EnumerationType | Template | Rational"
)
"""The meaning of a name or argument; a tuple is a list or set of constants, a Domain a range."""
Number: TypeAlias = "IntExpr | Rational"
"""A number or condition, or a fraction."""

KINDS: dict[type, str] = {
    tuple: "a sequence",
    Domain: "a range",
    Array: "an array",
    Items: "a list",
    EnumerationType: "an enumeration",
    Template: "a function",
}


def kind_of(value: Value) -> str:
    """The kind of a value, with its article, for messages."""
    return next((kind for each, kind in KINDS.items() if isinstance(value, each)), "a number")


def is_number(value: object) -> TypeGuard[Number]:
    """Whether a value is a number, a condition or a fraction."""
    return isinstance(value, IntExpr) or hasattr(value, "numerator")


def has_fractions(value: Value) -> bool:
    """Whether a value is a fraction, or a list or array with fractions in it."""
    if isinstance(value, Items | Array):
        parts = value.items if isinstance(value, Items) else value.entries
        return any(not isinstance(part, IntExpr) and hasattr(part, "numerator") for part in parts)
    return not isinstance(value, IntExpr) and hasattr(value, "numerator")


def names_of_elements(name: str, axes: tuple[Axis, ...]) -> Iterator[str]:
    """The names of the elements of an array in row-major order: `x[1,2]`, `x[red]`."""
    for place in product(*[axis.texts() for axis in axes]):
        yield f"{name}[{','.join(place)}]"
