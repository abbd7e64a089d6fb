"""A small model as a whole process: start Python, import, build, solve, print. Empty caches, with peers.

    python benchmarks/solver/cold.py [--runs 5] [--limit 300] [--out benchmarks/results/cold.json]

Each run of constrint and NuCS has a new, empty cache folder, so the time includes everything that a first use
compiles or caches. Python's bytecode of the packages exists, as after installation by pip (in a separate
folder). All programs must print the same; a peer that is not installed is recorded with that reason. Least
wall time and least processor time are given; other work on the machine disturbs the latter less.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from arithmetic_peers import DISTRIBUTIONS
from environment import environment

ROOT = Path(__file__).resolve().parents[2]
AIM = 0.2

# The same model for all: x, y in 1..64, x * y <= 1000, 3 * x - 2 * y == 5; maximise x * y.
PROGRAMS = {
    "python": "print('nothing')",
    "constrint": """
from constrint import Model
m = Model()
x, y = m.int_var("x", 1, 64), m.int_var("y", 1, 64)
m.add(x * y <= 1000, 3 * x - 2 * y == 5)
r = m.solve(maximize=x * y)
print(r["x"], r["y"])
""",
    "constrint, all": """
from constrint import Model
m = Model()
x, y = m.int_var("x", 1, 64), m.int_var("y", 1, 64)
m.add(x * y <= 1000, 3 * x - 2 * y == 5)
print(*m.solutions().to_numpy()[-1])
""",
    "choco": """
from pychoco import Model
m = Model()
x, y, z = m.intvar(1, 64), m.intvar(1, 64), m.intvar(1, 1000)
m.times(x, y, z).post()
m.scalar([x, y], [3, -2], "=", 5).post()
s = m.get_solver().find_optimal_solution(z, True)
print(s.get_int_val(x), s.get_int_val(y))
""",
    "cp_sat": """
from ortools.sat.python import cp_model
m = cp_model.CpModel()
x, y, z = m.new_int_var(1, 64, "x"), m.new_int_var(1, 64, "y"), m.new_int_var(1, 1000, "z")
m.add_multiplication_equality(z, [x, y])
m.add(3 * x - 2 * y == 5)
m.maximize(z)
s = cp_model.CpSolver()
s.parameters.num_workers = 1
s.solve(m)
print(s.value(x), s.value(y))
""",
    "nucs": """
from nucs.problems.problem import Problem
from nucs.propagators.propagators import ALG_LINEAR_EQ_C, ALG_MUL_EQ
from nucs.solvers.backtrack_solver import BacktrackSolver
p = Problem([(1, 64), (1, 64), (1, 1000)])
p.add_propagator(ALG_MUL_EQ, [0, 1, 2])
p.add_propagator(ALG_LINEAR_EQ_C, [0, 1], [3, -2, 5])
s = BacktrackSolver(p, decision_variables=[0, 1], log_level="ERROR").maximize(2)
print(s[0], s[1])
""",
    "python_constraint": """
from constraint import Problem
p = Problem()
for name in "xy":
    p.addVariable(name, list(range(1, 65)))
for text in ("x * y <= 1000", "3 * x - 2 * y == 5"):
    p.addConstraint(text)
s = max(p.getSolutions(), key=lambda s: s["x"] * s["y"])
print(s["x"], s["y"])
""",
    "pumpkin": """
import pumpkin_solver
from pumpkin_solver import constraints, optimisation
m = pumpkin_solver.Model()
x, y, z = (m.new_integer_variable(1, top) for top in (64, 64, 1000))
m.add_constraint(constraints.Times(x, y, z, m.new_constraint_tag()))
m.add_constraint(constraints.Equals([x.scaled(3), y.scaled(-2)], 5, m.new_constraint_tag()))
best = m.optimise(z, direction=optimisation.Direction.Maximise)._0
print(best.int_value(x), best.int_value(y))
""",
    "z3": """
import z3
x, y = z3.Ints("x y")
s = z3.Optimize()
s.add(1 <= x, x <= 64, 1 <= y, y <= 64, x * y <= 1000, 3 * x - 2 * y == 5)
s.maximize(x * y)
s.check()
print(s.model()[x], s.model()[y])
""",
}


def whole(program: str, limit: float, bytecode: str) -> tuple[float, float] | str:
    """Wall and processor seconds of a process with empty caches, or the reason why there are none.

    Args:
        program: The program.
        limit: Time limit in seconds.
        bytecode: The folder of Python's bytecode.
    """
    with tempfile.TemporaryDirectory() as empty:
        environment_of = {
            **{name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
            "PYTHONPYCACHEPREFIX": bytecode,
            "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]),
            "XDG_CACHE_HOME": empty,
            "NUMBA_CACHE_DIR": empty,
        }
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        begun = perf_counter()
        try:
            done = subprocess.run(
                [sys.executable, "-c", program],
                capture_output=True,
                text=True,
                timeout=limit,
                env=environment_of,
                cwd=empty,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"> {limit:g}"
        taken = perf_counter() - begun
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["failed"])[-1]
    assert done.stdout.split() in (["25", "35"], ["nothing"]), (program, done.stdout)
    return taken, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measured(runs: int, limit: float, bytecode: str) -> dict[str, dict[str, float] | str]:
    """The least times of every program, or the reason why there are none."""
    rows: dict[str, dict[str, float] | str] = {}
    for name, program in PROGRAMS.items():
        whole(program, limit, bytecode)  # writes the bytecode
        taken: list[tuple[float, float]] = []
        failed = ""
        while not failed and len(taken) < runs and sum(wall for wall, _ in taken) < 10:
            once = whole(program, limit, bytecode)
            if isinstance(once, str):
                failed = once
            else:
                taken.append(once)
        least = [round(min(column), 4) for column in zip(*taken, strict=True)]
        rows[name] = failed or {"wall": least[0], "processor": least[1]}
        print(f"{name:20} {rows[name]}", flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--limit", type=float, default=300, help="seconds for a process")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as bytecode:
        rows = measured(arguments.runs, arguments.limit, bytecode)
    if arguments.out:
        report = {"environment": environment("numpy", *DISTRIBUTIONS), "aim": AIM, "seconds": rows}
        arguments.out.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
