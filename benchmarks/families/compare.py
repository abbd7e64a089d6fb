"""Families of small models solved by several solvers through CPMpy, with a table.

    python benchmarks/families/compare.py [--solvers constrint ortools choco pumpkin] [--seeds 0 1]
        [--limit 10] [--only NAME …] [--out benchmarks/results/families.json]

Each model, solver and seed has a process of its own with one thread. Counted is the processor time from the
CPMpy model to its answer: posting and solving, after imports and loading of machine code. A process that
uses more than the limit is ended. Even seeds are for steering, odd seeds are held out. Solutions are
evaluated by CPMpy; claims of optima and of infeasibility are compared with what the others found.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import subprocess
import sys
from pathlib import Path
from time import process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from environment import environment
from packing_families import FAMILIES as PACKING
from puzzle_families import FAMILIES as PUZZLES
from schedule_families import FAMILIES as SCHEDULES

FAMILIES = {family.__name__: family for family in [*PACKING, *SCHEDULES, *PUZZLES]}
ONE_THREAD: dict[str, dict[str, Any]] = {"ortools": {"num_search_workers": 1}}
FLOOR = 0.01  # seconds; shorter times count as this in geometric means
PROVED = ("OPTIMAL", "UNSATISFIABLE")


def prepare(solver: str) -> None:
    """Import a solver, and load machine code where it has that to load."""
    import cpmpy

    if solver == "constrint":
        import constrint.integrations.cpmpy  # noqa: F401
        from constrint.engine.compiled import load as load_engine
        from constrint.learning.compiled_learning import load as load_learning

        load_engine()
        load_learning()
    model = cpmpy.Model(cpmpy.boolvar() == 1)
    model.solve(solver=solver)


def solve_one(family: str, seed: int, solver: str, limit: float) -> dict[str, object]:
    """Solve one model in this process."""
    from cpmpy import SolverLookup

    model = FAMILIES[family](seed)
    prepare(solver)
    used = math.ceil(process_time() + limit)
    resource.setrlimit(resource.RLIMIT_CPU, (used + 1, used + 2))
    started = process_time()
    native = SolverLookup.get(solver, model)
    native.solve(time_limit=6 * limit, **ONE_THREAD.get(solver, {}))  # wall clock, longer for a busy machine
    seconds = process_time() - started
    status = native.status().exitstatus.name
    answer: dict[str, object] = {"status": status, "seconds": round(seconds, 4)}
    if status in ("OPTIMAL", "FEASIBLE"):
        answer["correct"] = all(bool(one.value()) for one in _conditions(model.constraints))
        if model.has_objective():
            answer["objective"] = int(model.objective_value())
    answer["solved"] = seconds <= limit and (
        status in PROVED or (status == "FEASIBLE" and not model.has_objective())
    )
    return answer


def _conditions(found: Any) -> list[Any]:
    if isinstance(found, list | tuple) or (hasattr(found, "flat") and not hasattr(found, "args")):
        return [one for part in found for one in _conditions(part)]
    return [found] if hasattr(found, "value") else []


def measured(family: str, seed: int, solver: str, limit: float) -> dict[str, Any]:
    """The answer of a process of its own."""
    command = [sys.executable, __file__, "--one", family, str(seed), solver, "--limit", str(limit)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20 * limit + 60)
    except subprocess.TimeoutExpired:
        return {"status": "LIMIT", "solved": False}
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if lines:
        return dict(json.loads(lines[-1]))
    if done.returncode in (-24, -9):
        return {"status": "LIMIT", "solved": False}
    reason = done.stderr.strip().splitlines()[-1:] or [str(done.returncode)]
    return {"status": "ERROR", "solved": False, "reason": reason[0][:200]}


def mark_wrong(answers: dict[str, dict[str, Any]], is_minimised: bool) -> None:
    """Mark answers that are no solutions, or that others contradict."""
    right = [a for a in answers.values() if a.get("correct")]
    values = [a["objective"] for a in right if "objective" in a]
    for a in answers.values():
        wrong = a.get("correct") is False or (a["status"] == "UNSATISFIABLE" and bool(right))
        if a["status"] == "OPTIMAL" and values:
            wrong |= a["objective"] != (min(values) if is_minimised else max(values))
        if wrong:
            a["wrong"], a["solved"] = True, False


def summary(rows: list[dict[str, Any]], solvers: list[str], limit: float) -> dict[str, dict[str, Any]]:
    """For each solver: solved, wrong, and the geometric mean of times, unsolved at the limit."""
    found = {}
    for solver in solvers:
        answers = [row[solver] for row in rows]
        logs = [math.log(max(FLOOR, a["seconds"] if a["solved"] else limit)) for a in answers]
        found[solver] = {
            "solved": sum(a["solved"] for a in answers),
            "wrong": sum(bool(a.get("wrong")) for a in answers),
            "geometric mean": round(math.exp(sum(logs) / max(1, len(logs))), 4),
        }
    logs = []
    for row in rows:
        logs.append(
            math.log(min([max(FLOOR, row[s]["seconds"]) for s in solvers if row[s]["solved"]] or [limit]))
        )
    found["best of all"] = {"geometric mean": round(math.exp(sum(logs) / max(1, len(logs))), 4)}
    return found


def line(row: dict[str, Any], solvers: list[str]) -> str:
    """A row of the table."""
    cells = []
    for a in (row.get(solver) for solver in solvers):
        if a is None:
            cells.append("")
        else:
            said = f"{a['seconds']:.3f}" if a["solved"] else a["status"].lower()
            cells.append("WRONG" if a.get("wrong") else said)
    return f"{row['family']:28} {row['seed']:3} " + "".join(f"{cell:>14}" for cell in cells)


def joined(files: list[Path]) -> list[dict[str, Any]]:
    """The rows of several results files: later answers replace earlier ones."""
    rows: dict[tuple[str, int], dict[str, Any]] = {}
    for file in files:
        for row in json.loads(file.read_text(encoding="utf-8"))["rows"]:
            rows.setdefault((row["family"], row["seed"]), {}).update(row)
    order = list(FAMILIES)
    return [rows[key] for key in sorted(rows, key=lambda key: (order.index(key[0]), key[1]))]


def report(rows: list[dict[str, Any]], solvers: list[str], limit: float) -> dict[str, Any]:
    """The contents of a results file."""
    for row in rows:
        model = FAMILIES[row["family"]](row["seed"])
        mark_wrong({s: row[s] for s in solvers if s in row}, bool(model.objective_is_min))
    whole = [row for row in rows if all(solver in row for solver in solvers)]
    parts = {
        "steering": [row for row in whole if row["seed"] % 2 == 0],
        "held out": [row for row in whole if row["seed"] % 2],
    }
    totals = {
        part: {"models": len(some), **summary(some, solvers, limit)} for part, some in parts.items() if some
    }
    head = environment("cpmpy", "ortools", "pychoco", "pumpkin-solver")
    return {"environment": head, "limit": limit, "summary": totals, "rows": rows}


def main() -> None:
    """Run the families, or one model for a process of its own."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--solvers", nargs="+", default=["constrint", "ortools", "choco", "pumpkin"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1])
    parser.add_argument("--limit", type=float, default=10.0)
    parser.add_argument("--only", nargs="+", default=list(FAMILIES), choices=list(FAMILIES), metavar="NAME")
    parser.add_argument("--join", nargs="+", type=Path, help="results of runs in parts: nothing is run")
    parser.add_argument("--one", nargs=3, metavar=("FAMILY", "SEED", "SOLVER"), help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    if given.one:
        print("\n" + json.dumps(solve_one(given.one[0], int(given.one[1]), given.one[2], given.limit)))
        return
    print(f"{'family':28} {'':3} " + "".join(f"{solver:>14}" for solver in given.solvers))
    rows = joined(given.join) if given.join else []
    found = report(rows, given.solvers, given.limit)
    for row in rows:
        print(line(row, given.solvers))
    for name, seed in [] if given.join else [(name, seed) for seed in given.seeds for name in given.only]:
        answers = {solver: measured(name, seed, solver, given.limit) for solver in given.solvers}
        rows.append({"family": name, "seed": seed, **answers})
        found = report(rows, given.solvers, given.limit)
        print(line(rows[-1], given.solvers), flush=True)
        if given.out:  # after each model, so that nothing is lost
            given.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(found["summary"], indent=1))
    if given.out:
        given.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
