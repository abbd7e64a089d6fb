"""A loaded candidate of a backend: it can be run, checked and timed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from kerneltune.errors import RunError
from kerneltune.messages import Built, Facts, Order
from kerneltune.running.verify import Verdict

POISONS = (
    0xFF,
    0x5A,
    0xC3,
)  # bytes of outputs before a run, in turn: what is not written differs between runs


class Loaded(Protocol):
    """One candidate, ready to run."""

    def run(self, poison: int) -> None:
        """Fill the outputs with a byte, restore the arrays that are read and written, run once and wait."""

    def check(self) -> Verdict:
        """Compare the outputs with the expected ones; raises `RunError` for writes outside the outputs."""

    def keep(self) -> None:
        """Keep the outputs of the last run."""

    def same(self) -> bool:
        """Whether the outputs of the last run have the bits that were kept."""

    def time(self, count: int, *, flush: bool, warm_up: int) -> list[float]:
        """Milliseconds of each of ``count`` runs."""

    def close(self) -> None:
        """Free its memory and its code."""


@runtime_checkable
class Readable(Protocol):
    """A candidate whose outputs can be read to the host."""

    def read(self) -> dict[str, NDArray[Any]]:
        """The outputs of the last run by name."""


class Backend(Protocol):
    """A device, or a stand-in for one, with the arguments of a case."""

    @property
    def facts(self) -> Facts:
        """The device."""

    def load(self, order: Order, built: Built | None) -> Loaded:
        """Make a candidate ready; raises `RunError` if the device refuses it."""


class Judging(Protocol):
    """A case, which knows the right outputs."""

    def judge(self, results: Mapping[str, NDArray[np.generic]]) -> Verdict:
        """The verdict on outputs by name."""


JudgingT = TypeVar("JudgingT", bound=Judging)


class HostChecks(Generic[JudgingT]):
    """Checks of outputs that are read to the host; a class of `Loaded` that has `read`."""

    case: JudgingT
    _kept: dict[str, NDArray[np.generic]]

    def read(self) -> dict[str, NDArray[Any]]:
        """The outputs of the last run by name."""
        raise NotImplementedError

    def check(self) -> Verdict:
        """Compare the outputs of the last run with the expected ones."""
        return self.case.judge(self.read())

    def keep(self) -> None:
        """Keep the outputs of the last run."""
        self._kept = {name: array.copy() for name, array in self.read().items()}

    def same(self) -> bool:
        """Whether the outputs of the last run have the bits that were kept."""
        found = self.read()
        return all(np.array_equal(_bytes(found[name]), _bytes(kept)) for name, kept in self._kept.items())


def _bytes(array: NDArray[np.generic]) -> NDArray[np.uint8]:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def guarded(text: str) -> RunError:
    """The error for a write outside an output."""
    return RunError(f"the kernel wrote outside the array '{text}'")
