"""Instances of real size: solved, first solution, primal integral and memory of several solvers.

    python benchmarks/minizinc/large/large_run.py [--solvers constrint cp-sat gecode] [--limit 60]
        [--sizes 1 2 3] [--only NAME …] [--set all|steered|unsteered] [--seconds 3600] [--again]
        [--out benchmarks/results/minizinc_large.json]

Counted is the processor time of whole processes on one core: constrint's and Gecode's FlatZinc commands on
what `minizinc -c` makes with their own library, and CP-SAT with one worker on the normal form of constrint's
FlatZinc (`backend="cp-sat"`), reading and lowering included. A solution counts from the processor time of its
process when it is printed. The primal integral is that of the gap to the best objective that any solver
found, 1 without a solution, as a part of the limit (Berthold, "Measuring the impact of primal heuristics",
2013). Memory is the peak of the process. The file is written after each instance, and a call goes on where
the last one ended.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from threading import Timer
from time import monotonic
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from drawn_data import text
from environment import environment
from families import CONSTRINT, compiled, limited, named_objective, status_of
from large_kinds import KINDS, SIZES, drawn

PATIENCE = 10  # wall clock of a process, as a multiple of its processor time
TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
SOLVERS = ("constrint", "cp-sat", "gecode")
Answer = dict[str, Any]


def flattened(name: str, size: int, solver: str, folder: Path) -> Path | str:
    """The FlatZinc of an instance for a solver; what MiniZinc says where it makes none."""
    kind = "gecode" if solver == "gecode" else "constrint"
    return compiled(KINDS[name].model, text(drawn(name, size)), kind, folder, 600)


def by_cp_sat(file: Path, limit: float) -> None:
    """Solve FlatZinc by CP-SAT in this process, and print solutions as they come."""
    from constrint import Model
    from constrint.frontends.flatzinc import read_flatzinc

    flat = read_flatzinc(file.read_text(encoding="utf-8"))

    def shown(result: Any) -> None:
        if flat.model.goals:
            print(f"bench_objective = {result.objective};")
        print("----------", flush=True)

    model = Model.of(flat.model)
    has_goal = bool(flat.model.goals)
    options = {"on_solution": shown} if has_goal else {}
    result = model.solve(backend="cp-sat", time_limit=PATIENCE * limit, **options)
    if result and not has_goal:
        shown(result)
    if result.status.value == "infeasible":
        print("=====UNSATISFIABLE=====")
    elif result.status.value == "optimal":
        print("==========")


def processor(pid: int) -> float:
    """The processor time of a running process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def measured(command: list[str], limit: float, *, by_clock: bool = False) -> Answer:
    """The solutions of a process with their times, its end and its memory."""
    found: list[tuple[float, int | None]] = []
    lines: list[str] = []
    objective: int | None = None
    began = monotonic()

    def now() -> float:
        return monotonic() - began if by_clock else processor(child.pid)

    child = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=None if by_clock else limited(limit),
    )
    timer = Timer(limit + 5 if by_clock else PATIENCE * limit, child.kill)
    timer.start()
    assert child.stdout is not None
    for line in child.stdout:
        lines = [*lines[-20:], line]
        if said := re.match(r"bench_objective = (-?\d+);", line):
            objective = int(said[1])
        elif line.startswith("----------"):
            at = limit
            with contextlib.suppress(OSError, IndexError):  # it may have ended
                at = now()
            found.append((round(min(at, limit), 2), objective))
    _, status, used = os.wait4(child.pid, 0)
    timer.cancel()
    child.returncode = os.waitstatus_to_exitcode(status)
    wall, both = monotonic() - began, used.ru_utime + used.ru_stime
    answer: Answer = {
        "status": status_of("".join([*lines, "----------\n" * bool(found)])),
        "seconds": round(min(limit, wall if by_clock else both), 2),
        "wall": round(wall, 1),
        "processor": round(both, 1),
        "megabytes": used.ru_maxrss // 1024,
        "solutions": [found[0], *found[-1:]] if found else [],
        "path": found,
    }
    if not found and child.returncode not in (0, -signal.SIGXCPU, -signal.SIGKILL):
        answer["error"] = "".join(lines)[-300:]
    return answer


def integral(path: list[tuple[float, int | None]], best: int | None, limit: float) -> float:
    """The primal integral as a part of the limit; without an objective, the time of the first solution."""
    area, at, gap = 0.0, 0.0, 1.0
    for seconds, value in path:
        area += gap * (seconds - at)
        at = seconds
        if value is None or best is None:
            gap = 0.0
        else:
            gap = 0.0 if value == best else min(1.0, abs(value - best) / max(abs(value), abs(best)))
    return round((area + gap * (limit - at)) / limit, 4)


