"""Recurrent layers compared with cuDNN (torch.nn), FlashRNN, and plain and compiled PyTorch loops.

    python benchmarks/rnn/flashrnn_library.py      builds FlashRNN's kernels; without it leave FlashRNN out
    python benchmarks/rnn/peers.py --sweep table,cudnn --seconds 540 --out peers.json
    python benchmarks/rnn/peers.py --sweep heads,batch,steps,large,cells --seconds 540 --out peers.json
    python benchmarks/rnn/plots.py peers.json --out figures

Units that peers.json contains are not measured again, so the same command resumes an interrupted run; no unit
starts that would not end in time. Times are medians in ms, between events on the GPU, by the host's clock,
and by a caller's clock, Triton's do_bench. "with W x" includes the input projection of H * D features. Exit
codes: 0 everything is measured, 3 something is left.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import flashrnn_times
from environment import environment
from sweeps import (
    FLASHRNN,
    ORDER,
    OURS,
    OURS_WITH_INPUT,
    SWEEPS,
    Shape,
    Unit,
    expected_seconds,
    units,
    words_of,
)

LEFT = 3  # exit code
PASSES = ("forward", "both")
CALLED = ("forward_call", "both_call")
Measure = Callable[[Unit], dict[str, Any]]


class Results:
    """The results in a JSON file that is complete after every unit.

    A unit that killed its process is recorded as lost, and is not tried again.
    """

    def __init__(self, path: Path | None, head: dict[str, Any]) -> None:
        self._path = path
        self.data: dict[str, Any] = {**head, "units": []}
        if path is not None and path.is_file():
            self.data = self._continued(path, head)
        for row in self.data["units"]:
            if row.get("running"):
                row |= {"running": False, "note": "lost: the process ended while it ran"}

    @staticmethod
    def _continued(path: Path, head: dict[str, Any]) -> dict[str, Any]:
        data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        for name in ("gpu", "sources"):
            if data.get(name) != head[name]:
                was = f"{path} was measured with {name} {data.get(name)}, this is {head[name]}"
                raise SystemExit(f"{was}: name another --out")
        return data

    def has(self, unit: Unit) -> bool:
        return any(row_key(row) == unit.key for row in self.data["units"])

    def begin(self, unit: Unit) -> dict[str, Any]:
        row = {**unit.shape.to_json(), "who": unit.who, "running": True}
        self.data["units"].append(row)
        self._write()
        return row

    def end(self, row: dict[str, Any], found: dict[str, Any]) -> None:
        row |= {"running": False, **found}
        self._write()

    def _write(self) -> None:
        if self._path is not None:
            aside = self._path.with_name(self._path.name + ".part")
            aside.write_text(json.dumps(self.data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
            aside.replace(self._path)


def row_key(row: dict[str, Any]) -> tuple[Any, ...]:
    return Unit(shape_of(row), row["who"]).key


def shape_of(row: dict[str, Any]) -> Shape:
    return Shape(**{name: row[name] for name in Shape.__dataclass_fields__})


def run(
    results: Results,
    wanted: Sequence[Unit],
    measure: Measure,
    seconds: float,
    clock: Callable[[], float] = time.monotonic,
) -> int:
    """Measure missing units while there is time; returns how many are left."""
    end = clock() + seconds
    left = 0
    for unit in wanted:
        if results.has(unit):
            continue
        if clock() + expected_seconds(unit) > end:
            left += 1
            continue
        row = results.begin(unit)
        try:
            found = measure(unit)
        except Exception as error:
            results.end(row, {"note": f"lost: {error}"})
            raise
        results.end(row, found)
        print(line(unit, found), flush=True)
    return left


def line(unit: Unit, found: dict[str, Any]) -> str:
    times = " ".join(number(found.get(name)) for name in ("forward", "both"))
    return f"{unit.shape.sweep} {unit.shape.label} {unit.who}: {times} {found.get('note', '')}".rstrip()


def number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def table(rows: Sequence[dict[str, Any]], gpu: str) -> str:
    """A line for each shape: our time, and each contender's time relative to it, forward and both passes."""
    by_shape: dict[Shape, dict[str, dict[str, Any]]] = {}
    for row in rows:
        by_shape.setdefault(shape_of(row), {})[row["who"]] = row
    return "\n".join(shape_line(shape, found, gpu) for shape, found in by_shape.items())


