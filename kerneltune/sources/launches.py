"""Launches that follow the first one with the same parameters: split sums and their reduction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from kerneltune.errors import InputError, nearest
from kerneltune.sources.arguments import Argument
from kerneltune.sources.numbers import Configuration, Number

AXES = ("x", "y", "z")


@dataclass(frozen=True)
class Then:
    """A launch that follows.

    Attributes:
        entry: The kernel's name in the same source, with template arguments that may name parameters.
        grid: Blocks along x, y and z; a 0 leaves the launch out.
        block: Threads along x, y and z.
        shared_memory: Dynamic shared memory of a block in bytes.
        takes: The names of its arguments, in its order; None: all of the first launch's.
    """

    entry: str
    grid: Number | Sequence[Number]
    block: Number | Sequence[Number]
    shared_memory: Number | None = None
    takes: Sequence[str] | None = None


def numbers_of(then: Sequence[Then]) -> dict[str, Number]:
    """The numbers of launches that follow, named by their place."""
    found: dict[str, Number] = {}
    for place, one in enumerate(then, 1):
        for what, given in (("grid", one.grid), ("block", one.block)):
            listed: list[Any] = list(given) if isinstance(given, list | tuple) else [given]
            if not 1 <= len(listed) <= len(AXES):
                raise InputError(f"then: {one.entry}: {what} has one to three numbers, for x, y and z")
            found |= {f"then{place}_{what}_{axis}": n for axis, n in zip(AXES, listed, strict=False)}
        if one.shared_memory is not None:
            found[f"then{place}_shared_memory"] = one.shared_memory
    return found


def next_kernels(
    then: Sequence[Then], arguments: Sequence[Argument]
) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """The kernels of launches that follow, with the places of their arguments."""
    every = [one.name for one in arguments]
    return tuple(
        (one.entry, places_of(every if one.takes is None else one.takes, arguments, f"then: {one.entry}"))
        for one in then
    )


def taken(
    takes: Sequence[str] | Callable[[Configuration], Sequence[str]], arguments: Sequence[Argument]
) -> tuple[int, ...] | Callable[[Configuration], tuple[int, ...]]:
    """The places of the arguments that the first launch takes, or a function that gives them."""
    if not callable(takes):
        return places_of(takes, arguments, "takes")
    return lambda configuration: places_of(takes(configuration), arguments, "takes")


def places_of(names: Sequence[str], arguments: Sequence[Argument], where: str) -> tuple[int, ...]:
    """The places of arguments by name; raises `InputError` for a name that there is not."""
    places = {one.name: place for place, one in enumerate(arguments)}
    for name in names:
        if name not in places:
            raise InputError(f"{where}: there is no argument '{name}': {nearest(name, places)}")
    return tuple(places[name] for name in names)
