"""python-constraint's variables and domains: a list from which values can be hidden for a while."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


class Variable:
    """A variable by a name of its own, as python-constraint has it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


Unassigned = Variable("Unassigned")
"""What stands for the value of a variable that has none yet."""


class Domain(list[Any]):
    """The values of a variable, some of which may be hidden."""

    def __init__(self, set: Iterable[Any]) -> None:
        super().__init__(set)
        self._hidden: list[Any] = []
        self._states: list[int] = []

    def hideValue(self, value: Any) -> None:  # noqa: N802
        """Take a value out until the state is popped."""
        self.remove(value)
        self._hidden.append(value)

    def pushState(self) -> None:  # noqa: N802
        """Remember which values are there."""
        self._states.append(len(self))

    def popState(self) -> None:  # noqa: N802
        """Bring back what was hidden since the state was pushed."""
        missing = self._states.pop() - len(self)
        if missing:
            self.extend(self._hidden[-missing:])
            del self._hidden[-missing:]

    def resetState(self) -> None:  # noqa: N802
        """Bring back all hidden values."""
        self.extend(self._hidden)
        self._hidden.clear()
        self._states.clear()