def compared(row: dict[str, Any], is_minimised: bool, has_goal: bool, limit: float) -> None:
    """Add primal integrals, what is solved, and claims that another solver contradicts."""
    answers = [row[solver] for solver in SOLVERS if "path" in row.get(solver, {})]
    values = [value for a in answers for _, value in a["path"] if value is not None]
    best = (min(values) if is_minimised else max(values)) if values else None
    row["best"] = best
    for a in answers:
        ends = ("optimal", "infeasible") if has_goal else ("optimal", "infeasible", "feasible")
        a["solved"] = a["status"] in ends
        is_infeasible = a["status"] == "infeasible"
        a["integral"] = round(a["seconds"] / limit, 4) if is_infeasible else integral(a["path"], best, limit)
        a["first"] = a["path"][0][0] if a["path"] else None
        a["objective"] = a["path"][-1][1] if a["path"] else None
        wrong = a["status"] == "infeasible" and any(b["path"] for b in answers)
        if wrong or (has_goal and a["status"] == "optimal" and a["objective"] != best):
            a["wrong"], a["solved"] = True, False
    for a in answers:
        del a["path"]


def row_of(name: str, size: int, solvers: list[str], limit: float) -> dict[str, Any]:
    """An instance by all solvers."""
    row: dict[str, Any] = {"kind": name, "size": size, "steered": KINDS[name].is_steered_by}
    flat = ""
    with tempfile.TemporaryDirectory() as folder:
        for solver in solvers:
            file = flattened(name, size, solver, Path(folder))
            if isinstance(file, str):
                row[solver] = {"status": "error", "error": file, "solved": False}
                continue
            named_objective(file)
            flat = file.read_text(encoding="utf-8")
            command = {
                "constrint": [*CONSTRINT, "-a", str(file)],
                "gecode": ["fzn-gecode", "-a", str(file)],
                "cp-sat": [sys.executable, __file__, "--cp-sat", str(file), "--limit", str(limit)],
            }[solver]
            if "satisfy" in flat.rsplit("solve", 1)[-1]:
                command = [part for part in command if part != "-a"]
            row[solver] = measured(command, limit)
    ending = flat.rsplit("solve", 1)[-1]
    compared(row, "maximize" not in ending, "satisfy" not in ending, limit)
    return row


def summary(rows: list[dict[str, Any]], solvers: list[str]) -> dict[str, Any]:
    """The figures of each solver, over all rows and over both halves."""
    found: dict[str, Any] = {}
    for part, chosen in (
        ("all", rows),
        ("steered", [row for row in rows if row["steered"]]),
        ("unsteered", [row for row in rows if not row["steered"]]),
    ):
        for solver in solvers:
            known = [row[solver] for row in chosen if "integral" in row.get(solver, {})]
            found.setdefault(part, {})[solver] = {
                "instances": len(known),
                "solved": sum(a["solved"] for a in known),
                "wrong": sum("wrong" in a for a in known),
                "with a solution": sum(a["first"] is not None for a in known),
                "mean primal integral": round(sum(a["integral"] for a in known) / max(1, len(known)), 4),
                "most megabytes": max((a["megabytes"] for a in known), default=0),
            }
    return found


def shown(row: dict[str, Any], solvers: list[str]) -> str:
    """A row as text: the end or the objective, the first solution, the integral and the memory."""
    cells = []
    for solver in solvers:
        a = row.get(solver, {})
        if "integral" not in a:
            cells.append(a.get("status", "-"))
            continue
        end = "WRONG" if "wrong" in a else f"{a['seconds']} s" if a["solved"] else str(a["objective"])
        cells.append(f"{end}, first {a['first']}, {a['integral']:.3f}, {a['megabytes']} MB")
    return f"{row['kind']:12} {row['size']}  " + "  |  ".join(cells)


def main() -> None:
    """Measure the instances."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--solvers", nargs="+", default=list(SOLVERS), choices=SOLVERS)
    parser.add_argument("--limit", type=float, default=60.0)
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES))
    parser.add_argument("--only", nargs="+", default=list(KINDS), choices=list(KINDS), metavar="NAME")
    parser.add_argument("--set", choices=["all", "steered", "unsteered"], default="all", dest="which")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no instance after these")
    parser.add_argument("--again", action="store_true", help="measure anew what is in the file")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--cp-sat", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.cp_sat:
        by_cp_sat(given.cp_sat, given.limit)
        return
    rows: list[dict[str, Any]] = []
    if given.out and given.out.exists() and not given.again:
        rows = json.loads(given.out.read_text(encoding="utf-8"))["rows"]
    known = {(row["kind"], row["size"]) for row in rows}
    began = monotonic()
    for name in given.only:
        if given.which != "all" and KINDS[name].is_steered_by != (given.which == "steered"):
            continue
        for size in given.sizes:
            if (name, size) in known or monotonic() - began > given.seconds:
                continue
            rows.append(row_of(name, size, given.solvers, given.limit))
            print(shown(rows[-1], given.solvers), flush=True)
            if given.out:
                report = {"limit": given.limit, "environment": environment("ortools", "highspy")}
                report |= {"summary": summary(rows, given.solvers), "rows": rows}
                given.out.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(summary(rows, given.solvers), indent=1))


if __name__ == "__main__":
    main()
