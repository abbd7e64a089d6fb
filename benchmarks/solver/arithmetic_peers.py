"""Other solvers on the models of arithmetic.py: one peer, model and question in one process.

    python benchmarks/solver/arithmetic_peers.py choco c all

prints {"solutions": n, "seconds": s}, or {"missing": reason}. Model building is timed, import is not; a small
model is solved first, so that one-time initialisation is not timed either. The time is the least of up to
three runs, or of fewer if they take more than five seconds.
"""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

from arithmetic_flat import FLAT_MODELS, POWERS, Terms

REPEATED_FOR = 5.0
"""Seconds of measuring after which runs are not repeated."""


class Peer:
    """Common parts of the peers."""

    def linear(self, terms: Terms, comparison: str, bound: int) -> None:
        raise NotImplementedError

    def ascending(self, variables: list[Any]) -> None:
        for x, y in itertools.pairwise(variables):
            self.linear([(1, x), (-1, y)], "<=", 0)

    def multiple(self, x: Any, factor: int, y: Any) -> None:
        self.linear([(1, x), (-factor, y)], "==", 0)


class Choco(Peer):
    def __init__(self) -> None:
        from pychoco import Model

        self.model = Model()

    def variable(self, values: Sequence[int]) -> Any:
        if isinstance(values, range):
            return self.model.intvar(values[0], values[-1])
        return self.model.intvar(list(values))

    def times(self, x: Any, y: Any, z: Any) -> None:
        self.model.times(x, y, z).post()

    def linear(self, terms: Terms, comparison: str, bound: int) -> None:
        factors, variables = zip(*terms, strict=True)
        operator = "=" if comparison == "==" else comparison
        self.model.scalar(list(variables), list(factors), operator, bound).post()

    def answer(self, decided: list[Any], question: str) -> int:
        solver = self.model.get_solver()
        if question == "first":
            return int(solver.find_solution() is not None)
        return len(solver.find_all_solutions())


class CpSat(Peer):
    def __init__(self) -> None:
        from ortools.sat.python import cp_model

        self.cp_model = cp_model
        self.model = cp_model.CpModel()

    def variable(self, values: Sequence[int]) -> Any:
        if isinstance(values, range):
            return self.model.new_int_var(values[0], values[-1], "")
        return self.model.new_int_var_from_domain(self.cp_model.Domain.from_values(list(values)), "")

    def times(self, x: Any, y: Any, z: Any) -> None:
        self.model.add_multiplication_equality(z, [x, y])

    def linear(self, terms: Terms, comparison: str, bound: int) -> None:
        total = sum(factor * variable for factor, variable in terms)
        self.model.add(total == bound if comparison == "==" else total <= bound)

    def answer(self, decided: list[Any], question: str) -> int:
        found: list[list[int]] = []

        class Lister(self.cp_model.CpSolverSolutionCallback):  # type: ignore[misc,name-defined]
            def on_solution_callback(self) -> None:
                found.append([self.value(variable) for variable in decided])

        solver = self.cp_model.CpSolver()
        solver.parameters.enumerate_all_solutions = question == "all"
        solver.parameters.num_workers = 1
        solver.solve(self.model, Lister())
        return len(found)


class Nucs(Peer):
    def __init__(self) -> None:
        from nucs.problems.problem import Problem
        from nucs.propagators import propagators

        self.problem = Problem([])
        self.kinds = propagators

    def variable(self, values: Sequence[int]) -> Any:
        variable = self.problem.add_variable((values[0], values[-1]))
        if not isinstance(values, range):
            self.problem.add_propagator(self.kinds.ALG_MEMBER, [variable], list(values))
        return variable

    def times(self, x: Any, y: Any, z: Any) -> None:
        self.problem.add_propagator(self.kinds.ALG_MUL_EQ, [x, y, z])

    def linear(self, terms: Terms, comparison: str, bound: int) -> None:
        factors, variables = zip(*terms, strict=True)
        kind = self.kinds.ALG_LINEAR_EQ_C if comparison == "==" else self.kinds.ALG_LINEAR_LEQ_C
        self.problem.add_propagator(kind, list(variables), [*factors, bound])

    def ascending(self, variables: list[Any]) -> None:
        # With inequalities instead, model a does not end.
        self.problem.add_propagator(self.kinds.ALG_INCREASING, variables)

    def multiple(self, x: Any, factor: int, y: Any) -> None:
        self.problem.add_propagator(self.kinds.ALG_MUL_C_EQ, [y, x], [factor])

    def answer(self, decided: list[Any], question: str) -> int:
        from nucs.solvers.backtrack_solver import BacktrackSolver

        solver = BacktrackSolver(self.problem, decision_variables=decided, log_level="ERROR")
        if question == "first":
            return int(next(iter(solver.solve()), None) is not None)
        return len(solver.find_all())


