"""Candidates and their trials, made without a solver or a GPU."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from kerneltune.inputs.hardware import load_profile
from kerneltune.inputs.problem import Problem
from kerneltune.pipeline.tiling_trial import RUNS, SEED, TOLERANCE, TilingTrial, configuration_of
from kerneltune.tiling.candidate import Candidate

FAKE_KERNELS = Path(__file__).parent / "fake_kernels"


def hand_made(gpu: str = "h100_sxm", *, dtype: str = "bf16", held: int = 64, **values: int) -> Candidate:
    """A tiling of the stand-in strategy that no solver made."""
    profile = load_profile(gpu)
    parameters = {"head_dim": 64, "gates": 4, "batch_tile": 8, "held": held}
    results = {
        "threads": 256,
        "blocks": 24,
        "cluster": 1,
        "shared_memory": 2304,
        "registers": 24 + held,
        "blocks_per_sm": 1,
        "cycles": 384,
    }
    return Candidate(
        strategy="plain",
        problem=Problem("echo", 12, 64, 16, dtype, steps=8),
        gpu=gpu,
        boost_mhz=profile.boost_mhz,
        parameters=parameters,
        values={**results, **values},
    )


def timed(candidate: Candidate, milliseconds: float | None = 2.0) -> TilingTrial:
    """A trial that passed."""
    return TilingTrial(
        configuration_of(candidate),
        {} if milliseconds is None else {"time": milliseconds},
        fastest=milliseconds,
        relative_error=1e-3,
        notes={SEED: 1, RUNS: 2, TOLERANCE: 5e-3},
        device="pretended",
        candidate=candidate,
    )


def failed(candidate: Candidate, failure: str, **changes: object) -> TilingTrial:
    """A trial that did not pass."""
    found = TilingTrial(configuration_of(candidate), failure=failure, candidate=candidate)
    return replace(found, **changes)  # type: ignore[arg-type]


def numbered(number: int = 0) -> Candidate:
    """Candidates that differ."""
    return replace(hand_made(), workspace_fill=number)
