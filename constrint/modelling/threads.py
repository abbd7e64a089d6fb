"""Models that several threads use: changes are made one at a time, and a call answers for a copy.

So a call sees a model before a change of another thread or after it, never in the middle.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

if TYPE_CHECKING:
    from constrint.modelling.declarations import Declarations

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")
Class = TypeVar("Class", bound="type[Declarations]")


def changed_by(*names: str) -> Callable[[Class], Class]:
    """A class whose methods with these names change a model, one at a time."""

    def guarded(cls: Class) -> Class:
        for name in names:
            setattr(cls, name, _one_at_a_time(getattr(cls, name)))
        return cls

    return guarded


def _one_at_a_time(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def changing(self: Declarations, *args: Any, **named: Any) -> Any:
        with self.lock:
            return method(self, *args, **named)

    return changing


def of_copy(
    call: Callable[Concatenate[Any, Arguments], Answer],
) -> Callable[Concatenate[Any, Arguments], Answer]:
    """The call on a copy of the model: it answers for the model as it is when the call begins."""

    @wraps(call)
    def asked(self: Declarations, /, *args: Arguments.args, **named: Arguments.kwargs) -> Answer:
        return call(self.copy(), *args, **named)

    return asked
