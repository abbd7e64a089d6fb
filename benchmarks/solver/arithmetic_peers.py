"""The models of arithmetic.py in the words of other solvers: how many solutions, and the seconds taken.

Each function answers None for a model that it is not written for. Model building is timed, import is not.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

POWERS = [16, 32, 64, 128, 256]
Answer = tuple[int, float] | None


def cp_sat(name: str) -> Answer:
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
    return len(found), perf_counter() - begun


def python_constraint(name: str) -> Answer:
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
    return len(problem.getSolutions()), perf_counter() - begun


def choco(name: str) -> Answer:
    """Choco through pychoco lists a, b and c; of the coins it finds one."""
    from pychoco import Model

    begun = perf_counter()
    m = Model()
    if name == "a":
        a, b, c = (m.intvar(1, 5040, n) for n in "abc")
        ab = m.intvar(1, 5040)
        m.times(a, b, ab).post()
        m.times(ab, c, m.intvar(5040, 5040)).post()
        m.arithm(a, "<=", b).post()
        m.arithm(b, "<=", c).post()
    elif name == "b":
        x, y, z, w = (m.intvar(1, 64, n) for n in "xyzw")
        xy, zw = m.intvar(1, 1024), m.intvar(1, 4096)
        m.times(x, y, xy).post()
        m.times(z, w, zw).post()
        m.times(xy, zw, m.intvar(1, 4096)).post()
        m.times(m.intvar(1, 32), 32, xy).post()
        m.times(m.intvar(1, 512), 8, zw).post()
    elif name == "c":
        bm, bn, bk = (m.intvar(POWERS) for _ in range(3))
        wm, wn = (m.intvar([1, 2, 4, 8, *POWERS]) for _ in range(2))
        stages, threads = m.intvar(1, 5), m.intvar(64, 1024)
        rows, columns, warps, area = m.intvar(1, 256), m.intvar(1, 256), m.intvar(2, 32), m.intvar(1, 65536)
        side, panel = m.intvar(32, 512), m.intvar(1, 131072)
        m.times(wm, rows, bm).post()
        m.times(wn, columns, bn).post()
        m.times(rows, columns, warps).post()
        m.times(warps, 32, threads).post()
        m.scalar([bm, bn, side], [1, 1, -1], "=", 0).post()
        m.times(side, bk, panel).post()
        m.times(panel, stages, m.intvar(1, 227 * 512)).post()
        m.times(wm, wn, area).post()
        m.scalar([area, wm, wn], [1, 8, 8], "<=", 255 * 32 - 1024).post()
    elif name == "12x+15y+20z+28w":
        m.scalar([m.intvar(0, 1000) for _ in range(4)], [12, 15, 20, 28], "=", 10007).post()
        assert m.get_solver().find_solution() is not None
        return 1, perf_counter() - begun
    else:
        return None
    return len(m.get_solver().find_all_solutions()), perf_counter() - begun


PEERS: dict[str, Callable[[str], Answer]] = {
    "choco": choco,
    "cp_sat": cp_sat,
    "python_constraint": python_constraint,
}
