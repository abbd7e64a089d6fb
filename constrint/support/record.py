"""Immutable classes with slots, and the names that objects offer to completion.

The classes are like `dataclass(frozen=True, slots=True)`, but without generated methods.

A dataclass generates and compiles some seven methods, 0.4 ms for each class: with the nodes of expressions
and constraints, a quarter of the import time of this package. Here all classes share their methods, except
`__init__`, which is chosen by the number of fields.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from types import FunctionType
from typing import Any, NoReturn, TypeVar, dataclass_transform

Class = TypeVar("Class", bound=type)
Setter = Callable[[Any, Any], None]


def _init_1(set_a: Setter) -> Callable[..., None]:
    def __init__(self: object, a: object) -> None:  # noqa: N807 - it becomes one
        set_a(self, a)

    return __init__


def _init_2(set_a: Setter, set_b: Setter) -> Callable[..., None]:
    def __init__(self: object, a: object, b: object) -> None:  # noqa: N807 - as above
        set_a(self, a)
        set_b(self, b)

    return __init__


def _init_3(set_a: Setter, set_b: Setter, set_c: Setter) -> Callable[..., None]:
    def __init__(self: object, a: object, b: object, c: object) -> None:  # noqa: N807 - as above
        set_a(self, a)
        set_b(self, b)
        set_c(self, c)

    return __init__


def _init_4(set_a: Setter, set_b: Setter, set_c: Setter, set_d: Setter) -> Callable[..., None]:
    def __init__(self: object, a: object, b: object, c: object, d: object) -> None:  # noqa: N807 - as above
        set_a(self, a)
        set_b(self, b)
        set_c(self, c)
        set_d(self, d)

    return __init__


def _init_5(set_a: Setter, set_b: Setter, set_c: Setter, set_d: Setter, set_e: Setter) -> Callable[..., None]:
    def __init__(self: object, a: object, b: object, c: object, d: object, e: object) -> None:  # noqa: N807 - as above
        set_a(self, a)
        set_b(self, b)
        set_c(self, c)
        set_d(self, d)
        set_e(self, e)

    return __init__


_INITS: dict[int, Callable[..., Callable[..., None]]] = {
    1: _init_1,
    2: _init_2,
    3: _init_3,
    4: _init_4,
    5: _init_5,
}


def refuse(self: object, name: str, value: object = None) -> NoReturn:
    """Raise `AttributeError`: the object is immutable."""
    raise AttributeError(f"{name!r} of {type(self).__name__} cannot be changed: it is immutable")


def shown(self: Any) -> str:
    """The class and fields of an object as text."""
    shown = ", ".join([f"{name}={getattr(self, name)!r}" for name in self.__match_args__])
    return f"{type(self).__qualname__}({shown})"


def _equal(self: Any, other: Any) -> Any:
    if type(other) is not type(self):
        return NotImplemented
    return self._fields_of(self) == self._fields_of(other)


def _hash(self: Any) -> int:
    return hash(self._fields_of(self))


def _reduce(self: Any) -> tuple[Any, ...]:
    """How a copy or a pickle is made: by the class and its fields, and its state where it has one."""
    made = type(self), tuple([getattr(self, name) for name in self.__match_args__])
    state = self.__getstate__() if hasattr(self, "__setstate__") else None
    return made if state is None else (*made, state)


@dataclass_transform(frozen_default=True)
def record(*, eq: bool = True) -> Callable[[Class], Class]:
    """Turn a class of one to five annotated fields into an immutable one with slots.

    Args:
        eq: Whether instances with equal fields are equal and have equal hashes; otherwise equality is
            inherited.
    """

    def made(cls: Class) -> Class:
        space = dict(cls.__dict__)
        names = [name for name, kind in cls.__annotations__.items() if not str(kind).startswith("ClassVar")]
        defaults = [space.pop(name) for name in names if name in space]
        for name in ("__dict__", "__weakref__"):
            space.pop(name, None)
        space |= {"__slots__": tuple(names), "__match_args__": tuple(names), "__reduce__": _reduce}
        space |= {"__setattr__": refuse, "__delattr__": refuse}
        if getattr(cls, "__repr__", None) is object.__repr__:  # neither its own nor inherited
            space["__repr__"] = shown
        if eq:
            space |= {"__eq__": _equal, "__hash__": _hash, "_fields_of": attrgetter(*names)}
        slotted: Any = type(cls)(cls.__name__, cls.__bases__, space)
        setters = [slotted.__dict__[name].__set__ for name in names]
        init: Any = _INITS[len(names)](*setters)
        code = init.__code__.replace(co_varnames=("self", *names))
        slotted.__init__ = FunctionType(code, globals(), "__init__", tuple(defaults), init.__closure__)
        return slotted  # type: ignore[no-any-return] # it is of the class's own kind

    return made


def public_names(self: object) -> list[str]:
    """The names of an object that are for users; stands as `__dir__` of its class.

    A class lists the names that are not in `_internal`; or those that are in `_offered`, where its subclasses
    have many fields of their own.
    """
    offered = _listed(self, "_offered")
    internal = _listed(self, "_internal") | _listed(self, "_answered")
    return [
        name
        for name in object.__dir__(self)
        if name not in internal and (name.startswith("_") or not offered or name in offered)
    ]


def _listed(instance: object, what: str) -> set[str]:
    """The names that the classes of an object list under a name."""
    return {name for cls in type(instance).__mro__ for name in vars(cls).get(what, ())}