def shape_line(shape: Shape, found: dict[str, dict[str, Any]], gpu: str) -> str:
    parts = [f"{shape.sweep} {shape.label}:"]
    for who in ORDER:
        if who not in found:
            continue
        own = found.get(OURS_WITH_INPUT if "W x" in who else OURS, {})
        times = [found[who].get(name) for name in PASSES]
        shown = " ".join(map(number, times))
        if who not in (OURS, OURS_WITH_INPUT):
            shown += f" ({ratios(times, own)})"
        if who == FLASHRNN:
            called = [found[who].get(name) for name in CALLED]
            own_called = dict(zip(PASSES, (own.get(name) for name in CALLED), strict=True))
            shown += f" (by a caller's clock {ratios(called, own_called)})"
        parts.append(f"{who} {shown};")
    if OURS in found and found[OURS].get("forward") and shape.dim > 1024:
        streamed = shape.recurrent_bytes * shape.steps / found[OURS]["forward"] / 1e6
        parts.append(f"R at {streamed:.0f} GB/s;")
    if flashrnn_times.comparable(gpu, shape.cell, shape.steps, shape.dtype) and OURS in found:
        for name, known in flashrnn_times.VARIANTS.items():
            times = list(known.get((shape.heads, shape.dim, shape.batch), ()))
            if times:
                parts.append(f"{name} ({ratios(times, found[OURS])});")
    return " ".join(parts)


def ratios(times: Sequence[float | None], own: dict[str, Any]) -> str:
    """Times relative to ours, forward and both passes."""
    pairs = zip(times, (own.get("forward"), own.get("both")), strict=True)
    return " ".join("-" if not theirs or not mine else f"{theirs / mine:.2f}x" for theirs, mine in pairs)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    for name, known in (("sweep", SWEEPS), ("contenders", ORDER)):
        every = ", ".join(known)
        parser.add_argument(f"--{name}", type=words_of(known), default=list(known), help=f"of {every}")
    parser.add_argument("--seconds", type=float, default=540.0, help="after which nothing more begins")
    parser.add_argument("--count", type=int, default=20, help="calls to time")
    parser.add_argument("--out", type=Path, default=None, help="JSON file, which is continued if it is there")
    return parser.parse_args()


def main() -> int:
    options = parsed()
    try:
        import torch
    except ImportError:
        print("torch is not installed: the extra 'torch' has it", file=sys.stderr)
        return 2
    from contenders import ContextLostError, measured

    from kerneltune.compiling.cubin_cache import content_key
    from kerneltune.inputs.folders import data_folder

    if not torch.cuda.is_available():
        print("torch finds no GPU here", file=sys.stderr)
        return 2
    head = {
        "environment": environment("torch", "triton", "numpy", "flashrnn"),
        "gpu": torch.cuda.get_device_name(),
        "cudnn": torch.backends.cudnn.version(),
        "sources": content_key((), data_folder("kernels"))[:16],
        "flashrnn": {"source": flashrnn_times.SOURCE, "date": flashrnn_times.DATE},
    }
    results = Results(options.out, head)
    wanted = units(options.sweep, tuple(options.contenders))
    torch.nn.functional.linear(*(torch.zeros(8, 8, device="cuda") for _ in range(2)))  # initialises cuBLAS
    try:
        left = run(results, wanted, lambda unit: measured(unit, options.count), options.seconds)
    except ContextLostError as error:
        print(f"the GPU's context is lost, call again to go on: {error}", file=sys.stderr)
        return LEFT
    print(table(results.data["units"], head["gpu"]))
    if left:
        print(f"{left} of {len(wanted)} are left: call again with the same --out to go on")
    return LEFT if left else 0


if __name__ == "__main__":
    sys.exit(main())
