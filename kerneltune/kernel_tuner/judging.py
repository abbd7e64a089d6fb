"""Outputs of a kernel judged as in Kernel Tuner: by answers, by a function of the user's, by observers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kerneltune.errors import InputError, RunError
from kerneltune.kernel_tuner.accuracy import Tunable
from kerneltune.kernel_tuner.launches import chosen, name_of
from kerneltune.kernel_tuner.observers.nvml import ENERGY
from kerneltune.measuring.case import TOLERANCES, compared
from kerneltune.pipeline.judging import Judge


def judge_of(given: Mapping[str, Any]) -> Judge | None:
    """The judge that a call needs in this process; None if the measuring process can compare all outputs."""
    arguments, answer = list(given["arguments"]), given["answer"]
    observers = [one for one in given["observers"] or () if hasattr(one, "process_output")]
    is_tunable = any(isinstance(one, Tunable) for one in (answer, *arguments, *(answer or ())))
    if given["verify"] is None and not observers and not (is_tunable and answer is not None):
        return None
    for one in observers:
        if isinstance(one, type):
            raise InputError(f"observers: give an object of {one.__name__}, as {one.__name__}()")
    return _Outputs(arguments, answer, given["verify"], float(given["atol"]), observers).judged


def observed(given: Mapping[str, Any], metrics: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a run for a call's observers and metrics; energy is one of the run's own objectives."""
    others = [one for one in given["observers"] or () if not hasattr(one, "process_output")]
    listed = [one for one in others if not hasattr(one, "counters")]
    counters = [name for one in others for name in getattr(one, "counters", ())]
    seconds = max((getattr(one, "energy_seconds", 0.0) for one in listed), default=0.0)
    if not seconds:
        return {"observers": tuple(listed), "metrics": dict(metrics), "counters": counters}
    energy = {ENERGY: lambda configuration, objectives: objectives["energy"]}
    return {
        "observers": tuple(listed),
        "metrics": {**energy, **metrics},
        "energy_seconds": seconds,
        "counters": counters,
    }


@dataclass(frozen=True)
class _Outputs:
    """The answers, functions and observers that judge outputs.

    Attributes:
        arguments: The arguments as they were given.
        answer: An entry for each argument, None for those that are not compared; or None.
        verify: A function of answers and outputs that says whether they are right.
        atol: What it gets as its tolerance.
        observers: What else looks at outputs.
    """

    arguments: Sequence[Any]
    answer: Any
    verify: Callable[..., object] | None
    atol: float
    observers: Sequence[Any]

    def judged(
        self, configuration: Mapping[str, Any], outputs: Mapping[str, NDArray[Any]]
    ) -> dict[str, float]:
        """The values that observers tell; raises `RunError` for wrong outputs."""
        results = [
            outputs.get(name_of(place, one, configuration), chosen(one, configuration))
            for place, one in enumerate(self.arguments)
        ]
        answers = chosen(self.answer, configuration)
        if answers is not None:
            answers = [None if one is None else np.asarray(chosen(one, configuration)) for one in answers]
        told: dict[str, float] = {}
        for observer in self.observers:
            try:
                observer.process_output(answers, results)
                told |= observer.get_results()
            except Exception as error:  # the user's class
                raise RunError(f"the observer {type(observer).__name__} raised {error!r}") from None
        if self.verify is not None:
            self._verify(answers, results)
        elif not self.observers:
            _compare(answers, results)
        return told

    def _verify(self, answers: object, results: list[object]) -> None:
        assert self.verify is not None
        try:
            more = {"atol": self.atol} if _takes_atol(self.verify) else {}
            found: Any = self.verify(answers, results, **more)
        except Exception as error:  # the user's function
            raise RunError(f"verify raised {error!r}") from None
        if not np.all(found):
            raise RunError(f"wrong result: verify returned {found!r}")


def _compare(answers: Sequence[Any], results: Sequence[Any]) -> None:
    for place, (answer, result) in enumerate(zip(answers, results, strict=True)):
        if answer is None:
            continue
        expected = np.asarray(answer, np.asarray(result).dtype)
        if expected.shape != np.shape(result):
            raise RunError(f"answer {place + 1} has the shape {expected.shape}, the output {result.shape}")
        verdict = compared(result, expected, TOLERANCES.get(str(expected.dtype), 0.0))
        if not verdict.right:
            raise RunError(f"wrong result: {verdict.sentence}")


def _takes_atol(function: Callable[..., object]) -> bool:
    kinds = inspect.signature(function).parameters
    return "atol" in kinds or any(one.kind is one.VAR_KEYWORD for one in kinds.values())
