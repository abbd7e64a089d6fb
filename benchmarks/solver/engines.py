"""Engines beside others: propagations and conflicts a second on five models.

    python benchmarks/solver/engines.py [--only clauses,elements] [--seconds 10] [--note TEXT]
        [--out benchmarks/results/engines.json]

Each model is drawn as FlatZinc and solved for some seconds by constrint's tree search, its learning search,
CP-SAT with one worker (its propagations of clauses and of integers are added up) and Gecode, each in a
process of its own. A rate is a count over the processor seconds of the search: reading and presolve are left
out, of Gecode those of a run with a limit of one node. What counts as one propagation differs: a run of a
propagator here and in Gecode, a literal or a bound that was fixed in CP-SAT. Conflicts are failures.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from time import process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from environment import environment

SOLVERS = ("tree", "learning", "cp-sat", "gecode")
SEED = 3
Lines = Iterator[str]


def clauses(random: Random) -> Lines:
    """A million clauses of three literals over 240,000 variables."""
    n = 240_000
    yield from (f"var bool: x{i};" for i in range(n))
    for _ in range(1_000_000):
        literals = [f"x{i}" for i in random.sample(range(n), 3)]
        positive = random.randint(0, 3)
        yield f"constraint bool_clause([{','.join(literals[:positive])}],[{','.join(literals[positive:])}]);"
    yield "solve satisfy;"


def reified(random: Random) -> Lines:
    """Truth values of sums of three variables; most of them true."""
    n, m = 150, 1_500
    yield from (f"var 0..20: x{i};" for i in range(n))
    yield from (f"var bool: b{i};" for i in range(m))
    yield from (f"var 0..1: c{i};" for i in range(m))
    yield f"var 0..{m}: z:: output_var;"
    for i in range(m):
        xs = ",".join([f"x{j}" for j in random.sample(range(n), 3)])
        yield f"constraint int_lin_le_reif([1,2,-1],[{xs}],{random.randint(0, 14)},b{i});"
        yield f"constraint bool2int(b{i},c{i});"
    ones, cs = ",".join(["1"] * m), ",".join([f"c{i}" for i in range(m)])
    yield f"constraint int_lin_eq([{ones},-1],[{cs},z],0);"
    yield f"constraint int_le({m * 3 // 4},z);"
    yield "solve maximize z;"


def elements(random: Random) -> Lines:
    """Entries of arrays of 100 numbers, three of which have a bounded sum; the least sum of all."""
    n = 60
    yield from (f"var 1..100: i{k};" for k in range(n))
    yield from (f"var 0..99: y{k};" for k in range(n))
    yield f"var 0..{99 * n}: z:: output_var;"
    for k in range(n):
        numbers = ",".join([str(random.randint(0, 99)) for _ in range(100)])
        yield f"constraint array_int_element(i{k},[{numbers}],y{k});"
    for _ in range(3 * n):
        a, b, c = random.sample(range(n), 3)
        yield f"constraint int_lin_le([-1,-1,-1],[y{a},y{b},i{c}],-{random.randint(120, 180)});"
        yield f"constraint int_lin_le([1,1],[i{a},y{b}],{random.randint(110, 160)});"
    ones, ys = ",".join(["1"] * n), ",".join([f"y{k}" for k in range(n)])
    yield f"constraint int_lin_eq([{ones},-1],[{ys},z],0);"
    yield "solve minimize z;"


def different(random: Random) -> Lines:
    """A Golomb ruler of 11 marks: 55 differences that differ; the shortest."""
    n, most = 11, 100
    yield from (f"var {'0..0' if i == 0 else f'0..{most}'}: x{i};" for i in range(n))
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    yield from (f"var 1..{most}: d{i}_{j};" for i, j in pairs)
    yield from (f"constraint int_lin_eq([1,-1,1],[x{i},x{j},d{i}_{j}],0);" for i, j in pairs)
    yield f"constraint ALL_DIFFERENT([{','.join([f'd{i}_{j}' for i, j in pairs])}]);"
    yield f"constraint int_lin_le([1,-1],[d0_1,d{n - 2}_{n - 1}],-1);"
    yield f"solve minimize x{n - 1};"


def resources(random: Random) -> Lines:
    """A project of 90 tasks on four resources, with a precedence each; the least span."""
    n, horizon = 90, 600
    durations = [random.randint(1, 10) for _ in range(n)]
    yield from (f"var 0..{horizon}: s{i};" for i in range(n))
    yield f"var 0..{horizon}: z:: output_var;"
    for i in range(n):
        yield f"constraint int_lin_le([1,-1],[s{i},z],-{durations[i]});"
        if i + 1 < n:
            yield f"constraint int_lin_le([1,-1],[s{i},s{random.randrange(i + 1, n)}],-{durations[i]});"
    starts = ",".join([f"s{i}" for i in range(n)])
    for _ in range(4):
        demands = ",".join([str(random.randint(1, 7)) for _ in range(n)])
        yield f"constraint CUMULATIVE([{starts}],[{','.join(map(str, durations))}],[{demands}],10);"
    yield "solve minimize z;"


MODELS: dict[str, Callable[[Random], Lines]] = {
    "clauses": clauses,
    "reified": reified,
    "elements": elements,
    "all_different": different,
    "cumulative": resources,
}


def ours(file: Path, seconds: float, learn: bool) -> dict[str, Any]:
    """The counts of constrint's search."""
    from constrint import Model, all_different
    from constrint.frontends.flatzinc import read_flatzinc
    from constrint.modelling.objectives import as_goals
    from constrint.preparing.prepared import Prepared

    m = Model.of(read_flatzinc(file.read_text(encoding="utf-8")).model)
    small = Model()
    small.add(all_different(small.int_vars("x", 9, 0, 7)))
    small.solve(learn=learn, engine="compiled")  # machine code is loaded
    began = process_time()
    Prepared(m, as_goals(m.goals), (), may_compile=True)
    before = process_time() - began
    began = process_time()
    result = m.solve(learn=learn, engine="compiled", time_limit=before + seconds)
    spent, work = process_time() - began - before, result.statistics
    return {
        "status": result.status.value,
        "preparing": before,
        "seconds": spent,
        "propagations": work.propagations,
        "conflicts": work.failures,
    }