class Pumpkin(Peer):
    def __init__(self) -> None:
        import pumpkin_solver
        from pumpkin_solver import constraints

        self.kinds = constraints
        self.pumpkin = pumpkin_solver
        self.model = pumpkin_solver.Model()

    def variable(self, values: Sequence[int]) -> Any:
        variable = self.model.new_integer_variable(values[0], values[-1])
        if not isinstance(values, range) and len(values) < values[-1] - values[0] + 1:
            rows = [[value] for value in values]
            self._add(self.kinds.Table, [variable], rows)
        return variable

    def _add(self, kind: Any, *arguments: Any) -> None:
        self.model.add_constraint(kind(*arguments, self.model.new_constraint_tag()))

    def times(self, x: Any, y: Any, z: Any) -> None:
        self._add(self.kinds.Times, x, y, z)

    def linear(self, terms: Terms, comparison: str, bound: int) -> None:
        scaled = [variable.scaled(factor) for factor, variable in terms]
        kind = self.kinds.Equals if comparison == "==" else self.kinds.LessThanOrEquals
        self._add(kind, scaled, bound)

    def answer(self, decided: list[Any], question: str) -> int:
        """Choco gives one solution a call: each is excluded by a clause before the next."""
        differs = self.pumpkin.Comparator.NotEqual
        number = 0
        while isinstance(result := self.model.satisfy(), self.pumpkin.SatisfactionResult.Satisfiable):
            number += 1
            if question == "first":
                break
            literals = []
            for variable in decided:
                unlike = self.pumpkin.Predicate(variable, differs, result._0.int_value(variable))
                literals.append(self.model.predicate_as_boolean(unlike, self.model.new_constraint_tag()))
            self._add(self.kinds.Clause, literals)
        return number


class Z3(Peer):
    def __init__(self) -> None:
        import z3

        self.z3 = z3
        self.solver = z3.Solver()
        self.names = 0

    def variable(self, values: Sequence[int]) -> Any:
        self.names += 1
        variable = self.z3.Int(f"x{self.names}")
        if isinstance(values, range):
            self.solver.add(variable >= values[0], variable <= values[-1])
        else:
            self.solver.add(self.z3.Or([variable == value for value in values]))
        return variable

    def times(self, x: Any, y: Any, z: Any) -> None:
        self.solver.add(x * y == z)

    def linear(self, terms: Terms, comparison: str, bound: int) -> None:
        total = self.z3.Sum([factor * variable for factor, variable in terms])
        self.solver.add(total == bound if comparison == "==" else total <= bound)

    def answer(self, decided: list[Any], question: str) -> int:
        """The solver gives one solution a call: each is excluded by a clause before the next."""
        number = 0
        while self.solver.check() == self.z3.sat:
            number += 1
            if question == "first":
                break
            found = self.solver.model()
            self.solver.add(self.z3.Or([v != found.eval(v, model_completion=True) for v in decided]))
        return number


def flat(peer: Callable[[], Any]) -> Callable[[str, str], int]:
    def ask(model: str, question: str) -> int:
        built = peer()
        return int(built.answer(FLAT_MODELS[model](built), question))

    return ask


