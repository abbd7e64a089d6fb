"""The documents that `--json` prints for tilings, profiles, cells and bundles: their schemas."""

from __future__ import annotations

from typing import Any, Literal

from kerneltune.cli.document import Count, Document, Milliseconds, Seconds
from kerneltune.inputs.hardware import HardwareProfile
from kerneltune.running.detect import DeviceFacts
from kerneltune.tiling.fit import Constant, Quality


class CandidateDocument(Document):
    """A tiling: `parameters` are constants of the kernel, `values` all numbers of the solved model."""

    strategy: str
    gpu: str
    boost_mhz: Count
    problem: dict[str, str | int | float | bool]
    parameters: dict[str, int]
    values: dict[str, int]
    register_slack: int
    workspace_fill: int
    workspace_kept: bool
    stepwise: bool
    microseconds_per_step: float


class MeasurementDocument(Document):
    """A tiling's times; `ratio` is measured over predicted."""

    device: str
    seed: int
    relative_error: float | None
    right: bool
    verdict: str
    runs: Count
    runs_with_same_bits: Count
    milliseconds: Milliseconds | None
    fastest: Milliseconds | None
    microseconds_per_step: float | None
    predicted_microseconds_per_step: float | None
    ratio: float | None
    passed: bool


class OutcomeDocument(Document):
    """A tiling that was tried: its measurement, or why there is none."""

    candidate: CandidateDocument
    measurement: MeasurementDocument | None
    failure: str | None
    passed: bool


class TileDocument(Document):
    """`tile CELL --json`: the fastest tilings; the seconds are those of each strategy."""

    status: Literal["found"]
    gpu: str
    solve_seconds: dict[str, Seconds]
    candidates: list[CandidateDocument]


class CompileReportDocument(Document):
    """The compiler's report on a tiling, beside what was predicted."""

    compiler: str
    registers: Count
    spill_stores: Count
    spill_loads: Count
    stack: Count
    shared_memory: Count
    blocks_per_sm: Count
    predicted_registers: Count
    predicted_shared_memory: Count
    predicted_blocks_per_sm: Count
    cubin_bytes: Count
    seconds: Seconds
    cached: bool
    moves_registers: bool
    broken_promises: list[str]


class CompiledTilingDocument(Document):
    """`compile CELL --json`; `tightenings` says what the compiler's reports changed."""

    status: Literal["compiled"]
    gpu: str
    candidate: CandidateDocument
    report: CompileReportDocument
    tightenings: list[str]


class RunDocument(Document):
    """`run CELL --json`."""

    status: Literal["passed", "failed"]
    gpu: str
    seed: int
    outcomes: list[OutcomeDocument]


class FirstChoiceDocument(Document):
    """The model's first choice by measured time: its place, among how many, and what it loses."""

    rank: Count
    of: Count
    loss: float


class TunedTilingsDocument(Document):
    """`tune CELL --json`: tilings that passed, the fastest first, then those that failed."""

    status: Literal["passed", "failed"]
    gpu: str
    store: str
    outcomes: list[OutcomeDocument]
    failed: list[OutcomeDocument]
    from_store: Count
    left_out: list[str]
    tightenings: list[str]
    first_choice: FirstChoiceDocument | None


class ProblemReportDocument(Document):
    """A request on a GPU, as `report` has it."""

    gpu: str
    problem: dict[str, str | int | float | bool]
    tried: Count
    failed: Count
    best: OutcomeDocument | None
    first_choice: FirstChoiceDocument | None


class ModelDocument(Document):
    """How well the cost model ranks tilings: `residual` is the root mean square of log ratios."""

    compared: Count
    first_is_fastest: Count
    mean_loss: float | None
    worst_loss: float | None
    residual: float | None


class ReportDocument(Document):
    """`report --json`."""

    store: str
    problems: list[ProblemReportDocument]
    model: ModelDocument


class FittedPartDocument(Document):
    """The tilings of a pass and strategy, before and after fitting."""

    tilings: Count
    residual_before: float
    residual_after: float


class FitDocument(Document):
    """`fit --json`: constants in cycles."""

    gpu: str
    constants: list[Constant]
    before: Quality
    after: Quality
    parts: dict[str, FittedPartDocument]
    tilings: Count
    left_out: list[str]


class SavedDocument(Document):
    """The values that training saves of a cell."""

    values: list[str]
    states: list[str]
    reads_hidden: str | None
    computed_again: list[str]


class CellDocument(Document):
    """`cell show CELL --json`: LaTeX; `strategies` has the reason why one is not exact, or null."""

    name: str
    summary: str
    gates: list[str]
    states: list[str]
    weights: list[str]
    kind: str
    equations: list[str]
    jacobian: list[list[str]]
    special_functions: dict[str, int]
    strategies: dict[str, str | None]
    saved: SavedDocument | None = None


class CheckedProfileDocument(Document):
    """A profile's errors, and values that are legal and yet doubtful."""

    errors: list[str]
    doubts: list[str]


class DetectedDocument(Document):
    """`profile detect --json`: the profile that fits this machine's GPU, or the nearest."""

    profile: str | None
    nearest: str | None
    device: DeviceFacts


class BuiltBundleDocument(Document):
    """`bundle build --json`."""

    status: Literal["built"]
    kernels: Count
    bytes: Count
    left_out: list[str]
    wheel: str | None


class CheckedBundleDocument(Document):
    """`bundle check --json`: kernels by GPU, and what the bundle says of itself."""

    status: Literal["right"]
    kernels: Count
    gpus: dict[str, Count]
    version: str
    sources: str
    compiler: str


DOCUMENTS: dict[str, tuple[object, str]] = {
    "tile": (TileDocument, ""),
    "compile CELL": (CompiledTilingDocument, ""),
    "run": (RunDocument, ""),
    "tune CELL": (TunedTilingsDocument, ""),
    "report": (ReportDocument, ""),
    "fit": (FitDocument, ""),
    "cell show": (CellDocument, ""),
    "profile list": (
        list[HardwareProfile],
        "`profile list --json`: the profiles that come with the package.",
    ),
    "profile show": (HardwareProfile, "`profile show NAME --json`: limits in bytes, costs in cycles."),
    "profile diff": (
        dict[str, tuple[Any, Any]],
        "`profile diff A B --json`: the keys that differ, with both values.",
    ),
    "profile check": (
        dict[str, CheckedProfileDocument],
        "`profile check --json`: errors and doubts of each profile.",
    ),
    "profile detect": (DetectedDocument, ""),
    "bundle build": (BuiltBundleDocument, ""),
    "bundle check": (CheckedBundleDocument, ""),
}
"""The documents by command, with a sentence where their type has none."""
