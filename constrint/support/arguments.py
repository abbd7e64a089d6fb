"""Checks of arguments from Python: each error names the argument and what to write."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import TYPE_CHECKING, Any, NoReturn, SupportsIndex, TypeVar

from constrint.errors import ModelError, shown

Cls = TypeVar("Cls", bound=type)


class WithOtherNames:
    """Objects whose errors at names of other solvers show constrint's form."""

    __slots__ = ()

    if not TYPE_CHECKING:  # checkers know the names

        def __getattr__(self, name: str) -> NoReturn:
            from constrint.support.other_names import unknown_attribute

            known = [] if name.startswith("_") else dir(self)  # `dir` asks for `__dict__`
            raise AttributeError(unknown_attribute(type(self).__name__, name, known))


class _OtherName:
    """A name of other solvers on a class of expressions: asking for it is an error with constrint's form.

    A descriptor costs nothing where other attributes are asked for, as `__getattr__` would.
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type) -> NoReturn:
        from constrint.support.other_names import unknown_in_expression

        raise AttributeError(unknown_in_expression(owner.__name__, self.name))


OTHER_NAMES = (
    "lb ub Lb Ub LB UB min max get_lb get_ub get_bounds dom Domain domain value Value values varValue X x "
    "solution_value SolutionValue getValue get_value is_assigned Not negated neg Negated Index index Name "
    "name OnlyEnforceIf only_enforce_if WithName with_name Proto is_bool is_integer setInitialValue Start "
    "start isin in_ IsIn inside abs eq ne le lt ge gt and_ or_ xor Implies then iff mod div pow sum all any"
)
"""Names of other solvers, of variables and expressions."""


def with_other_names(cls: Cls) -> Cls:
    """Let a class of expressions answer the names of other solvers that it does not have."""
    kept = [name for name in OTHER_NAMES.split() if not hasattr(cls, name) and name not in _slots(cls)]
    for name in kept:
        setattr(cls, name, _OtherName(name))
    cls._answered = tuple(kept)  # type: ignore[attr-defined] # see `public_names`
    return cls


def _slots(cls: type) -> set[str]:
    return {name for one in cls.__mro__ for name in getattr(one, "__slots__", ())}


def integer(value: Any, what: str) -> int:
    """An integer, including numpy's; raises `ModelError` for anything else."""
    if type(value) is int:  # the usual case, much cheaper than a protocol check
        return value
    if not isinstance(value, SupportsIndex):
        raise ModelError(f"{what} must be an integer, not {value!r}: write an int, such as {_nearest(value)}")
    try:
        return value.__index__()
    except ModelError:
        raise ModelError(
            f"{what} must be an integer, not an expression: {value!r} has no value yet"
        ) from None


def _nearest(value: Any) -> str:
    try:
        return str(int(value))
    except (TypeError, ValueError, OverflowError):
        return "1"


def integer_list(values: object, what: str) -> list[int]:
    """A list of integers; raises `ModelError` for anything else."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ModelError(f"{what} must be a list of integers, not {values!r}: write such as [1, 2, 4]")
    return [integer(value, f"each of {what}") for value in values]


def check_seconds(time_limit: Any) -> None:
    """Raise `ModelError` unless a time limit is a number of at least 0, or None."""
    if time_limit is None:
        return
    if isinstance(time_limit, bool) or not hasattr(time_limit, "__float__") or time_limit != time_limit:
        raise ModelError(
            f"time_limit must be seconds or None, not {time_limit!r}: write a number, such as 2.5"
        )
    if time_limit < 0:
        raise ModelError(f"time_limit must not be negative, as {time_limit} is: write None for no limit")


def check_bytes(memory_limit: Any) -> None:
    """Raise `ModelError` unless a memory limit is a number or None."""
    if memory_limit is not None and not hasattr(memory_limit, "__float__"):
        raise ModelError(f"memory_limit must be bytes or None, not {memory_limit!r}: write such as 10**9")
    if memory_limit is not None and not memory_limit > 0:
        raise ModelError(f"memory_limit must be positive, not {memory_limit}: write None for no limit")


def check_limit(limit: object) -> None:
    """Raise `ModelError` unless a limit is a number of solutions or None."""
    if limit is not None and integer(limit, "limit") < 0:
        raise ModelError(f"limit must not be negative, as {limit} is: write None for no limit")


def check_flag(value: object, what: str) -> None:
    """Raise `ModelError` unless an option is True or False."""
    if value not in (True, False):
        raise ModelError(f"{what} is True or False, not {value!r}")


def check_function(value: object, what: str) -> None:
    """Raise `ModelError` unless an option is a function or None."""
    if value is not None and not callable(value):
        raise ModelError(f"{what} must be a function of a Result, or None, not {value!r}")


def check_comparable(answer: str, other: object, advice: str) -> None:
    """Raise `ModelError` with the advice if an answer is compared with something that it never equals."""
    if isinstance(other, Enum | int | float | str | list | tuple | dict | set | frozenset):
        raise ModelError(f"{answer} never equals {shown(repr(other))}: {advice}")
