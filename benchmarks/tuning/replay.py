"""Evaluations until a configuration is within 5 % of the optimum, replayed: ours and Kernel Tuner's.

    python benchmarks/tuning/replay.py peers --out peers.json [--recorded FILE --restriction TEXT …]
    python benchmarks/tuning/replay.py ours --out ours.json [--strategy auto …]
    python benchmarks/tuning/replay.py table peers.json ours.json --out benchmarks/results/tuning_replay.json

`peers` first runs each of Kernel Tuner's strategies, at default settings, with a few seeds, and then the best
three on a problem with all seeds. A run that does not reach the target counts as the most evaluations, on
both sides. `auto+model` begins with the kernel's own costs; `auto+parameters` learns nothing from launches
and compile reports, which `compiled.py` has written. `--recorded` takes Kernel Tuner cache files that hold
all configurations of their spaces, `--measured` such results of `examples.py exhaustive`; `--only` without a
name leaves out the synthetic surfaces.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from environment import environment
from problems import Problem, measured_here, recorded, synthetic

Run = Callable[[int], int | None]
SYNTHETIC = [
    ("convolution", ["A4000", "MI250X"]),
    ("dedispersion", ["A100", "MI250X"]),
    ("hotspot", ["A4000", "W6600"]),
    ("gemm", ["A100", "MI250X"]),
]
SCREENED, KEPT = 4, 3  # seeds of the first round of Kernel Tuner's strategies, and how many go on


def summary(found: list[int | None], most: int, seconds: float) -> dict[str, Any]:
    """The mean over the seeds; runs that did not reach the target count as `most`."""
    counted = [most if one is None else one for one in found]
    return {
        "mean": round(statistics.fmean(counted), 2),
        "median": statistics.median(counted),
        "missed": sum(one is None for one in found),
        "runs": len(found),
        "seconds": round(seconds, 2),
        "evaluations": counted,
    }


def measured(run: Run, seeds: range, most: int) -> dict[str, Any]:
    started = time.process_time()
    return summary([run(seed) for seed in seeds], most, time.process_time() - started)


def problems(options: argparse.Namespace) -> list[Problem]:
    found = [recorded(path, options.restriction) for path in options.recorded]
    found += [measured_here(path) for path in options.measured]
    for kernel, devices in SYNTHETIC:
        if options.only is None or kernel in options.only:
            found += synthetic([kernel], devices)
    return found


def peers(problem: Problem, options: argparse.Namespace) -> dict[str, Any]:
    """Kernel Tuner's strategies on a problem."""
    from kernel_tuner_peer import STRATEGIES, Peer

    peer = Peer(problem)
    rows: dict[str, Any] = {}
    for name in STRATEGIES:
        seconds, found = 0.0, []
        for seed in range(SCREENED):
            started = time.process_time()
            found.append(peer.evaluations(name, seed, options.most))
            seconds += time.process_time() - started
            if seconds > options.patience:
                break
        rows[name] = summary(found, options.most, seconds)
    for name in sorted(rows, key=lambda one: rows[one]["mean"])[:KEPT]:
        rows[name] = measured(
            lambda seed, name=name: peer.evaluations(name, seed, options.most),  # type: ignore[misc]
            range(options.seeds),
            options.most,
        )
    return rows


def ours(problem: Problem, options: argparse.Namespace) -> dict[str, Any]:
    """Our strategies on a problem."""
    from kerneltune.searching.protocol import Outcome
    from kerneltune.searching.strategies import strategy

    def run(name: str, seed: int) -> int | None:
        own = problem.model if name.endswith("+model") else None
        launch = None if name.endswith("+parameters") else problem.launch
        kind = name.removesuffix("+model").removesuffix("+parameters")
        search = strategy(kind, problem.space, seed=seed, model=own, launch=launch)
        for count in range(1, options.most + 1):
            asked = search.ask(1)
            if not asked:
                return None
            number = problem.space.index(asked[0])
            value = float(problem.times[number])
            if value <= problem.target:
                return count
            failed = value != value
            reason = "failed" if failed else None
            more = {"resources": problem.reports.get(number, {})}
            search.tell(Outcome(asked[0], {} if failed else {"time": value}, reason, **more))
        return None

    return {
        name: measured(lambda seed, name=name: run(name, seed), range(options.seeds), options.most)  # type: ignore[misc]
        for name in (
            *options.strategy,
            *([] if problem.model is None else ["auto+model"]),
            *([] if problem.launch is None else ["auto+parameters"]),
        )
    }


def collect(
    side: Callable[[Problem, argparse.Namespace], dict[str, Any]], options: argparse.Namespace
) -> None:
    rows = []
    for problem in problems(options):
        found = side(problem, options)
        rows.append({**problem.facts(), "most": options.most, "strategies": found})
        shown = sorted(found.items(), key=lambda item: item[1]["mean"])
        print(problem.name, problem.space.size, *[f"{name} {row['mean']}" for name, row in shown], flush=True)
        options.out.write_text(json.dumps({"environment": environment(), "problems": rows}, indent=1))


def table(options: argparse.Namespace) -> None:
    """Both sides in one file, and one table."""
    theirs, own = (json.loads(path.read_text()) for path in options.files)
    mine = {row["name"]: row["strategies"] for row in own["problems"]}
    rows, columns = [], sorted({name for found in mine.values() for name in found})
    print(f"| problem | origin | configurations | Kernel Tuner's best | {' | '.join(columns)} | ratio |")
    print("|---" * (len(columns) + 5) + "|")
    for row in theirs["problems"]:
        full = {n: r for n, r in row["strategies"].items() if r["runs"] >= options.seeds}
        best = min(full, key=lambda name: full[name]["mean"])
        found = mine[row["name"]]
        ratio = found[options.default]["mean"] / full[best]["mean"]
        rows.append({**row, "ours": found, "best": best, "ratio": round(ratio, 3)})
        means = " | ".join(f"{found[name]['mean']:.1f}" if name in found else "–" for name in columns)
        place = f"{row['name']} ({row['role']}) | {row['origin']} | {row['size']:,}"
        print(f"| {place} | {full[best]['mean']:.1f} ({best}) | {means} | {ratio:.2f} |")
    options.out.write_text(json.dumps({"environment": own["environment"], "problems": rows}, indent=1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("side", choices=["peers", "ours", "table"])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--recorded", type=Path, nargs="*", default=[])
    parser.add_argument("--measured", type=Path, nargs="*", default=[], help="results of examples.py")
    parser.add_argument("--restriction", action="append", default=[])
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--strategy", nargs="*", default=["auto"])
    parser.add_argument("--default", default="auto")
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--most", type=int, default=500, help="most evaluations of a run")
    parser.add_argument("--patience", type=float, default=30.0, help="seconds of a strategy's first round")
    options = parser.parse_args()
    if options.side == "table":
        table(options)
    else:
        collect(peers if options.side == "peers" else ours, options)


if __name__ == "__main__":
    main()
