"""The worked examples on this machine's GPU: all configurations, our search, Kernel Tuner's, Triton's.

    python benchmarks/tuning/examples.py exhaustive --out DIR [--only matmul …] [--seconds 60]
    python benchmarks/tuning/examples.py ours --known DIR --out DIR [--evaluations 60]
    python benchmarks/tuning/examples.py kernel-tuner --known DIR --out DIR [--strategy greedy_ils]
    python benchmarks/tuning/examples.py autotune --known DIR --out DIR

`exhaustive` writes each configuration's time, or its failure, and what compiling and running it took. The
others write evaluations and seconds until a configuration is within 5 % of the best of those times.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "tuning"))

from environment import environment

from kerneltune.sources.folder import read_folder
from kerneltune.tuning.tune import options_of, prepared, profile_for, tuned

ROOT = Path(__file__).resolve().parents[2]
CUDA = ("matmul", "hotspot", "reduction")
TRITON = ("softmax", "attention")
WITHIN = 1.05


def run(name: str, store: Path, **given: Any) -> Any:
    """Tune an example; returns what was found and the moments of each trial."""
    moments: list[tuple[float, Any]] = []
    started = time.perf_counter()

    def notice(trial: Any, progress: Any) -> None:
        moments.append((time.perf_counter() - started, trial))

    strategy, seed = given.pop("strategy", "auto"), given.pop("seed", 0)
    if name in TRITON:
        module = __import__(name)
        found = module.tuned(store=store, strategy=strategy, seed=seed, notice=notice, **given)
        return found, moments
    read = read_folder(ROOT / "examples" / "tuning" / name)
    kernel, case = prepared(read.description, None, read.reference, read.tolerance)
    started = time.perf_counter()
    profile_for(read.description, None)
    read.description.kernel(kernel.profile)  # building the space counts; the reference does not
    return tuned(kernel, case, options_of({"store": store, **given}), strategy, seed, notice), moments


def exhaustive(options: argparse.Namespace) -> None:
    for name in options.only:
        store = options.out / f"{name}.sqlite"
        store.unlink(missing_ok=True)
        found, moments = run(
            name, store, strategy="random", seconds=options.seconds, finalists=5, patience=0.0, runs=2
        )
        best = found.best
        report = {
            "kernel": name,
            **environment(),
            "device": found.device,
            "space": found.space_size,
            "tried": len(found.trials),
            "failed": len(found.failed),
            "seconds": round(found.seconds, 3),
            "first_result": found.first_result,
            "busy": round(found.measuring / found.seconds, 3),
            "best": best.configuration,
            "time": best.objectives["time"],
            "objectives": best.objectives,
            "finals": found.to_json()["finals"],
            "notes": list(found.notes),
            "failures": sorted({str(t.failure)[:120] for t in found.failed})[:8],
            "trials": [row(trial) for _, trial in moments],
        }
        write(options.out / f"exhaustive_{name}.json", report)
        shown = {key: value for key, value in report.items() if key not in ("trials", "finals", "packages")}
        print(json.dumps(shown, default=str)[:1500], flush=True)


def row(trial: Any) -> dict[str, Any]:
    return {
        "configuration": trial.configuration,
        "time": trial.time,
        "failure": None if trial.failure is None else trial.failure[:200],
        "compile_seconds": trial.compile_seconds,
        "run_seconds": round(trial.run_seconds, 6),
        "spread": trial.spread,
        "relative_error": trial.relative_error,
        "resources": trial.resources,
    }


def known_best(options: argparse.Namespace, name: str) -> float | None:
    path = options.known / f"exhaustive_{name}.json"
    return json.loads(path.read_text(encoding="utf-8"))["time"] if path.is_file() else None


def ours(options: argparse.Namespace) -> None:
    for name in options.only:
        known = known_best(options, name)
        for seed in range(options.seeds):
            store = options.out / f"ours_{name}_{seed}.sqlite"
            store.unlink(missing_ok=True)
            found, moments = run(
                *(name, store),
                strategy=options.strategy,
                seed=seed,
                evaluations=options.evaluations,
                seconds=options.seconds,
                finalists=0,
            )
            times = [(moment, trial.time) for moment, trial in moments]
            report(
                options,
                "ours",
                name,
                known,
                times,
                seed=seed,
                first=found.first_result,
                seconds=found.seconds,
            )


def kernel_tuner(options: argparse.Namespace) -> None:
    from beside import tuned_by_kernel_tuner

    for name in options.only:
        for seed in range(options.seeds):
            started = time.perf_counter()
            times = tuned_by_kernel_tuner(ROOT / "examples" / "tuning" / name, options, seed)
            took = time.perf_counter() - started
            report(options, "kernel-tuner", name, known_best(options, name), times, seed=seed, seconds=took)


def autotune(options: argparse.Namespace) -> None:
    from beside import tuned_by_triton

    for name in TRITON:
        started = time.perf_counter()
        times = tuned_by_triton(__import__(name))
        took = time.perf_counter() - started
        report(options, "autotune", name, known_best(options, name), times, seconds=took)


def report(
    options: argparse.Namespace,
    who: str,
    name: str,
    known: float | None,
    times: list[tuple[float, float | None]],
    **more: Any,
) -> None:
    passed = [t for _, t in times if t is not None]
    best = min(passed, default=None)
    goal = None if known is None else WITHIN * known
    hit = next(
        ((i + 1, moment) for i, (moment, t) in enumerate(times) if t is not None and goal and t <= goal), None
    )
    data = {
        "who": who,
        "kernel": name,
        "known": known,
        "best": best,
        "evaluations": len(times),
        "to_5_percent": None if hit is None else {"evaluations": hit[0], "seconds": round(hit[1], 3)},
        **more,
    }
    print(json.dumps(data, default=str), flush=True)
    write(options.out / f"{who}_{name}_{more.get('seed', 0)}.json", {**data, **environment(), "times": times})


def write(path: Path, data: Any) -> None:
    path.write_text(json.dumps(data, indent=1, default=str) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("exhaustive", "ours", "kernel-tuner", "autotune"))
    parser.add_argument("--only", nargs="*", default=None)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--known", type=Path, default=None)
    parser.add_argument("--seconds", type=float, default=None)
    parser.add_argument("--evaluations", type=int, default=None)
    parser.add_argument("--strategy", default="auto")
    parser.add_argument("--seeds", type=int, default=1)
    options = parser.parse_args()
    options.only = options.only or ([*CUDA, *TRITON] if options.what != "kernel-tuner" else list(CUDA))
    options.known = options.known or options.out
    options.out.mkdir(parents=True, exist_ok=True)
    works = {"exhaustive": exhaustive, "ours": ours, "kernel-tuner": kernel_tuner, "autotune": autotune}
    works[options.what](options)


if __name__ == "__main__":
    main()
