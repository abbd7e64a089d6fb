"""python-constraint's variables and domains: a domain is a list whose values can be hidden temporarily."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


class Variable:
    """A named variable of python-constraint."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


Unassigned = Variable("Unassigned")
"""The value of a variable that is not assigned."""


class Domain(list[Any]):
    """The values of a variable, some of which may be hidden."""

    def __init__(self, set: Iterable[object]) -> None:
        super().__init__(set)
        self._hidden: list[object] = []
        self._states: list[int] = []

    def hideValue(self, value: object) -> None:  # noqa: N802
        """Hide a value until the state is popped."""
        self.remove(value)
        self._hidden.append(value)

    def pushState(self) -> None:  # noqa: N802
        """Save the present values."""
        self._states.append(len(self))

    def popState(self) -> None:  # noqa: N802
        """Restore the values that were hidden since the last push."""
        missing = self._states.pop() - len(self)
        if missing:
            self.extend(self._hidden[-missing:])
            del self._hidden[-missing:]

    def resetState(self) -> None:  # noqa: N802
        """Restore all hidden values."""
        self.extend(self._hidden)
        self._hidden.clear()
        self._states.clear()
