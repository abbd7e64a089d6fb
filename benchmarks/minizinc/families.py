"""Families of MiniZinc models, drawn, flattened for each solver and solved; a table and a results file.

    python benchmarks/minizinc/families.py [--solvers constrint cp-sat gecode] [--seeds 0 1] [--sizes 1 2]
        [--limit 10] [--only NAME …] [--set all|steered|later] [--again]
        [--out benchmarks/results/minizinc_families.json]

Counted is the processor time of solving. constrint and Gecode: the process of `fzn-…` with the FlatZinc that
`minizinc -c` makes with the solver's own library, less the same process for an empty model. CP-SAT: our
FlatZinc, read, lowered and given to CP-SAT (`backend="cp-sat"`, one worker), without imports. All options
are the default's. Objectives and claims that there is no solution are compared between the solvers.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from time import process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from drawn import DRAWN, LATER, STEERED, text
from environment import environment

HERE = Path(__file__).resolve().parent
FLOOR = 0.01  # seconds; shorter times count as this in geometric means
EMPTY = "var 0..1: x :: output_var;\nsolve satisfy;\n"
CONSTRINT = [sys.executable, "-c", "from constrint.cli.flatzinc import main; main()"]
Answer = dict[str, Any]


def compiled(model: Path, data: str, solver: str, folder: Path, seconds: float) -> Path | str:
    """The FlatZinc of a model for a solver; what MiniZinc says where it makes none in some seconds."""
    given, to = folder / "data.dzn", folder / f"{solver}.fzn"
    given.write_text(data, encoding="utf-8")
    said = ""
    # Debian's library for Gecode is older than its MiniZinc: the standard one stands in for it.
    ways = [["--solver", "gecode"], ["--solver", "gecode", "-G", "std"]]
    if solver == "constrint":
        from constrint.cli.flatzinc import description

        (folder / "constrint.msc").write_text(json.dumps(description()), encoding="utf-8")
        ways = [["--solver", "constrint"]]
    for options in ways:
        command = ["minizinc", "-c", *options, str(model), str(given), "--fzn", str(to), "--no-output-ozn"]
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
            env=os.environ | {"MZN_SOLVER_PATH": str(folder)},
        )
        if done.returncode == 0:
            return to
        said = done.stderr.strip().replace("\n", " | ")[-300:]
    return said


def limited(seconds: float) -> Callable[[], None]:
    """What sets a process's limit of processor time."""
    return lambda: resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(seconds), math.ceil(seconds) + 1))


def process(command: list[str], limit: float) -> tuple[str, float, int]:
    """The output of a process, its processor time and its exit status."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, preexec_fn=limited(limit)
    ) as child:
        out = child.communicate()[0]
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return out, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, child.returncode


def by_cp_sat(file: Path, limit: float) -> None:
    """Solve FlatZinc by CP-SAT in this process, and print the answer."""
    from constrint import Model
    from constrint.backends import cp_sat  # noqa: F401 - imports are no part of the time
    from constrint.frontends.flatzinc import read_flatzinc

    started = process_time()
    flat = read_flatzinc(file.read_text(encoding="utf-8"))
    result = Model.of(flat.model).solve(backend="cp-sat", time_limit=3 * limit)
    answer: Answer = {"status": result.status.value, "seconds": round(process_time() - started, 4)}
    if result and flat.model.goals:
        answer["objective"] = result.objective
    print(json.dumps(answer))


def status_of(out: str) -> str:
    """What a FlatZinc solver said."""
    if "=====UNSATISFIABLE" in out:
        return "infeasible"
    if "==========" in out:
        return "optimal"
    return "feasible" if "----------" in out else "unknown"


def solved(solver: str, file: Path, is_optimising: bool, limit: float, start: float) -> Answer:
    """A solver's answer."""
    if solver == "cp-sat":
        command = [sys.executable, __file__, "--cp-sat", str(file), "--limit", str(limit)]
        out, _, code = process(command, limit + 3)
        found = [line for line in out.splitlines() if line.startswith("{")]
        answer = dict(json.loads(found[-1])) if found else {"status": "unknown", "seconds": limit}
    else:
        command = CONSTRINT if solver == "constrint" else ["fzn-gecode"]
        out, seconds, code = process(
            [*command, "-s", str(file)] if solver == "gecode" else [*command, str(file)], limit + start
        )
        answer = {"status": status_of(out), "seconds": round(max(0.0, seconds - start), 4)}
        said = re.findall(r"^bench_objective = (-?\d+);", out, re.M)
        if said:
            answer["objective"] = int(said[-1])
    wanted = ("optimal", "infeasible") if is_optimising else ("optimal", "infeasible", "feasible")
    answer["solved"] = answer["status"] in wanted and answer["seconds"] <= limit
    if answer["status"] == "unknown" and code not in (-24, -9) and solver != "cp-sat":
        answer["error"] = out.strip()[-200:]
    return answer


def named_objective(file: Path) -> bool:
    """Make the objective an output of the FlatZinc; whether there is one."""
    flat = file.read_text(encoding="utf-8")
    found = re.search(r"^solve\b.*\b(?:minimize|maximize)\s+(\w+)\s*;", flat, re.M)
    if found is None:
        return False
    name = found[1]
    flat = re.sub(r":: *output_(?:var|array\([^;=]*?\]\))", "", flat)
    flat = re.sub(rf"(?<![\w]){re.escape(name)}(?![\w])", "bench_objective", flat)
    flat = re.sub(r"^(var [^:]+: *bench_objective)\b", r"\1 :: output_var", flat, count=1, flags=re.M)
    file.write_text(flat, encoding="utf-8")
    return True


