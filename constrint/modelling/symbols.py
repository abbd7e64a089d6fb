"""Variables whose values are the user's own: enumeration variables and set variables.

Both stand on integers. An enumeration variable is an integer variable that numbers its values, a set variable
has a Boolean variable for each possible member. So every call, method and format takes them; results give
back the user's values.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from types import GenericAlias
from typing import TYPE_CHECKING, Any, Generic, TypeAlias

from constrint.errors import ModelError, Undefined
from constrint.expr import (
    And,
    Assignment,
    BoolConst,
    BoolExpr,
    BoolVar,
    Comparison,
    Iff,
    Implies,
    IntExpr,
    IntVar,
    Not,
    Or,
    as_expr,
    placed,
)
from constrint.expr.enumerated import EnumExpr, Value, distinct, listed_values
from constrint.expr.functions import sum_
from constrint.support.record import public_names

Members: TypeAlias = "SetExpr | Iterable[Hashable]"


class EnumVar(EnumExpr[Value]):
    """An enumeration variable; made by `Model.enum_var`.

    Attributes:
        name: Its name.
        index: The integer variable: the number of its value in `values`, from 0.
    """

    __slots__ = ("name",)
    _internal: tuple[str, ...] = ("numbers",)
    index: IntVar

    def __init__(self, name: str, values: tuple[Value, ...], index: IntVar) -> None:
        super().__init__(values, index)
        self.name = name

    @property
    def variables(self) -> tuple[IntVar | BoolVar, ...]:
        """The variables that it stands on."""
        return (self.index,)

    def numbers(self, value: Any) -> dict[str, int]:
        """The values of the variables for a value."""
        return {self.name: self.place(value)}


class SetExpr(Generic[Value]):
    """A set that depends on variables: `|`, `&`, `-`, `^` of sets, and set variables.

    ``==`` and ``!=`` compare sets, ``<=`` and ``>=`` are subset and superset, ``<`` and ``>`` the proper
    ones. The other side may be a set of constants.

    Attributes:
        members: For each possible member, the condition that it is in the set.
    """

    __slots__ = ("members",)
    __dir__ = public_names

    if not TYPE_CHECKING:
        __class_getitem__ = classmethod(GenericAlias)  # the argument may be left out, as checkers allow

    def __init__(self, members: Mapping[Any, BoolExpr]) -> None:
        self.members = dict(members)

    def evaluate(self, assignment: Assignment) -> frozenset[Value]:
        """The set under an assignment of the variables."""
        return frozenset(value for value, inside in self.members.items() if inside.evaluate(assignment))

    @property
    def cardinality(self) -> IntExpr:
        """The number of members."""
        inside: list[IntExpr] = list(self.members.values())
        return sum_(inside)

    def contains(self, value: object) -> BoolExpr:
        """The condition that a value is a member: a constant, an enumeration variable, or an expression."""
        if isinstance(value, EnumExpr):
            ways = [
                And((value == one, inside)) for one, inside in self.members.items() if one in value.values
            ]
            return placed(Or(tuple(ways)))
        if isinstance(value, IntExpr):
            whole = {one: was for one, was in self.members.items() if isinstance(one, int)}
            equal = [And((Comparison("==", value, as_expr(one)), was)) for one, was in whole.items()]
            return placed(Or(tuple(equal)))
        self._check_members([value])
        inside: BoolExpr = self.members.get(value, BoolConst(False))
        return inside

    def _check_members(self, values: Members) -> None:
        """Raise `ModelError` for constants that can be no members of a set variable."""

    def disjoint(self, other: Members) -> BoolExpr:
        """The condition that no value is in both."""
        return placed(Not(Or(tuple((self & other).members.values()))))

    def __and__(self, other: Members) -> SetExpr[Value]:
        right = as_set(other).members
        both = {
            value: And((inside, right[value])) for value, inside in self.members.items() if value in right
        }
        return SetExpr(both)

    __rand__ = __and__

    def __or__(self, other: Members) -> SetExpr[Value]:
        return self._joined(other, lambda one, two: Or((one, two)))

    __ror__ = __or__

    def __xor__(self, other: Members) -> SetExpr[Value]:
        return self._joined(other, lambda one, two: Not(Iff(one, two)))

    __rxor__ = __xor__

    def __sub__(self, other: Members) -> SetExpr[Value]:
        right = as_set(other).members
        return SetExpr(
            {
                value: And((inside, Not(right[value]))) if value in right else inside
                for value, inside in self.members.items()
            }
        )

    def __rsub__(self, other: Members) -> SetExpr[Value]:
        right = as_set(other)
        return SetExpr.__sub__(right, self)

    def _joined(self, other: Members, join: Callable[[BoolExpr, BoolExpr], BoolExpr]) -> SetExpr[Value]:
        right = as_set(other).members
        none = BoolConst(False)
        values = dict.fromkeys([*self.members, *right])
        return SetExpr({one: join(self.members.get(one, none), right.get(one, none)) for one in values})

    def __le__(self, other: Members) -> BoolExpr:
        return _subset(self, as_set(other))

    def __ge__(self, other: Members) -> BoolExpr:
        self._check_members(other)
        return _subset(as_set(other), self)

    def __eq__(self, other: Members) -> BoolExpr:  # type: ignore[override] # it builds a condition
        self._check_members(other)
        return placed(And(tuple(Not(one) for one in (self ^ other).members.values())))

    def __ne__(self, other: Members) -> BoolExpr:  # type: ignore[override] # it builds a condition
        self._check_members(other)
        return placed(Or(tuple((self ^ other).members.values())))

    def __lt__(self, other: Members) -> BoolExpr:
        right = as_set(other)
        return placed(And((_subset(self, right), self != right)))

    def __gt__(self, other: Members) -> BoolExpr:
        self._check_members(other)
        return placed(And((_subset(as_set(other), self), self != other)))

    __hash__ = object.__hash__

    def __contains__(self, value: object) -> bool:
        raise ModelError("`in` needs a truth value now: write `s.contains(value)` for the condition")

    def __len__(self) -> int:
        raise ModelError(
            "the size of a set variable is not known yet: write `s.cardinality` for the expression"
        )

    def __repr__(self) -> str:
        return f"set of {{{', '.join(map(repr, self.members))}}}"


def _subset(left: SetExpr, right: SetExpr) -> BoolExpr:
    """The condition that all members of one set are in another."""
    none = BoolConst(False)
    ways = [Implies(inside, right.members.get(value, none)) for value, inside in left.members.items()]
    return placed(And(tuple(ways)))


class SetVar(SetExpr[Value]):
    """A set variable; made by `Model.set_var`.

    Attributes:
        name: Its name.
        members: For each possible member, the Boolean variable that says whether it is in the set.
    """

    __slots__ = ("name",)
    _internal = ("numbers",)

    def __init__(self, name: str, members: Mapping[Any, BoolVar]) -> None:
        super().__init__(members)
        self.name = name

    @property
    def variables(self) -> tuple[IntVar | BoolVar, ...]:
        """The variables that it stands on."""
        return tuple(one for one in self.members.values() if isinstance(one, BoolVar))

    def contains(self, value: object) -> BoolExpr:
        """The condition that a value is a member: a constant, an enumeration variable, or an expression.

        Raises:
            ModelError: The constant, or no value of the variable, can be a member.
        """
        if isinstance(value, EnumExpr) and not any(one in value.values for one in self.members):
            raise ModelError(f"no value of {value.text} can be a member of '{self.name}': {self._listed()}")
        return super().contains(value)

    def _check_members(self, values: Members) -> None:
        if (
            isinstance(values, SetExpr)
            or not isinstance(values, Iterable)
            or isinstance(values, str | IntExpr)
        ):
            return
        for one in values:
            if not isinstance(one, Hashable) or one not in self.members:
                raise ModelError(f"{one!r} can be no member of '{self.name}'; it may have: {self._listed()}")

    def _listed(self) -> str:
        return listed_values(self.members)

    def numbers(self, value: Any) -> dict[str, int]:
        """The values of the variables for a set of constants."""
        chosen = distinct(value, f"the members of '{self.name}'")
        self._check_members(chosen)
        return {one.name: int(key in chosen) for key, one in zip(self.members, self.variables, strict=True)}


Symbol: TypeAlias = EnumVar | SetVar


def as_set(value: Members) -> SetExpr:
    """The set for an operand: a set itself, or a set of constants."""
    if isinstance(value, SetExpr):
        return value
    if isinstance(value, Iterable) and not isinstance(value, str | IntExpr | Mapping):
        return SetExpr({one: BoolConst(True) for one in distinct(dict.fromkeys(value), "the members")})
    raise ModelError(f"{value!r} is not a set: write a set variable, or a set of constants such as {{1, 2}}")


def in_symbols(
    symbols: Mapping[str, Symbol], values: dict[str, int], assignment: Assignment
) -> dict[str, Any]:
    """The values by name, with those of symbols in place of those of the variables that they stand on.

    Args:
        symbols: The model's enumeration and set variables, by name.
        values: The integers of variables, by name, in the order of the result.
        assignment: Integers by variable, from which symbols are evaluated. Symbols without a variable in
            `values` follow at the end, if the assignment determines them.
    """
    owner = {one.name: symbol for symbol in symbols.values() for one in symbol.variables}
    shown: dict[str, object] = {}
    for name, value in values.items():
        symbol = owner.get(name)
        if symbol is None:
            shown[name] = value
        elif symbol.name not in shown:
            shown[symbol.name] = symbol.evaluate(assignment)
    for name, symbol in symbols.items():
        if name not in shown:
            try:
                shown[name] = symbol.evaluate(assignment)
            except Undefined:
                continue
    return shown
