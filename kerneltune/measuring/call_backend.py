"""Configurations of a call with a caller's own arrays, in the caller's process and thread."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from kerneltune.errors import RunError
from kerneltune.measuring.held_arrays import Arrays
from kerneltune.measuring.serving import Server
from kerneltune.messages import Answer, Built, Facts, Failed, Finals, Order, Request, Turns
from kerneltune.running.verify import Verdict
from kerneltune.searching.protocol import Configuration

OUTPUT, RESTORED, ZEROED = "output", "restored", "zeroed"


@dataclass(frozen=True)
class Written:
    """An array that a call writes.

    Attributes:
        array: It.
        copy: Its content before.
        how: What stands in it before each run: `output` (numbers that differ between runs), `restored` (its
            content), `zeroed`.
        tolerance: Bound of the relative L2 error; 0: it must be equal.
    """

    array: Any
    copy: object
    how: str
    tolerance: float


@dataclass
class CallBackend:
    """Calls with one set of arguments.

    Attributes:
        call: Makes a call with a configuration.
        arrays: The arrays' library.
        written: The arrays that it writes, by name.
        expected: What they should have; empty: the first configuration that runs says so.
        timer: Times a call in milliseconds; None: the library does.
    """

    call: Callable[[Configuration], object]
    arrays: Arrays[Any]
    written: Mapping[str, Written]
    expected: dict[str, object]
    timer: Callable[[Callable[[], object]], float] | None = None

    @property
    def facts(self) -> Facts:
        """The device."""
        return Facts(device=self.arrays.device)

    def load(self, order: Order, built: Built | None) -> CalledConfiguration:
        """A configuration."""
        return CalledConfiguration(self, order.configuration)

    def prepare(self, poison: int) -> None:
        """Fill, zero or restore the arrays before a run."""
        for one in self.written.values():
            if one.how == OUTPUT:
                self.arrays.fill(one.array, poison)
            elif one.how == ZEROED:
                self.arrays.zero(one.array)
            else:
                self.arrays.restore(one.array, one.copy)

    def restore(self) -> None:
        """The arrays as they were given."""
        for one in self.written.values():
            self.arrays.restore(one.array, one.copy)


class CalledConfiguration:
    """One configuration of a call."""

    def __init__(self, backend: CallBackend, configuration: Configuration) -> None:
        self._backend, self._configuration = backend, configuration
        self._kept: dict[str, Any] = {}

    def _call(self) -> None:
        try:
            self._backend.call(self._configuration)
        except Exception as error:  # the user's function, Triton's and CuPy's own classes
            lines = str(error).strip().splitlines() or [repr(error)]
            raise RunError(f"the call raised {type(error).__name__}: {lines[0][:300]}") from None

    def run(self, poison: int) -> None:
        """Prepare the arrays, call once and wait."""
        self._backend.prepare(poison)
        self._call()
        self._backend.arrays.wait()

    def check(self) -> Verdict:
        """Compare the arrays with the expected ones."""
        worst = Verdict(0.0, max((one.tolerance for one in self._backend.written.values()), default=0.0), 0)
        for name, expected in self._backend.expected.items():
            one = self._backend.written[name]
            verdict = self._backend.arrays.verdict(one.array, expected, one.tolerance)
            if not verdict.right:
                return verdict
            worst = verdict if verdict.relative_error > worst.relative_error else worst
        return worst

    def keep(self) -> None:
        """Keep the arrays of the last run."""
        written = self._backend.written
        self._kept = {name: self._backend.arrays.copied(one.array) for name, one in written.items()}

    def same(self) -> bool:
        """Whether the arrays have the values that were kept; the first that have them are the reference."""
        arrays, written = self._backend.arrays, self._backend.written
        found = all(arrays.same(kept, written[name].array) for name, kept in self._kept.items())
        if found and not self._backend.expected:
            self._backend.expected.update(self._kept)
        self._kept = {}
        return found

    def time(self, count: int, *, flush: bool, warm_up: int) -> list[float]:
        """Milliseconds of calls."""
        self._backend.prepare(0)
        timer = self._backend.timer
        if timer is not None:
            return [float(timer(self._call)) for _ in range(count)]
        return self._backend.arrays.timed(self._call, count, flush=flush, warm_up=warm_up)

    def close(self) -> None:
        """Nothing is held."""


class InThisThread:
    """Measures where it is called, so that the caller's device and stream are used."""

    slots = depth = 1

    def __init__(self, server: Server) -> None:
        self._server = server

    def submit(
        self, number: int, order: Order, built: Built | None, best: float | None
    ) -> Future[Answer | Failed]:
        """Measure one candidate."""
        done: Future[Answer | Failed] = Future()
        answer = self._server.answer(Request(trial=number, order=order, built=built, best=best))
        assert not isinstance(answer, Turns)
        done.set_result(answer)
        return done

    def in_turns(self, request: Finals) -> Turns | Failed:
        """The times of finalists."""
        answer = self._server.answer(request)
        assert not isinstance(answer, Answer)
        return answer

    def close(self) -> None:
        """Nothing is held."""
