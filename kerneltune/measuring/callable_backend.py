"""Python callables that are measured by a timer: anything that a machine can run."""

from __future__ import annotations

import inspect
import math
import platform
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kerneltune.errors import InputError, RunError
from kerneltune.measuring.case import Case
from kerneltune.measuring.loaded import HostChecks
from kerneltune.messages import Built, Facts, Order
from kerneltune.sources.arguments import NUMBER
from kerneltune.sources.references import resolved

Timer = Callable[[Callable[[], object]], float]


class CallableBackend:
    """Calls of Python functions in this process.

    A function takes the parameters by name, and the case's arrays before them, if it has any.

    Args:
        case: The arguments.
        function: The function; None: orders name it.
        timer: Times a call in milliseconds; None: Python's clock does.
    """

    def __init__(
        self, case: Case, function: Callable[..., object] | None = None, timer: Timer | None = None
    ) -> None:
        self.case = case
        self._function = function
        self._timer = timer

    @property
    def facts(self) -> Facts:
        """This machine's processor."""
        return Facts(device=platform.processor() or platform.machine() or "a processor")

    def load(self, order: Order, built: Built | None) -> CallableLoaded:
        """A function with the values of its parameters."""
        function = self._function or resolved(order.source)
        timer = self._timer
        if timer is None and order.timer:
            timer = resolved(order.timer)
        return CallableLoaded(self.case, function, order.configuration, timer, order.tells)


class CallableLoaded(HostChecks[Case]):
    """One configuration of a function.

    Args:
        case: The arguments.
        function: The function.
        configuration: The values of its parameters.
        timer: Times a call.
        tells: Whether the function itself returns its time in milliseconds.
    """

    def __init__(
        self,
        case: Case,
        function: Callable[..., object],
        configuration: Mapping[str, object],
        timer: Timer | None,
        tells: bool,
    ) -> None:
        self.case = case
        self._function, self._configuration, self._tells = function, configuration, tells
        self._timer = timer
        self._arrays = [one.value if one.kind == NUMBER else np.array(one.value) for one in case.arguments]
        try:
            inspect.signature(function).bind(*self._arrays, **configuration)
        except TypeError as error:
            raise InputError(f"the function cannot be called with the parameters: {error}") from None
        except ValueError:
            pass  # a function of C says nothing of its parameters

    def run(self, poison: int) -> None:
        """Poison the outputs, restore the arrays that are read and written, and call once."""
        if self._tells and not self.case.outputs:
            return
        for place, one in enumerate(self.case.arguments):
            if one.kind == "out":
                self._arrays[place].view(np.uint8)[...] = poison
            elif one.kind == "inout":
                self._arrays[place][...] = one.value
        self._call()

    def read(self) -> dict[str, NDArray[Any]]:
        """The outputs."""
        return {
            one.name: self._arrays[place] for place, one in enumerate(self.case.arguments) if one.is_output
        }

    def _call(self) -> object:
        try:
            return self._function(*self._arrays, **self._configuration)
        except Exception as error:  # the user's function
            raise RunError(f"the function raised {error!r}") from None

    def time(self, count: int, *, flush: bool, warm_up: int) -> list[float]:
        """Milliseconds of calls: by a clock, or as the function returns them."""
        if self._tells:
            return [_number(self._call(), "the function") for _ in range(count)]
        if self._timer is not None:
            timer = self._timer
            return [_number(timer(self._call), "the timer") for _ in range(count)]
        for _ in range(warm_up):
            self._call()
        found = []
        for _ in range(count):
            started = perf_counter()
            self._call()
            found.append(max(1e3 * (perf_counter() - started), 1e-6))
        return found

    def close(self) -> None:
        """Nothing is held."""


def _number(value: Any, what: str) -> float:
    try:
        found = float(value)
    except (TypeError, ValueError):
        raise RunError(f"{what} returned {value!r}, which is no time in milliseconds") from None
    if not 0 < found < math.inf:
        raise RunError(f"{what} returned {value!r}, which is no time in milliseconds")
    return found
