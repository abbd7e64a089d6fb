"""The worked examples on this machine's GPU: all configurations, our search, Kernel Tuner's, Triton's.

    python benchmarks/tuning/examples.py exhaustive --out DIR [--only matmul …] [--seconds 60]
    python benchmarks/tuning/examples.py ours --known DIR --out DIR [--evaluations 60]
    python benchmarks/tuning/examples.py kernel-tuner --known DIR --out DIR [--strategy greedy_ils]
    python benchmarks/tuning/examples.py autotune --known DIR --out DIR
    python benchmarks/tuning/examples.py busy --only matmul --out DIR --seconds 6

`exhaustive` writes each configuration's time, or its failure, and what compiling and running it took. The
others write evaluations and seconds until a configuration is tried that is within 5 % of the best of those
times: by its time there, so that all are judged by one clock. They end then.
"""

from __future__ import annotations

import argparse
import contextlib
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
CUDA = ("matmul", "hotspot", "reduction", "transpose", "stencil")
TRITON = ("softmax", "attention", "layer_norm")
WITHIN = 1.05


def run(name: str, store: Path, **given: Any) -> Any:
    """Tune an example; returns what was found and the moments of each trial."""
    moments: list[tuple[float, Any]] = []
    started = time.perf_counter()
    watch = given.pop("watch", lambda moment, trial: None)

    def notice(trial: Any, progress: Any) -> None:
        moments.append((time.perf_counter() - started, trial))
        watch(*moments[-1])

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
        began = time.perf_counter()
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
            "wall": round(time.perf_counter() - began, 3),  # with imports, arguments, reference and finals
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


TENTH = {
    "matmul": 30,
    "hotspot": 150,
    "reduction": 150,
    "transpose": 30,
    "stencil": 30,
}  # timed runs that take a tenth of a compilation


def busy(options: argparse.Namespace) -> None:
    """How long the GPU works where a compilation takes about ten times a measurement."""
    for name in options.only:
        store = options.out / f"busy_{name}.sqlite"
        store.unlink(missing_ok=True)
        more = {"patience": 0.0, "timed": TENTH[name], "finalists": 0}
        found, _ = run(name, store, strategy="random", seconds=options.seconds, **more)
        passed = [trial for trial in found.trials if trial.passed]
        first = found.first_result or 0.0
        compiling = sum(trial.compile_seconds for trial in passed) / len(passed)
        data = {
            "kernel": name,
            **environment(),
            "device": found.device,
            "measured": len(passed),
            "seconds": round(found.seconds, 3),
            "first_result": round(first, 3),
            "compile_seconds": round(compiling, 4),
            "compile_over_measure": round(compiling / (found.measuring / len(found.trials)), 2),
            "busy": round(found.measuring / found.seconds, 3),
            "busy_after_the_first": round(found.measuring / (found.seconds - first), 3),
        }
        shown = {key: value for key, value in data.items() if key in list(data)[-8:]}
        print(json.dumps({"kernel": name, **shown}), flush=True)
        write(options.out / f"busy_{name}.json", data)


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


class Known:
    """The configurations within 5 % of the best of a recording."""

    def __init__(self, options: argparse.Namespace, name: str) -> None:
        path = options.known / f"exhaustive_{name}.json"
        if not path.is_file():
            path = ROOT / "benchmarks" / "results" / f"h100_tuning_{name}.json"
        data = json.loads(path.read_text(encoding="utf-8"))
        trials = data["trials"] if "trials" in data else unpacked(data)
        times = [(one["time"], one["configuration"]) for one in trials if one["time"] is not None]
        self.best = min(time for time, _ in times)
        self._good = {key(one) for time, one in times if time <= WITHIN * self.best}

    def is_good(self, configuration: dict[str, Any]) -> bool:
        return key(configuration) in self._good


def key(configuration: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(sorted(configuration.items()))


def unpacked(data: dict[str, Any]) -> list[dict[str, Any]]:
    """The trials of a result that is kept as columns and rows."""
    names = list(data["best"])
    found = [dict(zip(data["columns"], row, strict=True)) for row in data["rows"]]
    return [{"configuration": {name: one[name] for name in names}, "time": one["time_ms"]} for one in found]


class Reached(Exception):
    """A good configuration was tried."""


def ours(options: argparse.Namespace) -> None:
    for name in options.only:
        known = Known(options, name)
        for seed in range(options.seeds):
            store = options.out / f"ours_{name}_{seed}.sqlite"
            store.unlink(missing_ok=True)
            times: list[Any] = []

            def notice(moment: float, trial: Any, times: Any = times, known: Known = known) -> None:
                times.append((moment, trial.time, trial.configuration))
                if known.is_good(trial.configuration):
                    raise Reached

            with contextlib.suppress(Reached):
                run(
                    *(name, store),
                    strategy=options.strategy,
                    seed=seed,
                    evaluations=options.evaluations,
                    seconds=options.seconds,
                    finalists=0,
                    watch=notice,
                )
            report(options, "ours", name, known, times, seed=seed)


def kernel_tuner(options: argparse.Namespace) -> None:
    from beside import tuned_by_kernel_tuner

    for name in options.only:
        known = Known(options, name)
        for seed in range(options.seeds):
            started = time.perf_counter()
            folder = ROOT / "examples" / "tuning" / name
            try:
                times = tuned_by_kernel_tuner(folder, options, seed, known.is_good)
            except Exception as error:  # the others go on
                print(name, "failed", type(error).__name__, str(error)[:1500], flush=True)
                continue
            took = time.perf_counter() - started
            report(options, "kernel-tuner", name, known, times, seed=seed, seconds=took)


def autotune(options: argparse.Namespace) -> None:
    from beside import tuned_by_triton

    for name in options.only:
        started = time.perf_counter()
        times = tuned_by_triton(__import__(name), started)
        took = time.perf_counter() - started
        report(options, "autotune", name, Known(options, name), times, seconds=took)


def report(
    options: argparse.Namespace,
    who: str,
    name: str,
    known: Known,
    times: list[tuple[float, float | None, dict[str, Any]]],
    **more: Any,
) -> None:
    passed = [t for _, t, _ in times if t is not None]
    hit = next(((i + 1, moment) for i, (moment, _, one) in enumerate(times) if known.is_good(one)), None)
    data = {
        "who": who,
        "kernel": name,
        "known": known.best,
        "best": min(passed, default=None),
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
    parser.add_argument("what", choices=("exhaustive", "ours", "kernel-tuner", "autotune", "busy"))
    parser.add_argument("--only", nargs="*", default=None)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--known", type=Path, default=None)
    parser.add_argument("--seconds", type=float, default=None)
    parser.add_argument("--evaluations", type=int, default=None)
    parser.add_argument("--strategy", default="auto")
    parser.add_argument("--seeds", type=int, default=1)
    options = parser.parse_args()
    able = {"kernel-tuner": CUDA, "busy": CUDA, "autotune": TRITON}.get(options.what, (*CUDA, *TRITON))
    options.only = options.only or list(able)
    options.known = options.known or options.out
    options.out.mkdir(parents=True, exist_ok=True)
    works = {
        "exhaustive": exhaustive,
        "ours": ours,
        "kernel-tuner": kernel_tuner,
        "autotune": autotune,
        "busy": busy,
    }
    works[options.what](options)


if __name__ == "__main__":
    main()
