"""Names for formats in which each may stand once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence


def each_once(names: Iterable[str], taken: Collection[str] = (), endings: Sequence[str] = ("",)) -> list[str]:
    """The names, with _2, _3 … behind those that are taken.

    Args:
        names: The names in order.
        taken: Names that are not free.
        endings: A name is free where it is, with each of these endings.
    """
    used = set(taken)
    numbers: dict[str, int] = {}  # of the last candidate: those before it stay taken
    written = []
    for name in names:
        number = numbers.get(name, 1)
        candidate = name if number == 1 else f"{name}_{number}"
        while any(candidate + ending in used for ending in endings):
            number += 1
            candidate = f"{name}_{number}"
        numbers[name] = number
        used.add(candidate)
        written.append(candidate)
    return written
