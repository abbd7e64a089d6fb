"""Models that several threads or processes use.

Changes are made one at a time, and a call answers for a copy: it sees a model before a change of another
thread or after it, never in the middle.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from functools import wraps
from inspect import CO_VARARGS, unwrap
from types import CodeType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, cast

from constrint.expr.walk import inner_first

if TYPE_CHECKING:
    from constrint.expr import IntExpr
    from constrint.modelling.declarations import Declarations

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")
Class = TypeVar("Class", bound="type[Declarations]")


class Shared:
    """Support for copying a model and passing it between processes.

    Attributes:
        lock: The lock of changes and copies.
    """

    lock: threading.RLock

    def __getstate__(self) -> dict[str, Any]:
        """The attributes, after the parts of all expressions: copies and pickles thus need no recursion."""
        model = cast("Declarations", self)
        with self.lock:
            held: list[IntExpr] = [constraint.expr for constraint in (*model.constraints, *model.disabled)]
            held += [expr for expr, _ in (*model.goals, *model.preferences)]
            state = {"parts": [*inner_first([*held, *model.lets.values()])], **self.__dict__}
        del state["lock"]
        return state

    def __setstate__(self, state: dict[str, object]) -> None:
        del state["parts"]
        self.__dict__.update(state)
        self.lock = threading.RLock()


def changed_by(*names: str) -> Callable[[Class], Class]:
    """A class whose methods with these names change a model, one at a time."""

    def guarded(cls: Class) -> Class:
        for name in names:
            setattr(cls, name, _one_at_a_time(getattr(cls, name)))
        return cls

    return guarded


def _one_at_a_time(method: Callable[..., object]) -> Callable[..., object]:
    checked = of_known_keywords(method)

    @wraps(method)
    def changing(self: Declarations, *args: object, **named: object) -> object:
        with self.lock:
            return checked(self, *args, **named)

    return changing


def of_known_keywords(call: Callable[Arguments, Answer]) -> Callable[Arguments, Answer]:
    """The call, whose error for an unknown keyword names the one that is meant."""
    code: CodeType = unwrap(call).__code__
    names = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]  # but `self`
    known = frozenset(names)
    most = code.co_argcount if not code.co_flags & CO_VARARGS else sys.maxsize

    @wraps(call)
    def checked(*args: Arguments.args, **named: Arguments.kwargs) -> Answer:
        try:
            return call(*args, **named)
        except TypeError:  # asked only then: a call costs a third of a microsecond
            if len(args) > most:
                from constrint.support.other_names import too_many_arguments

                raise TypeError(too_many_arguments(call, len(args) - 1, names, most - 1)) from None
            for name in named:
                if name not in known:
                    from constrint.support.other_names import unknown_keyword

                    raise TypeError(unknown_keyword(call, name, names)) from None
            raise

    return checked


def of_copy(
    call: Callable[Concatenate[Any, Arguments], Answer],
) -> Callable[Concatenate[Any, Arguments], Answer]:
    """The call on a copy of the model: it answers for the model as it is when the call begins.

    The error for an unknown keyword names the nearest one.
    """
    checked = of_known_keywords(call)

    @wraps(call)
    def asked(self: Declarations, /, *args: Arguments.args, **named: Arguments.kwargs) -> Answer:
        return checked(self.copy(), *args, **named)

    return asked
