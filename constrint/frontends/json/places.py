"""Places in a JSON document: values are checked and counted there, and errors name the place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from constrint.errors import ModelError, shown
from constrint.expr import BoolExpr, IntExpr
from constrint.expr.domain import Domain
from constrint.support.limits import Budget

Json: TypeAlias = Any


class JsonPlace:
    """A place in a document.

    Args:
        filename: Name of the document.
        key: Name or number of the place in its parent; empty for the whole document.
        parent: The enclosing place.
        budget: The limits of reading; those of the parent, if there is one.
    """

    __slots__ = ("_key", "_parent", "budget", "filename")

    def __init__(
        self,
        filename: str,
        key: str | int = "",
        parent: JsonPlace | None = None,
        budget: Budget | None = None,
    ) -> None:
        self.filename = filename
        self._key = key
        self._parent = parent
        self.budget: Budget = budget or (Budget() if parent is None else parent.budget)

    def at(self, key: str | int) -> JsonPlace:
        """The place of a member, by its name, or of an item, by its number."""
        return JsonPlace(self.filename, key, self, self.budget)

    @property
    def path(self) -> str:
        """The path to the place, such as ``constraints[3].expr``."""
        keys: list[str] = []
        place: JsonPlace | None = self
        while place is not None:
            key = place._key
            keys.append(f"[{key}]" if isinstance(key, int) else f".{key}")
            place = place._parent
        return "".join(reversed(keys)).lstrip(".")

    def __str__(self) -> str:
        path = self.path
        return f"{self.filename}: {shown(path)}" if path else self.filename

    def error(self, message: str) -> ModelError:
        """An error at this place."""
        return ModelError(f"{self}: {shown(message)}")

    def object(self, value: Json, required: Sequence[str], optional: Sequence[str] = ()) -> dict[str, Json]:
        """An object with these members."""
        if not isinstance(value, dict):
            raise self.error(f"an object is needed here, not {_kind(value)}")
        for name in required:
            if name not in value:
                raise self.error(f"'{name}' is missing")
        for name in value:
            if name not in required and name not in optional:
                raise self.error(f"'{name}' is unknown here")
        return value

    def array(self, value: Json) -> list[Json]:
        """An array."""
        if not isinstance(value, list):
            raise self.error(f"an array is needed here, not {_kind(value)}")
        return value

    def items(self, value: Json) -> Iterator[tuple[JsonPlace, Json]]:
        """The items of an array with their places."""
        for i, item in enumerate(self.array(value)):
            yield self.at(i), item

    def text(self, value: Json) -> str:
        """A string without lone surrogates."""
        if not isinstance(value, str):
            raise self.error(f"a string is needed here, not {_kind(value)}")
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            raise self.error(f"a lone surrogate is not a character, as in '{value}'") from None
        return value

    def integer(self, value: Json) -> int:
        """An integer, or a hexadecimal one as a string."""
        if isinstance(value, str) and value.lstrip("-").startswith("0x"):
            self.budget.digits(value, self.__str__)
            try:
                return int(value, 16)
            except ValueError:
                raise self.error(f"{value!r} is not a hexadecimal number") from None
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.error(f"an integer is needed here, not {_kind(value)}")
        return value

    def integers(self, value: Json) -> list[int]:
        """An array of integers."""
        self.budget.values(len(self.array(value)), self.__str__)
        if all(type(item) is int for item in value):
            return list(value)
        return [place.integer(item) for place, item in self.items(value)]

    def domain(self, value: Json) -> Domain:
        """A set of integers: an array, or an object with bounds."""
        if isinstance(value, list):
            return Domain.of_values(self.integers(value))
        bounds = self.object(value, required=("lo", "hi"), optional=("step",))
        lo, hi = (None if bounds[key] is None else self.at(key).integer(bounds[key]) for key in ("lo", "hi"))
        step = self.at("step").integer(bounds.get("step", 1))
        if step < 1 or (step > 1 and lo is None and hi is None):
            raise self.error("a step is at least 1 and needs a bound to count from")
        return Domain.of_range(lo, hi, step)

    def condition(self, expr: IntExpr) -> BoolExpr:
        """A condition."""
        if not isinstance(expr, BoolExpr):
            raise self.error("a condition is needed here, not a number")
        return expr


def _kind(value: Json) -> str:
    if value is None:
        return "null"
    names = {dict: "an object", list: "an array", str: "a string", bool: "a truth value", int: "an integer"}
    return names.get(type(value), type(value).__name__)
