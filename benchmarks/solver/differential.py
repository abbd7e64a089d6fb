"""Random models against brute force, CP-SAT and isl, in any number; the full-size form of the tests in CI.

    python benchmarks/solver/differential.py --brute 20000 --compiled 1000 --cpsat 5000 --isl 2000 \
        --globals 1000 --output benchmarks/results/differential.json
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "constrint" / "oracles"))

from cpsat_oracle import Translation, Unsupported
from differential_checks import wrong_answers, wrong_counts
from global_oracle import wrong_optimum
from isl_oracle import PresburgerGenerator, isl_answers
from random_models import draw_model

Check = Callable[[int], list[str] | None]
"""Complaints about the model of a seed; None if the peer cannot express it."""


def brute(seed: int) -> list[str]:
    """Every kind of question, interpreted or with the engine chosen automatically, against brute force."""
    deep = seed % 5 == 0
    drawn = draw_model(seed, max_depth=5 if deep else 3, max_assignments=100 if deep else 300)
    return wrong_answers(drawn, from_text=seed % 2 == 0)


def compiled(seed: int) -> list[str]:
    """Every kind of question on the compiled engine, against brute force."""
    return wrong_answers(draw_model(seed), engine="compiled", from_text=seed % 2 == 0)


def cpsat(seed: int) -> list[str] | None:
    """Counts against CP-SAT."""
    drawn = draw_model(seed, max_assignments=2000)
    try:
        return wrong_counts(drawn, Translation(drawn).count())
    except Unsupported:
        return None


def isl(seed: int) -> list[str]:
    """Counts against isl."""
    drawn = PresburgerGenerator(seed).draw()
    return wrong_counts(drawn, *isl_answers(drawn))


def global_constraints(seed: int) -> list[str]:
    """Optima of models of several global constraints against CP-SAT's own constraints."""
    return wrong_optimum(seed)


def run(name: str, check: Check, seeds: Iterable[int]) -> dict[str, object]:
    """Check many models; returns a summary."""
    started = time.perf_counter()
    models, skipped, wrong = 0, 0, []
    for seed in seeds:
        try:
            complaints = check(seed)
        except Exception as error:  # a crash is a wrong answer; the other models still count
            complaints = [f"{type(error).__name__}: {error}"]
        if complaints is None:
            skipped += 1
            continue
        models += 1
        if complaints:
            wrong.append({"seed": seed, "complaints": complaints})
            print(f"{name}, seed {seed}: {complaints[0]}", file=sys.stderr)
    seconds = round(time.perf_counter() - started, 1)
    print(f"{name}: {models} models, {len(wrong)} wrong, {skipped} skipped, {seconds} s", flush=True)
    return {"models": models, "wrong": len(wrong), "skipped": skipped, "seconds": seconds, "failures": wrong}


def main() -> None:
    """Run the requested checks."""
    checks: dict[str, Check] = {"brute": brute, "compiled": compiled, "cpsat": cpsat, "isl": isl}
    checks["globals"] = global_constraints
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in checks:
        parser.add_argument(f"--{name}", type=int, default=0, metavar="N", help=f"models for '{name}'")
    parser.add_argument("--first-seed", type=int, default=1_000_000, help="the seeds are N from here on")
    parser.add_argument("--output", type=Path, help="JSON file to write")
    arguments = parser.parse_args()
    report: dict[str, object] = {
        "date": datetime.now(UTC).date().isoformat(),
        "python": platform.python_version(),
        "machine": platform.machine(),
        "first_seed": arguments.first_seed,
    }
    wrong = 0
    for name, check in checks.items():
        number = getattr(arguments, name)
        if number and name == "compiled":
            draw_model(0).build().solve(engine="compiled")  # compiling takes longer than a model may
        if number:
            result = run(name, check, range(arguments.first_seed, arguments.first_seed + number))
            report[name] = result
            wrong += int(str(result["wrong"]))
    if arguments.output:
        arguments.output.write_text(json.dumps(report, indent=2) + "\n")
    raise SystemExit(1 if wrong else 0)


if __name__ == "__main__":
    main()