def compared(row: dict[str, Any], is_minimised: bool) -> None:
    """Mark claims that other solvers contradict."""
    answers = [a for a in row.values() if isinstance(a, dict) and "status" in a]
    values = [a["objective"] for a in answers if "objective" in a]
    for a in answers:
        wrong = a["status"] == "infeasible" and any(b["status"] in ("optimal", "feasible") for b in answers)
        if a["status"] == "optimal" and "objective" in a:
            wrong |= a["objective"] != (min(values) if is_minimised else max(values))
        if wrong:
            a["wrong"], a["solved"] = True, False


def measured(
    name: str, seed: int, size: int, solvers: list[str], limit: float, starts: dict[str, float]
) -> dict[str, Any]:
    """One row of the table."""
    row: dict[str, Any] = {"family": name, "seed": seed, "size": size}
    data = text(DRAWN[name](Random(f"{name} {seed} {size}"), size))
    with tempfile.TemporaryDirectory() as folder:
        flat = None
        for solver in solvers:
            kind = "gecode" if solver == "gecode" else "constrint"
            file = compiled(HERE / "models" / f"{name}.mzn", data, kind, Path(folder), 300)
            if isinstance(file, str):
                row[solver] = {"status": "error", "seconds": limit, "solved": False, "error": file}
                continue
            flat = file.read_text(encoding="utf-8")
            is_optimising = named_objective(file)
            row[solver] = solved(solver, file, is_optimising, limit, starts.get(solver, 0.0))
        compared(row, flat is None or "minimize" in flat)
    return row


def line(row: dict[str, Any], solvers: list[str]) -> str:
    """A row as text."""
    cells = []
    for solver in solvers:
        a = row.get(solver)
        if a is None:
            cells.append("")
        elif a.get("wrong"):
            cells.append("WRONG")
        else:
            cells.append(f"{a['seconds']:.2f}" if a["solved"] else f"{a['status']}")
    return f"{row['family']:16}{row['seed']:3}{row['size']:3}" + "".join(f"{cell:>12}" for cell in cells)


def summary(rows: list[dict[str, Any]], solvers: list[str], limit: float) -> dict[str, Any]:
    """Solved, wrong and geometric means, unsolved at the limit."""
    found = {}
    for solver in solvers:
        known = [row[solver] for row in rows if solver in row]
        logs = [math.log(max(FLOOR, min(limit, a["seconds"]) if a["solved"] else limit)) for a in known]
        found[solver] = {
            "models": len(known),
            "solved": sum(a["solved"] for a in known),
            "wrong": sum(bool(a.get("wrong")) for a in known),
            "geometric mean": round(math.exp(sum(logs) / max(1, len(logs))), 4),
        }
    return found


def start_of(solver: str) -> float:
    """The processor time of a solver for an empty model, the median of five."""
    if solver == "cp-sat":
        return 0.0
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "empty.fzn"
        file.write_text(EMPTY, encoding="utf-8")
        command = CONSTRINT if solver == "constrint" else ["fzn-gecode"]
        return sorted(process([*command, str(file)], 60)[1] for _ in range(5))[2]


def main() -> None:
    """Measure the families."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--solvers", nargs="+", default=["constrint", "cp-sat", "gecode"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1])
    parser.add_argument("--sizes", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--limit", type=float, default=10.0)
    parser.add_argument("--only", nargs="+", default=list(DRAWN), choices=list(DRAWN), metavar="NAME")
    parser.add_argument("--set", choices=["all", "steered", "later"], default="all", dest="which")
    parser.add_argument("--again", action="store_true", help="measure anew what is in the file")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--cp-sat", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.cp_sat:
        by_cp_sat(given.cp_sat, given.limit)
        return
    rows: list[dict[str, Any]] = []
    if given.out and given.out.exists():
        rows = json.loads(given.out.read_text(encoding="utf-8"))["rows"]
    starts = {solver: start_of(solver) for solver in given.solvers}
    print({solver: round(seconds, 3) for solver, seconds in starts.items()})
    print(f"{'family':16}{'':6}" + "".join(f"{solver:>12}" for solver in given.solvers))
    chosen = {"all": list(DRAWN), "steered": STEERED, "later": LATER}[given.which]
    names = [name for name in given.only if name in chosen]
    for size, seed, name in [(z, s, n) for z in given.sizes for s in given.seeds for n in names]:
        row = next((r for r in rows if (r["family"], r["seed"], r["size"]) == (name, seed, size)), None)
        if row is None:
            row = {"family": name, "seed": seed, "size": size}
            rows.append(row)
        missing = [s for s in given.solvers if given.again or s not in row]
        if missing:
            row |= measured(name, seed, size, missing, given.limit, starts)
            print(line(row, given.solvers), flush=True)
        if given.out and missing:
            head = {"environment": environment("ortools"), "limit": given.limit, "start": starts}
            text_of = json.dumps(
                {**head, "summary": summary(rows, given.solvers, given.limit), "rows": rows}, indent=1
            )
            given.out.write_text(text_of + "\n", encoding="utf-8")
    print(json.dumps(summary(rows, given.solvers, given.limit), indent=1))


if __name__ == "__main__":
    main()
