"""The documents that `--json` prints for kernels of users: their schemas, by `kerneltune schema`."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from kerneltune.cli import tiling_documents
from kerneltune.cli.document import Configuration, Count, Document, Milliseconds, Seconds
from kerneltune.errors import InputError, nearest


class TrialDocument(Document):
    """A configuration that was tried; `objectives` is empty on failure. Times are in milliseconds."""

    configuration: Configuration
    objectives: dict[str, float]
    failure: str | None
    compile_seconds: Seconds
    run_seconds: Seconds
    fastest: Milliseconds | None
    spread: float | None
    samples: Count
    relative_error: float | None
    resources: dict[str, int]
    notes: dict[str, float]
    device: str
    died: bool
    limit: float | None
    predicted: float | None


class FinalDocument(Document):
    """A finalist that was measured again; `equal` says whether it is as good as the first."""

    configuration: Configuration
    time: Milliseconds
    equal: bool


class TunedDocument(Document):
    """`tune FOLDER --json`: trials that passed, the best first, then those that failed."""

    status: Literal["passed", "failed"]
    kernel: str
    device: str
    objective: str
    objectives: list[str]
    front: list[Configuration]
    space: Count
    seconds: Seconds
    first_result: Seconds | None
    measuring: Seconds
    trials: list[TrialDocument]
    failed: list[TrialDocument]
    finals: list[FinalDocument]
    notes: list[str]


class CompilationDocument(Document):
    """One configuration, compiled or not: `broken` has broken promises, `failure` why there is no code."""

    configuration: Configuration
    resources: dict[str, int]
    promised: dict[str, int]
    broken: str | None
    failure: str | None
    seconds: Seconds
    compiler: str


class CompiledDocument(Document):
    """`compile FOLDER --json` and `tune FOLDER --dry-run --json`."""

    status: Literal["passed", "failed"]
    kernel: str
    gpu: str | None
    compilations: list[CompilationDocument]


class ExcludedDocument(Document):
    """`why FOLDER CONFIGURATION --json`."""

    status: Literal["excluded", "valid"]
    reasons: list[str]
    nearest: list[Configuration]


class BestDocument(Document):
    """`best FOLDER --json`; `is_exact` says whether device and sizes are those that were asked for."""

    kernel: str
    configuration: Configuration
    device: str
    sizes: dict[str, int]
    time: Milliseconds
    is_exact: bool


class ResultDocument(Document):
    """A kernel on a device at some sizes; `last` is a time in UTC."""

    kernel: str
    device: str
    sizes: dict[str, int]
    last: str
    objective: str
    trials: list[TrialDocument]
    failed: list[TrialDocument]


class ResultsDocument(Document):
    """`results --json`."""

    status: Literal["found"]
    results: list[ResultDocument]


class RetunedKernelDocument(Document):
    """A kernel at some sizes; `reason` says why it was not tuned."""

    kernel: str
    sizes: dict[str, int]
    folder: str | None
    device: str | None
    tried: Count
    best: TrialDocument | None
    reason: str | None


class RetunedDocument(Document):
    """`retune STORE --json`."""

    status: Literal["passed", "failed"]
    kernels: list[RetunedKernelDocument]


class ReplayedDocument(Document):
    """`replay FILE --json` of one run; `learned` is the strategy's report."""

    status: Literal["replayed"]
    best: Configuration
    objective: float
    known: float
    evaluations: Count
    within_5_percent: Count | None
    learned: dict[str, Any]  # msgspec has a schema of Any, but none of object


class FrontPointDocument(Document):
    """A configuration of a front, with its objectives."""

    configuration: Configuration
    objectives: dict[str, float]


class FrontDocument(Document):
    """`replay FILE --objective A,B --json` of one run; `known` counts the recorded front's configurations."""

    status: Literal["replayed"]
    objectives: list[str]
    hypervolume: float
    known: Count
    evaluations: Count
    front: list[FrontPointDocument]
    learned: dict[str, Any]


class EstimateDocument(Document):
    """A mean, and its interval of 95 %."""

    mean: float
    low: float
    high: float


class StrategyDocument(Document):
    """The runs of a strategy; `near` counts those within 5 %.

    `ratio` is the best found over the best recorded, or with several objectives the share of the recorded
    front's hypervolume.
    """

    strategy: str
    seeds: Count
    passed: Count
    ratio: EstimateDocument | None
    near: Count
    evaluations: EstimateDocument | None
    seconds: EstimateDocument | None


class ComparedDocument(Document):
    """`replay FILE --json` of several strategies or seeds."""

    status: Literal["replayed"]
    known: float
    objective: str
    strategies: list[StrategyDocument]


class FindingDocument(Document):
    """One check of `doctor`."""

    what: str
    state: Literal["ok", "absent", "broken"]
    detail: str
    fix: str


class DoctorDocument(Document):
    """`doctor --json`."""

    status: Literal["ok", "broken"]
    findings: list[FindingDocument]


class FailureDocument(Document):
    """Any command with `--json` that ends with an error, which the exit code tells, too."""

    status: str
    error: str
    reason: str


OWN: dict[str, type[Document]] = {
    "tune": TunedDocument,
    "compile": CompiledDocument,
    "why": ExcludedDocument,
    "best": BestDocument,
    "results": ResultsDocument,
    "retune": RetunedDocument,
    "replay": ReplayedDocument,
    "replay --seeds": ComparedDocument,
    "replay --objective": FrontDocument,
    "doctor": DoctorDocument,
    "failure": FailureDocument,
}
DOCUMENTS: dict[str, tuple[object, str]] = {
    **{name: (kind, "") for name, kind in OWN.items()},
    **tiling_documents.DOCUMENTS,
}
"""The documents by command, with a sentence where their type has none; `failure` is that of any command."""


def sentence_of(command: str) -> str:
    """A line on a command's document."""
    kind, sentence = DOCUMENTS[command]
    return sentence or str(kind.__doc__).splitlines()[0]


def schema_of(command: str) -> dict[str, object]:
    """The JSON schema of a command's document; raises `InputError` for a command without one."""
    if command not in DOCUMENTS:
        raise InputError(f"there is no schema of '{command}': {nearest(command, DOCUMENTS)}")
    found = msgspec.json.schema(DOCUMENTS[command][0])
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **found}
