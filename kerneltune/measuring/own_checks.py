"""Verification by a function of the user's, as Kernel Tuner has it, beside the checks of guards and bits."""

from __future__ import annotations

import inspect
from collections.abc import Mapping

from kerneltune.errors import RunError
from kerneltune.measuring.case import Case
from kerneltune.measuring.device_checks import DeviceChecks
from kerneltune.measuring.gpu import Gpu
from kerneltune.running.verify import Verdict
from kerneltune.sources.references import resolved


class OwnChecks:
    """The checks of a case with a function `verify(answer, results, atol=…)`.

    Args:
        gpu: The GPU.
        case: The case.
        places: The addresses of its arrays.
        checks: Those of guards and repeated bits.
    """

    def __init__(self, gpu: Gpu, case: Case, places: Mapping[str, int], checks: DeviceChecks) -> None:
        self._gpu, self._case, self._places, self._checks = gpu, case, places, checks
        self._verify = resolved(str(case.verify))
        self.keep, self.same = checks.keep, checks.same

    def verdict(self) -> Verdict:
        """The verdict on the last run; raises `RunError` for a write outside an output, or a wrong result."""
        self._checks.verdict()
        answers, results = [], []
        for one in self._case.arguments:
            answers.append(self._case.expected.get(one.name))
            if one.is_output:
                raw = self._gpu.read(self._places[one.name], one.nbytes)
                results.append(raw.view(one.value.dtype).reshape(one.value.shape))
            else:
                results.append(one.value)
        try:
            more = {"atol": self._case.atol} if _takes_atol(self._verify) else {}
            found = self._verify(answers if self._case.expected else None, results, **more)
        except Exception as error:  # the user's function
            raise RunError(f"verify raised {error!r}") from None
        if not found:
            raise RunError(f"wrong result: verify returned {found!r}")
        return Verdict(0.0, 0.0, 0)


def _takes_atol(function: object) -> bool:
    assert callable(function)
    kinds = inspect.signature(function).parameters
    return "atol" in kinds or any(one.kind is one.VAR_KEYWORD for one in kinds.values())