TILES = (
    "bm % wm == 0",
    "bn % wn == 0",
    "64 <= (bm // wm) * (bn // wn) * 32 <= 1024",
    "stages * (bm + bn) * bk * 2 <= 232448",
    "wm * wn + 8 * wm + 8 * wn + 1024 <= 8160",
)
DIVISORS = [n for n in range(1, 5041) if 5040 % n == 0]  # a hint: with 1..5040 it takes half a minute
MULTIPLES = list(range(8, 257, 8))
# Values of the variables and conditions in python-constraint's syntax.
TEXTS: dict[str, tuple[dict[str, Sequence[int]], tuple[str, ...]]] = {
    "a": (dict.fromkeys("abc", DIVISORS), ("a * b * c == 5040", "a <= b", "b <= c")),
    "b": (
        dict.fromkeys("xyzw", range(1, 65)),
        ("x*y*z*w <= 4096", "x*y % 32 == 0", "z*w % 8 == 0", "x*y <= 1024"),
    ),
    "c": (
        {
            **dict.fromkeys(("bm", "bn", "bk"), POWERS),
            **dict.fromkeys(("wm", "wn"), (1, 2, 4, 8, *POWERS)),
            "stages": range(1, 6),
        },
        TILES,
    ),
    "c2": (
        {
            **dict.fromkeys(("bm", "bn", "bk"), MULTIPLES),
            **dict.fromkeys(("wm", "wn"), range(1, 257)),
            "stages": range(1, 6),
        },
        TILES,
    ),
    "coins": (dict.fromkeys("xyzw", range(1001)), ()),  # has its own kind of constraint
}


def python_constraint(model: str, question: str) -> int:
    from constraint import ExactSumConstraint, Problem

    problem = Problem()
    domains, conditions = TEXTS[model]
    for name, values in domains.items():
        problem.addVariable(name, list(values))
    for condition in conditions:
        problem.addConstraint(condition)
    if model == "coins":  # as a text it finds no solution within a minute
        problem.addConstraint(ExactSumConstraint(10007, [12, 15, 20, 28]), list(domains))
    return int(problem.getSolution() is not None) if question == "first" else len(problem.getSolutions())


def isl(model: str, question: str) -> int:
    """Sets of integer points between linear conditions; of the models, only the coins."""
    import islpy

    bounds = " and ".join(f"0 <= {name} <= 1000" for name in "xyzw")
    points = islpy.Set(f"{{ [x, y, z, w] : 12x + 15y + 20z + 28w = 10007 and {bounds} }}")
    if question == "first":
        return int(not points.sample_point().is_void())
    if question == "count":
        return int(points.count_val().to_python())
    found: list[tuple[int, ...]] = []

    def keep(point: Any) -> None:
        place = islpy.dim_type.set
        found.append(tuple(point.get_coordinate_val(place, i).to_python() for i in range(4)))

    points.foreach_point(keep)
    return len(found)


PEERS: dict[str, Callable[[str, str], int]] = {
    "choco": flat(Choco),
    "nucs": flat(Nucs),
    "cp_sat": flat(CpSat),
    "python_constraint": python_constraint,
    "pumpkin": flat(Pumpkin),
    "z3": flat(Z3),
    "isl": isl,
}
DISTRIBUTIONS = ("pychoco", "NuCS", "ortools", "python-constraint2", "pumpkin-solver", "z3-solver", "islpy")


def questions(peer: str, model: str) -> list[str]:
    """The questions for a peer about a model."""
    if peer == "isl":
        return ["first", "count", "all"] if model == "coins" else []
    return ["first", "all"] if model == "coins" else ["all"]


def main() -> None:
    peer, model, question = sys.argv[1:]
    ask = PEERS[peer]
    try:
        ask("a" if peer != "isl" else "coins", "first")
    except ImportError as missing:
        print(json.dumps({"missing": str(missing)}))
        return
    times: list[float] = []
    solutions = 0
    while len(times) < 3 and sum(times) < REPEATED_FOR:
        begun = perf_counter()
        solutions = ask(model, question)
        times.append(perf_counter() - begun)
    print(json.dumps({"solutions": solutions, "seconds": round(min(times), 6)}))


if __name__ == "__main__":
    main()
