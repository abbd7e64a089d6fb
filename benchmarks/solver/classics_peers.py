"""The problems of classics.py for other solvers; each function returns the answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

SHORTER_RULERS = [0, 0, 1, 3, 6, 11, 17, 25, 34, 44, 55]
"""The lengths of the shortest rulers by number of marks, which bound distances in a longer one."""

Functions = dict[str, Callable[[int], int]]


def _ruler_bounds(n: int, i: int, j: int) -> tuple[int, int]:
    """The least distance of two marks, and by how much it must be less than the ruler."""
    inside, outside = j - i, n - 1 - (j - i)
    least = SHORTER_RULERS[inside + 1] if outside else inside * (inside + 1) // 2
    return least, outside * (outside + 1) // 2


# ---------------------------------------------------------------- Choco


def choco_queens(n: int) -> int:
    from pychoco import Model

    m = Model()
    q = [m.intvar(0, n - 1) for _ in range(n)]
    for shift in (-1, 0, 1):
        m.all_different([m.int_offset_view(q[i], shift * i) if shift else q[i] for i in range(n)]).post()
    solver = m.get_solver()
    solver.set_min_dom_lb_search(*q)
    found = 0
    while solver.solve():
        found += 1
    return found


def choco_golomb(n: int) -> int:
    from pychoco import Model

    m = Model()
    marks = [m.intvar(0, n * n) for _ in range(n)]
    m.arithm(marks[0], "=", 0).post()
    distances = {}
    for j in range(n):
        for i in range(j):
            least, less = _ruler_bounds(n, i, j)
            d = distances[i, j] = m.intvar(least, n * n)
            m.scalar([marks[j], marks[i], d], [1, -1, -1], "=", 0).post()
            m.scalar([d, marks[n - 1]], [1, -1], "<=", -less).post()
    m.all_different(list(distances.values())).post()
    m.arithm(distances[0, 1], "<", distances[n - 2, n - 1]).post()
    solver = m.get_solver()
    solver.set_input_order_lb_search(*marks)
    return int(solver.find_optimal_solution(marks[n - 1], maximize=False).get_int_val(marks[n - 1]))


def choco_magic_square(n: int) -> int:
    from pychoco import Model

    m, total = Model(), n * (n * n + 1) // 2
    s = [[m.intvar(1, n * n) for _ in range(n)] for _ in range(n)]
    m.all_different([x for row in s for x in row]).post()
    lines = [*s, *map(list, zip(*s, strict=True))]
    lines += [[s[i][i] for i in range(n)], [s[i][n - 1 - i] for i in range(n)]]
    for line in lines:
        m.sum(line, "=", total).post()
    found = m.get_solver().find_solution()
    return sum(int(found.get_int_val(x)) for x in s[0])


def choco_send_more(base: int) -> int:
    from pychoco import Model

    m = Model()
    s, e, n, d, o, r, y, one = letters = [m.intvar(int(c in "SM"), base - 1) for c in "SENDORYM"]
    m.all_different(letters).post()
    factors = [1000, 91, -90, 1, -900, 10, -1, -9000]
    m.scalar([s, e, n, d, o, r, y, one], factors, "=", 0).post()
    found = m.get_solver().find_solution()
    digits = [int(found.get_int_val(x)) for x in (one, o, n, e, y)]
    return int("".join(map(str, digits)))


def choco_block_design(v: int) -> int:
    from pychoco import Model

    m = Model()
    x = [[m.boolvar() for _ in range(v)] for _ in range(v)]
    for row in [*x, *map(list, zip(*x, strict=True))]:
        m.sum(row, "=", 3).post()
    for i in range(v):
        for h in range(i):
            both = [m.boolvar() for _ in range(v)]
            for a, b, c in zip(x[i], x[h], both, strict=True):
                m.times(a, b, c).post()
            m.sum(both, "=", 1).post()
    found = m.get_solver().find_solution()
    return sum(int(found.get_int_val(one)) for row in x for one in row)


def choco_magic_sequence(n: int) -> int:
    from pychoco import Model

    m = Model()
    x = [m.intvar(0, n - 1) for _ in range(n)]
    m.global_cardinality(x, list(range(n)), x, True).post()
    m.sum(x, "=", n).post()
    m.scalar(x, list(range(n)), "=", n).post()
    return int(m.get_solver().find_solution().get_int_val(x[0]))


# ---------------------------------------------------------------- CP-SAT


def _sat(m: Any, all_solutions: bool = False) -> tuple[Any, int]:
    from ortools.sat.python import cp_model

    class Counter(cp_model.CpSolverSolutionCallback):
        found = 0

        def on_solution_callback(self) -> None:
            self.found += 1

    solver, counter = cp_model.CpSolver(), Counter()
    solver.parameters.num_workers = 1
    solver.parameters.enumerate_all_solutions = all_solutions
    solver.solve(m, counter)
    return solver, counter.found


def sat_queens(n: int) -> int:
    from ortools.sat.python import cp_model

    m = cp_model.CpModel()
    q = [m.new_int_var(0, n - 1, "") for _ in range(n)]
    for shift in (-1, 0, 1):
        m.add_all_different([q[i] + shift * i for i in range(n)])
    return _sat(m, all_solutions=True)[1]


def sat_golomb(n: int) -> int:
    from ortools.sat.python import cp_model

    m = cp_model.CpModel()
    marks = [m.new_int_var(0, n * n, "") for _ in range(n)]
    m.add(marks[0] == 0)
    distances = {(i, j): marks[j] - marks[i] for j in range(n) for i in range(j)}
    for (i, j), d in distances.items():
        least, less = _ruler_bounds(n, i, j)
        m.add(d >= least)
        m.add(d <= marks[n - 1] - less)
    m.add_all_different(list(distances.values()))
    m.add(distances[0, 1] < distances[n - 2, n - 1])
    m.minimize(marks[n - 1])
    return int(_sat(m)[0].objective_value)


def sat_magic_square(n: int) -> int:
    from ortools.sat.python import cp_model

    m, total = cp_model.CpModel(), n * (n * n + 1) // 2
    s = [[m.new_int_var(1, n * n, "") for _ in range(n)] for _ in range(n)]
    m.add_all_different([x for row in s for x in row])
    lines = [*s, *map(list, zip(*s, strict=True))]
    lines += [[s[i][i] for i in range(n)], [s[i][n - 1 - i] for i in range(n)]]
    for line in lines:
        m.add(sum(line) == total)
    solver, _ = _sat(m)
    return sum(solver.value(x) for x in s[0])


def sat_send_more(base: int) -> int:
    from ortools.sat.python import cp_model

    m = cp_model.CpModel()
    s, e, n, d, o, r, y, one = letters = [m.new_int_var(int(c in "SM"), base - 1, c) for c in "SENDORYM"]
    m.add_all_different(letters)
    money = 10000 * one + 1000 * o + 100 * n + 10 * e + y
    m.add(1000 * s + 100 * e + 10 * n + d + 1000 * one + 100 * o + 10 * r + e == money)
    return int(_sat(m)[0].value(money))


def sat_block_design(v: int) -> int:
    from ortools.sat.python import cp_model

    m = cp_model.CpModel()
    x = [[m.new_bool_var("") for _ in range(v)] for _ in range(v)]
    for row in [*x, *map(list, zip(*x, strict=True))]:
        m.add(sum(row) == 3)
    for i in range(v):
        for h in range(i):
            both = [m.new_bool_var("") for _ in range(v)]
            for a, b, c in zip(x[i], x[h], both, strict=True):
                m.add_multiplication_equality(c, [a, b])
            m.add(sum(both) == 1)
    solver, _ = _sat(m)
    return sum(solver.value(one) for row in x for one in row)


def sat_magic_sequence(n: int) -> int:
    from ortools.sat.python import cp_model

    m = cp_model.CpModel()
    x = [m.new_int_var(0, n - 1, "") for _ in range(n)]
    equal = [[m.new_bool_var("") for _ in range(n)] for _ in range(n)]
    for i in range(n):
        for j in range(n):
            m.add(x[i] == j).only_enforce_if(equal[i][j])
        m.add_exactly_one(equal[i])
        m.add(sum(equal[k][i] for k in range(n)) == x[i])
    m.add(sum(x) == n)
    m.add(sum(i * x[i] for i in range(n)) == n)
    return int(_sat(m)[0].value(x[0]))


# ---------------------------------------------------------------- NuCS, with its own examples


def _first(problem: Any, **options: Any) -> Any:
    from nucs.solvers.backtrack_solver import BacktrackSolver

    return next(iter(BacktrackSolver(problem, log_level="ERROR", **options).solve()))


def nucs_queens(n: int) -> int:
    from nucs.examples.queens.queens_problem import QueensProblem
    from nucs.solvers.backtrack_solver import BacktrackSolver

    return len(BacktrackSolver(QueensProblem(n), log_level="ERROR").find_all())


def nucs_golomb(n: int) -> int:
    from nucs.constants import OPTIM_PRUNE
    from nucs.examples.golomb.golomb_problem import GolombProblem, golomb_consistency_algorithm
    from nucs.solvers.backtrack_solver import BacktrackSolver
    from nucs.solvers.consistency_algorithms import register_consistency_algorithm

    global _golomb_algorithm
    if _golomb_algorithm is None:
        _golomb_algorithm = register_consistency_algorithm(golomb_consistency_algorithm)
    problem = GolombProblem(n)
    solver = BacktrackSolver(problem, consistency_algorithm=_golomb_algorithm, log_level="ERROR")
    best = solver.minimize(problem.length_idx, mode=OPTIM_PRUNE)
    return int(best[problem.length_idx])


_golomb_algorithm: Any = None


def nucs_magic_square(n: int) -> int:
    from nucs.examples.magic_square.magic_square_problem import MagicSquareProblem

    found = _first(MagicSquareProblem(n))
    return int(sum(found[:n])) + (n if min(found) == 0 else 0)  # its squares may count from 0


def nucs_send_more(base: int) -> int:
    from nucs.examples.cryptarithmetic.cryptarithmetic_problem import CryptarithmeticProblem

    letters = list("SENDORYM")
    found = _first(CryptarithmeticProblem({"letters": letters, "additions": [(["SEND", "MORE"], "MONEY")]}))
    return int("".join(str(found[letters.index(c)]) for c in "MONEY"))


def nucs_block_design(v: int) -> int:
    from nucs.examples.bibd.bibd_problem import BIBDProblem

    return int(sum(_first(BIBDProblem(v, v, 3, 3, 1))[: v * v]))


def nucs_magic_sequence(n: int) -> int:
    from nucs.examples.magic_sequence.magic_sequence_problem import MagicSequenceProblem

    return int(_first(MagicSequenceProblem(n))[0])


# ---------------------------------------------------------------- python-constraint


def python_queens(n: int) -> int:
    from constraint import AllDifferentConstraint, Problem

    p = Problem()
    p.addVariables(range(n), range(n))
    p.addConstraint(AllDifferentConstraint())
    for i in range(n):
        for j in range(i):
            p.addConstraint(lambda a, b, d=i - j: abs(a - b) != d, (i, j))
    return len(p.getSolutions())


def python_magic_square(n: int) -> int:
    from constraint import AllDifferentConstraint, ExactSumConstraint, Problem

    p, total = Problem(), n * (n * n + 1) // 2
    p.addVariables(range(n * n), range(1, n * n + 1))
    p.addConstraint(AllDifferentConstraint())
    for i in range(n):
        p.addConstraint(ExactSumConstraint(total), [n * i + j for j in range(n)])
        p.addConstraint(ExactSumConstraint(total), [n * j + i for j in range(n)])
    p.addConstraint(ExactSumConstraint(total), [n * i + i for i in range(n)])
    p.addConstraint(ExactSumConstraint(total), [n * i + n - 1 - i for i in range(n)])
    found = p.getSolution()
    return sum(found[i] for i in range(n))


def python_send_more(base: int) -> int:
    from constraint import AllDifferentConstraint, Problem

    p = Problem()
    for c in "SENDORYM":
        p.addVariable(c, range(int(c in "SM"), base))
    p.addConstraint(AllDifferentConstraint())
    factors = (1000, 91, -90, 1, -900, 10, -1, -9000)
    p.addConstraint(
        lambda *digits: sum(a * x for a, x in zip(factors, digits, strict=True)) == 0, list("SENDORYM")
    )
    found = p.getSolution()
    return int("".join(str(found[c]) for c in "MONEY"))


PEERS: dict[str, Functions] = {
    "choco": {
        "queens, all": choco_queens,
        "golomb, shortest": choco_golomb,
        "magic square": choco_magic_square,
        "send more": choco_send_more,
        "block design": choco_block_design,
        "magic sequence": choco_magic_sequence,
    },
    "cp_sat": {
        "queens, all": sat_queens,
        "golomb, shortest": sat_golomb,
        "magic square": sat_magic_square,
        "send more": sat_send_more,
        "block design": sat_block_design,
        "magic sequence": sat_magic_sequence,
    },
    "nucs": {
        "queens, all": nucs_queens,
        "golomb, shortest": nucs_golomb,
        "magic square": nucs_magic_square,
        "send more": nucs_send_more,
        "block design": nucs_block_design,
        "magic sequence": nucs_magic_sequence,
    },
    "python_constraint": {
        "queens, all": python_queens,
        "magic square": python_magic_square,
        "send more": python_send_more,
    },
}
