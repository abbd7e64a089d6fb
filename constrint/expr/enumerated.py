"""Expressions whose values are the user's own, such as strings: enumeration variables and what selects them.

Such an expression is an integer expression that numbers its values. Labels become numbers here, in
comparisons and in the arguments of functions, and numbers become labels in `EnumExpr.evaluate`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import islice
from types import GenericAlias
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NoReturn, TypeAlias, TypeVar, Union

from constrint.errors import ModelError
from constrint.expr.arithmetic.arguments import flat
from constrint.expr.arithmetic.choices import Element, IfThenElse, Selection, element_of
from constrint.expr.base import Assignment, BoolExpr, IntExpr, IntLike
from constrint.expr.build import as_expr, placed
from constrint.expr.conditions import And, Comparison, Member, Not, Or
from constrint.expr.domain import Domain, EnumDomain, Label, labels_of_all
from constrint.expr.integers import Const, IntVar
from constrint.support.arguments import with_other_names
from constrint.support.record import public_names

if TYPE_CHECKING:
    from typing_extensions import TypeVar as TypeVarWithDefault

    from constrint.expr.arrays import ExprArray

    Value = TypeVarWithDefault("Value", bound=Hashable, default=Any, covariant=True)
else:
    Value = TypeVar("Value")

MOST_LISTED = 12  # values that a message lists
Valued: TypeAlias = Union[IntLike, "EnumExpr", "ExprArray[Any]"]
"""A number, or an enumeration variable, or an array of them: what constraints on values take."""
Comparing: TypeAlias = "Callable[[EnumExpr, object], BoolExpr]"


def listed_values(values: Iterable[object]) -> str:
    """Values for a message, the first of many."""
    first = list(islice(values, MOST_LISTED + 1))
    return ", ".join(map(repr, first[:MOST_LISTED])) + (", …" if len(first) > MOST_LISTED else "")


def distinct(values: Iterable[Hashable], what: str) -> tuple[object, ...]:
    """The values as a tuple; raises `ModelError` unless they are hashable, some, and each there once."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ModelError(f'{what} must be a list, not {values!r}: write such as ["red", "green"]')
    listed = tuple(values)
    for value in listed:
        if not isinstance(value, Hashable) or isinstance(value, IntExpr | EnumExpr):
            raise ModelError(f"{what} are constants, such as strings and integers, not {value!r}")
    if len(set(listed)) < len(listed):
        twice = next(value for i, value in enumerate(listed) if value in listed[:i])
        raise ModelError(f"{what} have {twice!r} twice: give each once")
    return listed


def _comparison(symbol: str) -> Comparing:
    return lambda self, other: self._compared(symbol, other)


