"""Accuracy of time limits: models of many kinds, by many entry points, each in its own process.

    python benchmarks/solver/limits.py [--limits 0.5,2] [--only set_cover,squares] [--entries best,count]
        [--drawn 20] [--seed 1] [--out benchmarks/results/limits.json]

Reports by how much a call exceeds its limit, in wall time and in the process's processor time, without
building the model and importing the package; the worst first. A call that ends before its limit is not late.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

PATIENCE = 60.0  # seconds beyond the limit after which a process is killed
Entry = Callable[[Any, Any, float], object]


def _solve(**options: Any) -> Entry:
    def entry(model: Any, goal: Any, limit: float) -> object:
        result = model.solve(minimize=goal, time_limit=limit, **options)
        return result.status.value

    return entry


def _feasible(**options: Any) -> Entry:
    def entry(model: Any, goal: Any, limit: float) -> object:
        return model.solve(time_limit=limit, **options).status.value

    return entry


def _listed(model: Any, goal: Any, limit: float) -> object:
    return sum(1 for _ in model.iter_solutions(time_limit=limit))


def _count(model: Any, goal: Any, limit: float) -> object:
    from constrint import LimitError

    try:
        return model.count(time_limit=limit)
    except LimitError:
        return "limit"


def _set(model: Any, goal: Any, limit: float) -> object:
    from constrint import LimitError

    try:
        return str(model.solutions(time_limit=limit).size)
    except LimitError:
        return "limit"


def _pareto(model: Any, goal: Any, limit: float) -> object:
    first = next(iter(model.variables.values()))
    return len(model.pareto([(goal, "min"), (first, "max")], time_limit=limit))


def _explain(model: Any, goal: Any, limit: float) -> object:
    from constrint import LimitError

    model.add(goal <= -(10**9))
    try:
        conflict = model.explain(time_limit=limit)
    except LimitError:
        return "limit"
    return conflict is not None and len(conflict.constraints)


def _file(flags: list[str], write: Callable[[Any], str], ending: str) -> Entry:
    """The command `constrint` on a file, including reading it."""

    def entry(model: Any, goal: Any, limit: float) -> object:
        from typer.testing import CliRunner

        from constrint.cli.main import app

        name = str(Path(tempfile.mkdtemp()) / f"model{ending}")
        Path(name).write_text(write(model), encoding="utf-8")
        entry.began = perf_counter(), process_time()  # type: ignore[attr-defined] # writing is not counted
        with contextlib.redirect_stdout(io.StringIO()):
            result = CliRunner().invoke(app, [*flags, name, "--time-limit", str(limit)])
        return f"exit {result.exit_code}"

    return entry


ENTRIES: dict[str, Entry] = {
    "best": _solve(),
    "first": _feasible(),
    "learn": _solve(learn=True),
    "branch": _solve(learn=False),
    "lns": _solve(lns=True),
    "restarts": _solve(restarts="luby"),
    "interpreted": _solve(engine="interpreted"),
    "workers": _solve(workers=2),
    "cp-sat": _solve(backend="cp-sat"),
    "list": _listed,
    "count": _count,
    "set": _set,
    "pareto": _pareto,
    "explain": _explain,
    "cli": _file(["solve"], lambda m: str(m.to_text()), ".constrint"),
    "cli-count": _file(["solve", "--count"], lambda m: str(m.to_json()), ".json"),
}


def one(name: str, entry: str, limit: float) -> dict[str, object]:
    """Measure a row in this process."""
    from limits_models import MODELS, drawn

    model, goal = drawn(int(name.split("_")[1])) if name.startswith("drawn") else MODELS[name]()
    run = ENTRIES[entry]
    run.began = perf_counter(), process_time()  # type: ignore[attr-defined] # noted where an entry prepares
    answer = run(model, goal, limit)
    wall, cpu = (now - then for now, then in zip((perf_counter(), process_time()), run.began, strict=True))  # type: ignore[attr-defined] # as above
    return {"answer": answer, "clock": round(wall, 3), "processor": round(cpu, 3)}


def measured(name: str, entry: str, limit: float) -> dict[str, object]:
    """Measure a row in its own process."""
    command = [sys.executable, __file__, "--one", name, entry, str(limit)]
    row: dict[str, object] = {"model": name, "entry": entry, "limit": limit}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=limit + PATIENCE, check=False, env=os.environ
        )
    except subprocess.TimeoutExpired:
        return {**row, "answer": "killed", "clock": limit + PATIENCE, "processor": limit + PATIENCE}
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["?"]
        return {**row, "answer": f"error: {said[-1][:100]}", "clock": 0.0, "processor": 0.0}
    return {**row, **json.loads(done.stdout.splitlines()[-1])}


def overshoot(row: dict[str, Any]) -> float:
    """Seconds beyond the limit, by the smaller of wall and processor time: other work is not ours."""
    return float(min(row["clock"], row["processor"])) - float(row["limit"])


def main() -> None:
    from limits_models import MODELS

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limits", default="0.5")
    parser.add_argument("--only", default="")
    parser.add_argument("--entries", default=",".join(ENTRIES))
    parser.add_argument("--drawn", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--one", nargs=3)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(one(args.one[0], args.one[1], float(args.one[2]))))
        return
    names = [name for name in MODELS if not args.only or name.startswith(tuple(args.only.split(",")))]
    names += [f"drawn_{seed}" for seed in range(args.seed, args.seed + args.drawn)]
    rows = []
    for name in names:
        for entry in args.entries.split(","):
            for limit in args.limits.split(","):
                rows.append(measured(name, entry, float(limit)))
                print(_line(rows[-1]), file=sys.stderr, flush=True)
    rows.sort(key=overshoot, reverse=True)
    print("model entry limit clock processor late answer")
    print("\n".join(map(_line, rows)))
    late = [row for row in rows if overshoot(row) > max(0.2, 0.1 * float(row["limit"]))]  # type: ignore[arg-type] # a number
    print(f"{len(late)} of {len(rows)} calls were late by more than 10 % and 0.2 s")
    if args.out:
        from environment import environment

        result = {"environment": environment("numpy", "numba"), "late": len(late), "rows": rows}
        args.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def _line(row: dict[str, Any]) -> str:
    return (
        f"{row['model']:<18} {row['entry']:<12} {row['limit']:>4} {row['clock']:>7.2f} "
        f"{row['processor']:>7.2f} {overshoot(row):>+6.2f} {row['answer']}"
    )


if __name__ == "__main__":
    main()
