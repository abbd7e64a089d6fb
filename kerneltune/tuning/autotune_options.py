"""How `kerneltune.autotune` tunes a kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kerneltune.inputs import rules
from kerneltune.pipeline.run import Notice
from kerneltune.sources.space import Constraint

EVALUATIONS = 100  # configurations that are tried at most, unless they are listed or the caller says so
PLANNED = ("runs", "timed", "warm_up", "flush", "patience", "needs_same_bits")
NAMES = rules.optional(rules.each(rules.text))
RULES = {
    "params": rules.optional(rules.values_of(rules.iterable)),
    "constraints": rules.each(rules.either(rules.any_text, rules.function)),
    "outputs": NAMES,
    "restore_value": NAMES,
    "reset_to_zero": NAMES,
    "reference": rules.optional(rules.function),
    "tolerance": rules.optional(rules.number(0)),
    "prune_configs_by": rules.optional(rules.mapping),
    "name": rules.optional(rules.text),
    "strategy": rules.text,
    "evaluations": rules.optional(rules.whole(1)),
    "seconds": rules.optional(rules.number(0)),
    "seed": rules.whole(0),
    "timer": rules.optional(rules.function),
    "store": rules.optional(rules.path),
    "notice": rules.function,
}


@dataclass(frozen=True)
class AutotuneOptions:
    """How a decorated kernel is tuned.

    Attributes:
        params: The values of each parameter.
        constraints: Python expressions over parameters, whole numbers of the key and the GPU's limits, and
            functions.
        outputs: The arrays that a call writes and does not read; None: every array may be written, so all are
            copied before the first call. Elements that a configuration leaves unwritten are found in outputs.
        restore_value: Arrays that a call reads and writes.
        reset_to_zero: Arrays that must be zero before a call.
        reference: A function of the call's arguments that gives the outputs; without it, configurations
            must agree with the first one that runs.
        tolerance: Bound of the relative L2 error of floating-point arrays.
        prune_configs_by: `early_config_prune` and `perf_model`, as Triton has them.
        name: The name in the store; by default the function's.
        strategy: The search.
        evaluations: Most configurations; by default 100, or all that are listed.
        seconds: Most seconds.
        seed: The search's seed.
        timer: A function of a call that gives milliseconds; by default the GPU's clock.
        store: The file of results; None: the user's own.
        notice: Called with each trial and the progress.
    """

    params: Mapping[str, Sequence[Any]] | None = None
    constraints: Sequence[Constraint] = ()
    outputs: Sequence[str] | None = None
    restore_value: Sequence[str] | None = None
    reset_to_zero: Sequence[str] | None = None
    reference: Callable[..., Any] | None = None
    tolerance: float | None = None
    prune_configs_by: Mapping[str, Any] | None = None
    name: str | None = None
    strategy: str = "auto"
    evaluations: int | None = None
    seconds: float | None = None
    seed: int = 0
    timer: Callable[[Callable[[], object]], float] | None = None
    store: Path | str | None = None
    notice: Notice = lambda trial, progress: None

    def __post_init__(self) -> None:
        """Raise `InputError` for a value that breaks its rule."""
        rules.check(self.__dict__, RULES)
