"""Integer arithmetic: all solutions, counts and firsts of small models, beside CP-SAT and python-constraint.

    python benchmarks/solver/arithmetic.py [--peers] [--out benchmarks/results/arithmetic.json]

Times are the least of several runs in seconds, model building included, import excluded. What the peers list
is what constrint lists: every solution of the same model.
"""

from __future__ import annotations

import argparse
import json
import platform
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

from constrint import Model, divides

POWERS = [16, 32, 64, 128, 256]


def factors() -> Model:
    m = Model()
    a, b, c = (m.int_var(name, 1, 5040) for name in "abc")
    m.add(a * b * c == 5040, a <= b, b <= c)
    return m


def products() -> Model:
    m = Model()
    x, y, z, w = (m.int_var(name, 1, 64) for name in "xyzw")
    m.add(x * y * z * w <= 4096, divides(32, x * y), divides(8, z * w), x * y <= 1024)
    return m


def tiles(sizes: list[int], warps: list[int]) -> Model:
    m = Model()
    bm, bn, bk = (m.int_var(name, values=sizes) for name in ("bm", "bn", "bk"))
    wm, wn = (m.int_var(name, values=warps) for name in ("wm", "wn"))
    stages, threads = m.int_var("stages", 1, 5), m.int_var("threads", 64, 1024)
    m.add(divides(wm, bm), divides(wn, bn), threads == (bm // wm) * (bn // wn) * 32)
    m.add(stages * (bm + bn) * bk * 2 <= 227 * 1024, wm * wn + 8 * wm + 8 * wn + 1024 <= 255 * 32)
    return m


def coins() -> Model:
    m = Model()
    x, y, z, w = (m.int_var(name, 0, 1000) for name in "xyzw")
    m.add(12 * x + 15 * y + 20 * z + 28 * w == 10007)
    return m


MODELS: dict[str, tuple[Callable[[], Model], int]] = {
    "a": (factors, 138),
    "b": (products, 2175),
    "c": (lambda: tiles(POWERS, [1, 2, 4, 8, *POWERS]), 10_000),
    "c2": (lambda: tiles(list(range(8, 257, 8)), list(range(1, 257))), 2_934_571),
    "12x+15y+20z+28w": (coins, 1_679_328),
}


def least(action: Callable[[], Any], runs: int = 7) -> float:
    times = []
    for _ in range(runs):
        begun = perf_counter()
        action()
        times.append(perf_counter() - begun)
    return round(min(times), 6)


def cold_and_warm(build: Callable[[], Model], solutions: int) -> dict[str, float]:
    assert build().count() == len(build().solutions().to_numpy()) == solutions
    return {
        "count": least(lambda: build().count()),
        "all": least(lambda: build().solutions().to_numpy()),
        "first": least(lambda: build().solve()),
    }


def with_cpsat(name: str) -> float | None:
    """CP-SAT lists the small models."""
    from ortools.sat.python import cp_model

    m = cp_model.CpModel()
    if name == "a":
        a, b, c = (m.new_int_var(1, 5040, n) for n in "abc")
        ab, abc = m.new_int_var(1, 5040, "ab"), m.new_int_var(5040, 5040, "abc")
        m.add_multiplication_equality(ab, [a, b])
        m.add_multiplication_equality(abc, [ab, c])
        listed = [a, b, c]
        m.add(a <= b)
        m.add(b <= c)
    elif name == "b":
        x, y, z, w = (m.new_int_var(1, 64, n) for n in "xyzw")
        xy, zw = m.new_int_var(1, 1024, "xy"), m.new_int_var(1, 4096, "zw")
        u, v, xyzw = m.new_int_var(1, 32, "u"), m.new_int_var(1, 512, "v"), m.new_int_var(1, 4096, "xyzw")
        m.add_multiplication_equality(xy, [x, y])
        m.add_multiplication_equality(zw, [z, w])
        m.add_multiplication_equality(xyzw, [xy, zw])
        listed = [x, y, z, w]
        m.add(xy == 32 * u)
        m.add(zw == 8 * v)
    else:
        return None

    class Lister(cp_model.CpSolverSolutionCallback):
        def on_solution_callback(self) -> None:
            found.append([self.value(variable) for variable in listed])

    found: list[list[int]] = []
    solver = cp_model.CpSolver()
    solver.parameters.enumerate_all_solutions = True
    solver.parameters.num_workers = 1
    begun = perf_counter()
    solver.solve(m, Lister())
    assert len(found) == MODELS[name][1]
    return round(perf_counter() - begun, 6)


def with_python_constraint(name: str) -> float | None:
    """python-constraint lists the models with short lists of values."""
    from constraint import Problem

    problem = Problem()
    begun = perf_counter()
    if name == "b":
        for variable in "xyzw":
            problem.addVariable(variable, list(range(1, 65)))
        for text in ("x*y*z*w <= 4096", "x*y % 32 == 0", "z*w % 8 == 0", "x*y <= 1024"):
            problem.addConstraint(text)
    elif name == "c":
        for variable in ("bm", "bn", "bk"):
            problem.addVariable(variable, POWERS)
        for variable in ("wm", "wn"):
            problem.addVariable(variable, [1, 2, 4, 8, *POWERS])
        problem.addVariable("stages", [1, 2, 3, 4, 5])
        for text in (
            "bm % wm == 0",
            "bn % wn == 0",
            "64 <= (bm // wm) * (bn // wn) * 32 <= 1024",
            "stages * (bm + bn) * bk * 2 <= 232448",
            "wm * wn + 8 * wm + 8 * wn + 1024 <= 8160",
        ):
            problem.addConstraint(text)
    else:
        return None
    found = len(problem.getSolutions())
    assert found == MODELS[name][1]
    return round(perf_counter() - begun, 6)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    rows: dict[str, dict[str, float]] = {}
    for name, (build, solutions) in MODELS.items():
        rows[name] = {"solutions": solutions, **cold_and_warm(build, solutions)}
        if arguments.peers:
            for peer, run in (("cp_sat", with_cpsat), ("python_constraint", with_python_constraint)):
                seconds = run(name)
                if seconds is not None:
                    rows[name][peer] = seconds
        print(name, rows[name])
    if arguments.out:
        report = {"machine": platform.processor() or platform.machine(), "python": platform.python_version()}
        arguments.out.write_text(json.dumps({**report, "models": rows}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