@with_other_names
class EnumExpr(Generic[Value]):
    """An expression whose value is one of several values of the user's, such as strings.

    ``==`` and ``!=`` compare with a value or another enumeration, ``<`` and so on compare by the order of the
    values.

    Attributes:
        values: Its values in order.
        index: The integer expression: the number of its value in `values`, from 0.
    """

    __slots__ = ("_places", "index", "values")
    _internal: tuple[str, ...] = ("place", "text")
    __dir__ = public_names

    if not TYPE_CHECKING:
        __class_getitem__ = classmethod(GenericAlias)  # the argument may be left out, as checkers allow

    def __init__(self, values: tuple[Value, ...], index: IntExpr) -> None:
        self.values = values
        self.index = index
        self._places = {value: place for place, value in enumerate(values)}

    @property
    def text(self) -> str:
        """The expression in messages."""
        return f"'{getattr(self, 'name', None) or self.index}'"

    def evaluate(self, assignment: Assignment) -> Value:
        """The value under an assignment of the variables."""
        return self.values[self.index.evaluate(assignment)]

    def place(self, value: Any) -> int:
        """The number of a value; raises `ModelError` if it is none of them."""
        if isinstance(value, IntExpr):
            raise ModelError(
                f"{self.text} has values such as {self.values[0]!r}, and `{value}` is a number: write .index "
                "for the number of a value, or .map({…}) for numbers of your own"
            )
        if not isinstance(value, Hashable) or value not in self._places:
            raise ModelError(f"{self.text} has no value {value!r}; it has: {listed_values(self.values)}")
        return Label(self._places[value], self.values)

    def is_in(self, values: Iterable[Hashable]) -> BoolExpr:
        """The condition that the value is one of these."""
        chosen = distinct(values, f"the values to compare {self.text} with")
        return placed(Member(self.index, Domain.of_values([self.place(value) for value in chosen])))

    def map(self, numbers: Mapping[Any, IntLike]) -> IntExpr:
        """The number that belongs to the value, such as its cost: ``color.map({"red": 3, "green": 5})``.

        The numbers may be expressions. Values that the variable does not have are of no account.
        """
        if not isinstance(numbers, Mapping):
            raise ModelError(f"`map` takes a number for each value, such as {{{self.values[0]!r}: 3, …}}")
        missing = [value for value in self.values if value not in numbers]
        if missing:
            raise ModelError(f"{self.text} has the value {missing[0]!r}, for which no number is given")
        found: IntExpr = element_of([numbers[value] for value in self.values], self.index)
        return found

    def _compared(self, operator: str, other: object) -> BoolExpr:
        if getattr(other, "shape", ()) != ():
            return NotImplemented  # type: ignore[no-any-return] # as operators do
        if isinstance(other, EnumExpr):
            if other.values == self.values:
                return placed(Comparison(operator, self.index, other.index))
            if operator not in ("==", "!="):
                raise ModelError(f"{self.text} and {other.text} have other values: their order differs")
            equal = _same_value(self, other)
            return placed(equal if operator == "==" else Not(equal))
        return placed(Comparison(operator, self.index, Const(self.place(other))))

    __lt__ = _comparison("<")
    __le__ = _comparison("<=")
    __gt__ = _comparison(">")
    __ge__ = _comparison(">=")
    __eq__: ClassVar[Comparing] = _comparison("==")  # type: ignore[assignment] # it builds a condition
    __ne__: ClassVar[Comparing] = _comparison("!=")  # type: ignore[assignment] # it builds a condition
    __hash__ = object.__hash__

    def _no_number(self, *others: object) -> NoReturn:
        raise ModelError(not_a_number(self))

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __neg__ = __pos__ = __abs__ = _no_number
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = _no_number
    if not TYPE_CHECKING:  # it is no integer, to checkers either
        __index__ = _no_number

    def __bool__(self) -> NoReturn:
        raise ModelError(f"{self.text} has no value while the model is built: compare it, such as `… == …`")

    def __repr__(self) -> str:
        return f"{self.text[1:-1]} in {{{', '.join(map(repr, self.values))}}}"

    def _repr_html_(self) -> str:
        from html import escape

        return f"<code>{escape(repr(self))}</code>"


def not_a_number(value: EnumExpr) -> str:
    """The message for an enumeration where a number is needed."""
    return (
        f"{value.text} is an enumeration, and a number is needed here: write .map({{{value.values[0]!r}: 3, "
        "…}) for a number of each value, or .index for the number of its value, from 0"
    )


def _same_value(one: EnumExpr, other: EnumExpr) -> BoolExpr:
    """The condition that two enumerations with different lists of values are equal."""
    ways = [
        And(
            (
                Comparison("==", one.index, Const(one.place(value))),
                Comparison("==", other.index, Const(other.place(value))),
            )
        )
        for value in one.values
        if value in other.values
    ]
    return Or(tuple(ways))


def labels_of(expr: IntExpr) -> tuple[Any, ...] | None:
    """The labels whose numbers an expression has; None for one that has other numbers."""
    if type(expr) is IntVar:
        return expr.domain.labels if type(expr.domain) is EnumDomain else None
    if type(expr) is Const:
        return expr.value.labels if isinstance(expr.value, Label) else None
    if type(expr) is Element:
        return labels_of_all(expr.values)
    chosen: tuple[IntExpr, ...] = ()
    if type(expr) is Selection:
        chosen = expr.entries
    elif type(expr) is IfThenElse:
        chosen = (expr.then, expr.otherwise)
    found = labels_of(chosen[0]) if chosen else None
    return found if found is not None and all(labels_of(one) == found for one in chosen[1:]) else None


class Numbers:
    """One numbering of the values of several enumerations, for a constraint on all of them.

    Attributes:
        values: The values in order.
    """

    def __init__(self, members: Sequence[EnumExpr]) -> None:
        self._first = members[0]
        merged = dict.fromkeys([value for one in members for value in one.values])
        self.values = self._first.values if len(merged) == len(self._first.values) else tuple(merged)
        self._places = {value: place for place, value in enumerate(self.values)}

    def of(self, value: Any) -> Any:
        """The expression of an enumeration in this numbering; the number of a label.

        Raises:
            ModelError: It is a number expression, or no value of the enumerations.
        """
        if isinstance(value, EnumExpr):
            if value.values == self.values:
                return value.index
            return Element(
                tuple([Label(self._places[one], self.values) for one in value.values]), value.index
            )
        if isinstance(value, IntExpr) or not isinstance(value, Hashable) or value not in self._places:
            self._first.place(value)  # raises: what no enumeration has, the first one lacks, too
        return Label(self._places[value], self.values)