def cp_sat(file: Path, seconds: float) -> dict[str, Any]:
    """The counts of CP-SAT with one worker, on the normal form that its backend gets."""
    from ortools.sat.python import cp_model

    from constrint import Model
    from constrint.backends import cp_sat as backend
    from constrint.frontends.flatzinc import read_flatzinc
    from constrint.modelling.objectives import as_goals
    from constrint.preparing.prepared import Prepared

    m = Model.of(read_flatzinc(file.read_text(encoding="utf-8")).model)
    prepared = Prepared(m, as_goals(m.goals), ())
    if prepared.root is None:
        return {"status": "infeasible"}
    translation = backend.CpSatTranslation(prepared, prepared.root)
    translation.aim(prepared.goals[0] if prepared.goals else None)
    counts: dict[str, Any] = {}
    for limit in (0.0, seconds):
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        if limit:
            solver.parameters.max_time_in_seconds = 3 * counts["preparing"] + limit
        else:
            solver.parameters.max_number_of_conflicts = 0
        began = process_time()
        status = solver.solve(translation.model)
        spent = process_time() - began
        said = solver.response_proto
        counts |= {"seconds" if limit else "preparing": spent}
        counts["status"] = solver.status_name(status).lower()
        counts["propagations"] = said.num_binary_propagations + said.num_integer_propagations
        counts["conflicts"] = said.num_conflicts
    counts["seconds"] -= counts["preparing"]
    return counts


def gecode(file: Path, seconds: float) -> dict[str, Any]:
    """The counts of Gecode."""

    def run(*options: str) -> tuple[str, float]:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(["fzn-gecode", "-s", *options, str(file)], capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return done.stdout, after.ru_utime - before.ru_utime

    _, before = run("-node", "1")
    said, spent = run("-time", str(int(1000 * (before + seconds))))
    found = dict(re.findall(r"(propagations|failures)[:=]\s*([\d,]+)", said))
    return {
        "preparing": before,
        "seconds": spent - before,
        "propagations": int(found.get("propagations", "0").replace(",", "")),
        "conflicts": int(found.get("failures", "0").replace(",", "")),
        "status": "optimal" if "==========" in said else "feasible" if "----------" in said else "unknown",
    }


RUNS: dict[str, Callable[[Path, float], dict[str, Any]]] = {
    "tree": lambda file, seconds: ours(file, seconds, False),
    "learning": lambda file, seconds: ours(file, seconds, True),
    "cp-sat": cp_sat,
    "gecode": gecode,
}


def rated(row: dict[str, Any]) -> dict[str, Any]:
    """A row with rates: thousands of propagations, and conflicts, a second."""
    spent = row.get("seconds", 0.0)
    if spent > 0.05:
        row["propagations a second"] = round(row["propagations"] / spent)
        row["conflicts a second"] = round(row["conflicts"] / spent)
    return {name: round(value, 3) if isinstance(value, float) else value for name, value in row.items()}


def apart(solver: str, file: Path, seconds: float) -> dict[str, Any]:
    """The row of a solver, in a process of its own."""
    command = [sys.executable, __file__, "--one", solver, str(file), "--seconds", str(seconds)]
    environ = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, env=environ)
    if done.returncode:
        return {"ended": done.stderr.strip().rpartition("\n")[2] or f"exit code {done.returncode}"}
    row: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return row


def named(text: str, is_gecode: bool) -> str:
    """A model with the names that a solver has for global constraints."""
    different, cumulative = (
        ("all_different_int", "cumulatives") if is_gecode else ("fzn_all_different_int", "fzn_cumulative")
    )
    return text.replace("ALL_DIFFERENT", different).replace("CUMULATIVE", cumulative)


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", default=",".join(MODELS))
    parser.add_argument("--solvers", default=",".join(SOLVERS))
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--note", default="")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(rated(RUNS[given.one[0]](Path(given.one[1]), given.seconds))))
        return
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in given.only.split(","):
            text = "\n".join(MODELS[name](Random(f"{name} {SEED}"))) + "\n"
            for solver in given.solvers.split(","):
                file = Path(folder) / f"{solver}.fzn"
                file.write_text(named(text, solver == "gecode"), encoding="utf-8")
                row = {"model": name, "solver": solver, **apart(solver, file, given.seconds)}
                rows.append(row)
                print(json.dumps(row), flush=True)
            if given.out is not None:
                head = {**environment("ortools", "llvmlite"), "seconds": given.seconds, "note": given.note}
                given.out.write_text(json.dumps({**head, "rows": rows}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
