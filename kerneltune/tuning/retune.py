"""Everything that a store knows, tuned again on this machine's GPU: the best of other devices first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from kerneltune.errors import KernelTuneError
from kerneltune.pipeline.run import Notice
from kerneltune.sources.folder import read_folder
from kerneltune.tuning.store import Store
from kerneltune.tuning.tune import options_of, prepared, tuned
from kerneltune.tuning.tuned import TunedKernel


@dataclass(frozen=True)
class Known:
    """A kernel at some sizes that a store has results of.

    Attributes:
        kernel: The kernel's name.
        sizes: The sizes.
        folder: Where it was tuned from; None if the store does not say.
        devices: The devices that it has results of.
    """

    kernel: str
    sizes: Mapping[str, int]
    folder: Path | None
    devices: tuple[str, ...]

    @property
    def title(self) -> str:
        """Kernel and sizes."""
        sizes = ", ".join(f"{name}={value}" for name, value in self.sizes.items())
        return self.kernel + (f", {sizes}" if sizes else "")


@dataclass(frozen=True)
class Retuned:
    """The result for one kernel at some sizes.

    Attributes:
        known: What the store had.
        found: The new run; None if there was none.
        reason: Why there was none.
    """

    known: Known
    found: TunedKernel | None = None
    reason: str | None = None

    def to_json(self) -> dict[str, object]:
        """A JSON object."""
        best = self.found.ranked[0] if self.found is not None and self.found.ranked else None
        return {
            "kernel": self.known.kernel,
            "sizes": dict(self.known.sizes),
            "folder": None if self.known.folder is None else str(self.known.folder),
            "device": None if self.found is None else self.found.device,
            "tried": 0 if self.found is None else len(self.found.trials),
            "best": None if best is None else best.to_json(),
            "reason": self.reason,
        }


def known_kernels(store: Path | str | None) -> list[Known]:
    """The kernels of a store by name and sizes, in the order of their first results."""
    with closing(Store(store)) as opened:
        rows, folders = opened.rows(), opened.folders()
    groups: dict[tuple[str, tuple[tuple[str, int], ...]], list[str]] = {}
    for row in rows:
        devices = groups.setdefault((row.kernel, tuple(row.sizes.items())), [])
        if row.device not in devices:
            devices.append(row.device)
    return [
        Known(kernel, dict(sizes), folders.get(kernel), tuple(devices))
        for (kernel, sizes), devices in groups.items()
    ]


def retuned(
    store: Path | str | None,
    *,
    gpu: str | None = None,
    strategy: str = "auto",
    seed: int = 0,
    notice: Notice = lambda trial, progress: None,
    begun: Callable[[Known], object] = lambda known: None,
    **given: object,
) -> Iterator[Retuned]:
    """Tune every kernel of a store on this machine's GPU, at all sizes that it has results of.

    Args:
        store: The file of results, which gets the new ones.
        gpu: A profile's name; by default this machine's GPU.
        strategy: The search; those that learn begin with the best of other devices and sizes.
        seed: The search's seed.
        notice: Called with each trial.
        begun: Called with each kernel before it is tuned.
        given: What `RunOptions`, `Budget` and `MeasuringPlan` have.
    """
    for known in known_kernels(store):
        if known.folder is None:
            yield Retuned(known, reason="the store does not say from which folder it was tuned")
            continue
        begun(known)
        try:
            read = read_folder(known.folder, known.sizes, seed)
            kernel, case = prepared(read.description, gpu, read.reference, read.tolerance)
            options = options_of({**read.search, **given, "store": store, "transfer": True})
            yield Retuned(known, tuned(kernel, case, options, strategy, seed, notice))
        except KernelTuneError as error:
            yield Retuned(known, reason=str(error))
