"""Solutions as users see them: a value for each variable, a set for each set variable."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from constrint.diagrams.terms import OBJECT, Array
from constrint.errors import ModelError

Sets: TypeAlias = Mapping[str, Mapping[object, str]]
"""The set variables by name: for each possible member, the name of its Boolean variable."""
Place: TypeAlias = "int | tuple[tuple[object, int], ...]"
"""The number of a variable, or the members of a set with the numbers of their variables."""
MOST_LISTED = 12  # values that a message lists


class PresentedVariables:
    """The columns that users see.

    Attributes:
        names: Their names: those of the variables, with each set in the place of its first variable.
        places: What each shows.
    """

    def __init__(self, variables: Sequence[str], sets: Sets) -> None:
        """Make it for variables in order, of which some stand for sets."""
        numbers = {name: v for v, name in enumerate(variables)}
        owner = {one: name for name, members in sets.items() for one in members.values()}
        shown: dict[str, Place] = {}
        for v, variable in enumerate(variables):
            name = owner.get(variable)
            if name is None:
                shown[variable] = v
            elif name not in shown:
                shown[name] = tuple([(one, numbers[inside]) for one, inside in sets[name].items()])
        for name, members in sets.items():
            if not members:
                shown[name] = ()
        self.names = tuple(shown)
        self.places = tuple(shown.values())

    def place(self, name: str) -> Place | None:
        """The place of the variable that a name shows; None for a name that shows none."""
        return self.places[self.names.index(name)] if name in self.names else None


def sets_of(pairs: Sequence[tuple[object, int]], columns: Mapping[int, Array], rows: int) -> Array:
    """The column of a set, from those of the Boolean variables of its members."""
    found = np.empty(rows, dtype=OBJECT)
    if not pairs:
        for i in range(rows):
            found[i] = frozenset()
        return found
    inside = np.stack([columns[v] != 0 for _, v in pairs], axis=1)
    patterns, numbers = np.unique(inside, axis=0, return_inverse=True)
    members = [one for one, _ in pairs]
    known = [frozenset(one for one, is_in in zip(members, row, strict=True) if is_in) for row in patterns]
    for i, number in enumerate(numbers.reshape(-1).tolist()):
        found[i] = known[number]
    return found


def members_of(name: str, pairs: Sequence[tuple[object, int]], value: object) -> dict[int, int]:
    """For each Boolean variable of a set whether its member is in a value.

    Raises:
        ModelError: The value is no set, or has what can be no member.
    """
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
        raise ModelError(f"'{name}' is a set, and {value!r} is none: write such as {_example(pairs)}")
    chosen = list(value)
    for one in chosen:
        if not isinstance(one, Hashable) or all(one != member for member, _ in pairs):
            raise ModelError(f"{one!r} can be no member of '{name}'; its possible members: {few(pairs)}")
    return {v: int(any(one == member for one in chosen)) for member, v in pairs}


def set_text(members: frozenset[object]) -> str:
    """A set such as {1, 2}, its members in order where they have one."""
    return f"{{{', '.join(map(str, in_order(members)))}}}"


def in_order(members: frozenset[object]) -> list[Any]:
    """The members of a set, sorted where they have an order."""
    try:
        return sorted(members)
    except TypeError:
        return sorted(members, key=repr)


def _example(pairs: Sequence[tuple[object, int]]) -> str:
    return f"{{{', '.join(repr(one) for one, _ in pairs[:2])}}}"


def few(pairs: Iterable[tuple[object, object]]) -> str:
    """The first of some values, for a message."""
    listed = [one for one, _ in pairs]
    return ", ".join(map(repr, listed[:MOST_LISTED])) + (", …" if len(listed) > MOST_LISTED else "")


def name_of(key: object) -> str:
    """The name of a variable, an enumeration or a set, or the name itself."""
    name = key if isinstance(key, str) else getattr(key, "name", None)
    if not isinstance(name, str):
        raise ModelError(f"{key!r} names no variable: give a name, a variable, an enumeration or a set")
    return name


def names_of(keys: object) -> list[str]:
    """The names of a list of variables and arrays of them."""
    if isinstance(keys, str) or not isinstance(keys, Iterable):
        raise ModelError(f"give a list of names, such as [{keys!r}]")
    found: list[str] = []
    for key in keys:
        if getattr(key, "shape", ()) != ():  # an array of variables
            found += [name_of(one) for one in key.flat]
        else:
            found.append(name_of(key))
    return found