def numbers_of(values: Iterable[object], *, ordered: bool = False) -> Numbers | None:
    """The common numbering of the enumerations among values; None where there is none.

    Args:
        values: Enumerations, numbers and labels.
        ordered: Whether the order of the values counts: the enumerations then have one list.
    """
    members = [one for one in values if isinstance(one, EnumExpr)]
    if not members:
        return None
    found = Numbers(members)
    other = next((one for one in members if ordered and one.values != members[0].values), None)
    if other is not None:
        raise ModelError(
            f"{members[0].text} and {other.text} have other values: their order differs. Declare both with "
            "one list"
        )
    return found


def coded(*parts: Any, ordered: bool = False) -> tuple[Any, ...]:
    """Arguments with numbers in place of enumerations and their labels; without enumerations, as they are.

    Args:
        *parts: Lists and single arguments.
        ordered: As for `numbers_of`.
    """
    kept = [list(flat(part)) if _is_list(part) else part for part in parts]
    every = [one for part in kept for one in (part if type(part) is list else (part,))]
    numbers = numbers_of(every, ordered=ordered)
    if numbers is None:
        return tuple(kept)
    return tuple(
        [[numbers.of(one) for one in part] if type(part) is list else numbers.of(part) for part in kept]
    )


def _is_list(part: object) -> bool:
    return isinstance(part, Iterable) and not isinstance(part, str | IntExpr | Mapping | Domain)


def coded_rows(values: Iterable[Any], rows: Iterable[Any]) -> tuple[list[Any], Any]:
    """The values of a table and its rows, with numbers in place of enumerations and labels, by column.

    In rows, None and "*" stay, which stand for any value, unless the column has such a label.
    """
    kept = list(flat(values))
    columns = [(k, numbers) for k, one in enumerate(kept) if (numbers := numbers_of([one])) is not None]
    if not columns:
        return kept, rows
    listed = [list(row) if isinstance(row, Iterable) and not isinstance(row, str) else row for row in rows]
    for row in listed:
        if isinstance(row, list) and len(row) == len(kept):
            for k, numbers in columns:
                is_any = (row[k] is None or row[k] == "*") and row[k] not in numbers.values
                row[k] = row[k] if is_any else numbers.of(row[k])
    for k, numbers in columns:
        kept[k] = numbers.of(kept[k])
    return kept, listed


def position(index: Any, labels: Sequence[object] | None, count: int) -> Any:
    """The place that an index selects along an axis: of an enumeration, the number of its value.

    Args:
        index: An enumeration; anything else is returned as it is.
        labels: The labels of the axis, or None where it has none.
        count: The length of the axis.
    """
    if not isinstance(index, EnumExpr):
        return index
    if labels is None:
        if len(index.values) != count:
            raise ModelError(
                f"{index.text} has {len(index.values)} values, and selects one of {count} elements: give one "
                "for each value in their order, or a dict: .map({…})"
            )
        return index.index
    if index.values == labels:
        return index.index
    missing = [value for value in index.values if value not in labels]
    if missing:
        raise ModelError(
            f"{index.text} has the value {missing[0]!r}, and the axis has no such label; it has: "
            f"{listed_values(labels)}"
        )
    places = {label: place for place, label in enumerate(labels)}
    return Element(tuple([places[value] for value in index.values]), index.index)


def positions(values: Any, axis: Any) -> Any:
    """Values with numbers in place of enumerations that select elements of a list or array.

    Args:
        values: Enumerations and numbers; returned as they are where there is no enumeration.
        axis: What is selected from, such as the other list of `inverse`.
    """
    if not _is_list(values):
        return values
    kept = list(flat(values))
    if not any(isinstance(one, EnumExpr) for one in kept):
        return kept
    labels = getattr(axis, "labels", None)
    axis = axis if hasattr(axis, "__len__") else list(axis)
    return [position(one, labels[0] if labels else None, len(axis)) for one in kept]


def common_numbers(entries: Sequence[object]) -> Numbers | None:
    """The numbering of enumerations and their labels, or of labels alone; None for anything else."""
    numbers = numbers_of(entries)
    if numbers is None and entries and all(isinstance(one, str) for one in entries):
        return Numbers([EnumExpr(tuple(dict.fromkeys(entries)), Const(0))])
    return numbers


def chosen_label(entries: Sequence[object], index: IntExpr) -> EnumExpr | None:
    """The enumeration that selects one of several labels and enumerations; None where there are none."""
    numbers = common_numbers(entries)
    if numbers is None:
        return None
    codes = [as_expr(numbers.of(one)) for one in entries]
    constants = [one.value for one in codes if isinstance(one, Const)]
    chosen = (
        Element(tuple(constants), index) if len(constants) == len(codes) else Selection(tuple(codes), index)
    )
    return EnumExpr(numbers.values, chosen)
