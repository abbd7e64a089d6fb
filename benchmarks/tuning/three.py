"""Three kernels written from scratch, beside Kernel Tuner and Triton's autotune, in one run on one GPU.

    python benchmarks/tuning/three.py --out DIR [--seeds 3] [--seconds 25] [--only transpose …]
    python benchmarks/tuning/three.py --out DIR --table

It records the whole space of each (`examples.py exhaustive`), tunes it with each tuner until a configuration
within 5 % of the best of the recording is tried (`ours`, `kernel-tuner`, `autotune`), and prints the table of
evaluations and seconds. Each step is a process of its own; one that fails is named in the table, and the
others go on. What DIR has already is not measured again.

Triton's autotune times all configurations and then ends. So its column also has the seconds until its end,
and `all in` has ours for all, both with imports and arguments. `--only softmax attention`: further examples.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).with_name("examples.py")
CUDA, TRITON = ("transpose", "stencil"), ("layer_norm",)


def step(options: argparse.Namespace, what: str, name: str, *more: str, limit: float = 300.0) -> None:
    """One step of `examples.py`, unless its result is there."""
    if list(options.out.glob(f"{what}_{name}*.json")):
        return
    command = [sys.executable, str(EXAMPLES), what, "--only", name, "--out", str(options.out), *more]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
        failure = done.stderr if done.returncode or not list(options.out.glob(f"{what}_{name}*.json")) else ""
        failure = failure or (done.stdout if " failed " in done.stdout else "")
    except subprocess.TimeoutExpired:
        failure = f"not ended in {limit:.0f} s"
    if failure:
        (options.out / f"failed_{what}_{name}.txt").write_text(failure, encoding="utf-8")
    print(what, name, "failed" if failure else "done", flush=True)


def measure(options: argparse.Namespace) -> None:
    """All steps."""
    seconds, seeds = str(options.seconds), str(options.seeds)
    for name in options.only:
        step(options, "exhaustive", name, "--seconds", "120")
        step(options, "ours", name, "--seconds", seconds, "--seeds", seeds)
        if name in CUDA:
            step(options, "kernel-tuner", name, "--seconds", seconds, "--seeds", seeds)
        else:
            step(options, "autotune", name)


def cell(options: argparse.Namespace, who: str, name: str) -> str:
    """Evaluations and seconds until within 5 %, of each seed."""
    found: list[dict[str, Any]] = [
        json.loads(path.read_text(encoding="utf-8"))
        for path in sorted(options.out.glob(f"{who}_{name}_*.json"))
    ]
    if not found:
        return "failed" if (options.out / f"failed_{who}_{name}.txt").is_file() else ""
    hits = [one["to_5_percent"] for one in found]
    reached = [one for one in hits if one is not None]
    counts = ", ".join(
        "not in " + str(run["evaluations"]) if hit is None else str(hit["evaluations"])
        for run, hit in zip(found, hits, strict=True)
    )
    ended = [run["seconds"] for run in found if who == "autotune" and "seconds" in run]
    end = f", end {statistics.median(ended):.1f} s" if ended else ""
    if not reached:
        return counts + end
    return f"{counts}: {statistics.median(one['seconds'] for one in reached):.1f} s{end}"


def table(options: argparse.Namespace) -> list[str]:
    """The table, in Markdown."""
    lines = [
        "| kernel | configurations | failed | all in | best | kerneltune | Kernel Tuner | autotune |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name in options.only:
        path = options.out / f"exhaustive_{name}.json"
        if not path.is_file():
            lines.append(f"| {name} | not recorded |||||||")
            continue
        data = json.loads(path.read_text(encoding="utf-8"))
        tuners = [cell(options, who, name) for who in ("ours", "kernel-tuner", "autotune")]
        best = f"{data['time']:.4g} ms, {data['objectives'].get('gbs', 0):,.0f} GB/s"
        tried = f"{data['tried']} of {data['space']}"
        row = [name, tried, str(data["failed"]), f"{data.get('wall', data['seconds']):.1f} s", best, *tuners]
        lines.append(f"| {' | '.join(row)} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", nargs="*", default=[*CUDA, *TRITON])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=25.0)
    parser.add_argument("--table", action="store_true", help="print the table of what DIR has")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    if not options.table:
        measure(options)
    text = "\n".join(table(options))
    (options.out / "table.md").write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
