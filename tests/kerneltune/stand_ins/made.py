"""Candidates and outcomes of trials made without a solver or a GPU."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from kerneltune.inputs.hardware import load_profile
from kerneltune.inputs.problem import Problem
from kerneltune.running.measure import Measurement
from kerneltune.running.trial import Outcome
from kerneltune.tiling.candidate import Candidate

FAKE_KERNELS = Path(__file__).parent / "fake_kernels"
MEASURED = Measurement("pretended", 1, 1e-3, True, "right", 2, 2, milliseconds=2.0)


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


def outcome(number: int = 0, **changes: object) -> Outcome:
    found = Outcome(replace(hand_made(), workspace_fill=number), MEASURED)
    return replace(found, **changes)  # type: ignore[arg-type]
