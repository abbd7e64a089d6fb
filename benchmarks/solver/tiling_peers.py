"""The lexicographic tiling model for CP-SAT and Choco: their sums and functions with Python's operators.

Both decide the preferred variables in order and try the preferred values first, so that their first solution
is the lexicographic optimum; one worker each. Terms that a peer cannot express in one constraint get an
auxiliary variable with the tightest bounds that follow from the arguments.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from time import process_time
from typing import Any

from tiling_model import Shape, Words, tiling

Answer = tuple[list[int], float]


class Sum:
    """``constant + sum(coefficient * variable)`` of a peer, with bounds."""

    def __init__(self, peer: Peer, terms: dict[int, int], constant: int) -> None:
        self.peer, self.terms, self.constant = peer, terms, constant

    def plus(self, other: Sum | int, factor: int = 1) -> Sum:
        other = self.peer.sum_of(other)
        terms = dict(self.terms)
        for v, a in other.terms.items():
            terms[v] = terms.get(v, 0) + factor * a
        kept = {v: a for v, a in terms.items() if a}
        return Sum(self.peer, kept, self.constant + factor * other.constant)

    def times(self, factor: int) -> Sum:
        return Sum(self.peer, {v: a * factor for v, a in self.terms.items()}, self.constant * factor)

    def bounds(self) -> tuple[int, int]:
        low = high = self.constant
        for v, a in self.terms.items():
            least, most = self.peer.limits[v]
            low, high = low + min(a * least, a * most), high + max(a * least, a * most)
        return low, high

    def __add__(self, other: Sum | int) -> Sum:
        return self.plus(other)

    def __sub__(self, other: Sum | int) -> Sum:
        return self.plus(other, -1)

    def __rsub__(self, other: int) -> Sum:
        return self.times(-1).plus(other)

    def __mul__(self, other: Sum | int) -> Sum:
        other = self.peer.sum_of(other)
        if not other.terms:
            return self.times(other.constant)
        if not self.terms:
            return other.times(self.constant)
        corners = [a * b for a in self.bounds() for b in other.bounds()]
        return self.peer.function(self.peer.product, self, other, min(corners), max(corners))

    def __floordiv__(self, other: Sum | int) -> Sum:
        other = self.peer.sum_of(other)
        low, high = other.bounds()
        return self.peer.function(
            self.peer.quotient, self, other, self.bounds()[0] // high, self.bounds()[1] // low
        )

    def __mod__(self, other: Sum | int) -> Sum:
        other = self.peer.sum_of(other)
        return self.peer.function(self.peer.remainder, self, other, 0, other.bounds()[1] - 1)

    def __rmod__(self, other: int) -> Sum:
        return self.peer.sum_of(other) % self

    def __le__(self, other: Sum | int) -> tuple[Sum, str]:
        return self.plus(other, -1), "<="

    def __ge__(self, other: Sum | int) -> tuple[Sum, str]:
        return self.plus(other, -1), ">="

    def __eq__(self, other: object) -> Any:
        return self.plus(other, -1), "="  # type: ignore[arg-type] # sums and integers only

    __hash__ = None  # type: ignore[assignment]
    __radd__ = __add__
    __rmul__ = __mul__


class Peer(ABC):
    """A solver's model under construction; variables are numbered."""

    def __init__(self) -> None:
        self.variables: list[Any] = []
        self.limits: list[tuple[int, int]] = []

    @abstractmethod
    def variable(self, values: Sequence[int], name: str) -> Any: ...

    @abstractmethod
    def require(self, terms: list[tuple[Any, int]], operator: str, bound: int) -> None: ...

    @abstractmethod
    def product(self, x: Any, y: Any, z: Any) -> None: ...

    @abstractmethod
    def quotient(self, x: Any, y: Any, z: Any) -> None: ...

    @abstractmethod
    def remainder(self, x: Any, y: Any, z: Any) -> None: ...

    @abstractmethod
    def minimum(self, x: Any, y: Any, z: Any) -> None: ...

    @abstractmethod
    def first_solution(self, preferences: list[tuple[Sum, str]]) -> list[int]: ...

    def new(self, values: Sequence[int], name: str = "") -> Sum:
        self.variables.append(self.variable(values, name))
        self.limits.append((values[0], values[-1]))
        return Sum(self, {len(self.variables) - 1: 1}, 0)

    def sum_of(self, value: Sum | int) -> Sum:
        return value if isinstance(value, Sum) else Sum(self, {}, value)

    def one(self, total: Sum) -> Any:
        """A single variable that equals a sum."""
        if len(total.terms) == 1 and total.constant == 0:
            ((v, a),) = total.terms.items()
            if a == 1:
                return self.variables[v]
        low, high = total.bounds()
        z = self.new(range(low, high + 1))
        self.add((total.plus(z, -1), "="))
        return self.variables[-1]

    def function(self, post: Callable[[Any, Any, Any], None], x: Sum, y: Sum, low: int, high: int) -> Sum:
        first, second = self.one(x), self.one(y)
        z = self.new(range(low, high + 1))
        post(first, second, self.variables[-1])
        return z

    def add(self, *conditions: tuple[Sum, str]) -> None:
        for total, operator in conditions:
            terms = [(self.variables[v], a) for v, a in total.terms.items()]
            if terms:
                self.require(terms, operator, -total.constant)

    def words(self) -> Words:
        def int_var(name: str, lo: int, hi: int, step: int = 1) -> Sum:
            return self.new(range(lo, hi + 1, step), name)

        def divides(d: Sum | int, n: Sum | int) -> tuple[Sum, str]:
            return self.sum_of(n) % d == 0  # type: ignore[no-any-return] # a condition, see `Sum`

        def ceildiv(a: Sum | int, b: Sum | int) -> Sum | int:
            if isinstance(a, int) and isinstance(b, int):
                return -(-a // b)
            return (self.sum_of(a) + b - 1) // b

        def least(a: Sum | int, b: Sum | int) -> Sum:
            x, y = self.sum_of(a), self.sum_of(b)
            lows, highs = zip(x.bounds(), y.bounds(), strict=True)
            return self.function(self.minimum, x, y, min(lows), min(highs))

        return Words(int_var, self.add, divides, ceildiv, least)


class CpSat(Peer):
    def __init__(self) -> None:
        from ortools.sat.python import cp_model

        super().__init__()
        self.cp = cp_model
        self.model = cp_model.CpModel()

    def variable(self, values: Sequence[int], name: str) -> Any:
        if isinstance(values, range) and values.step == 1:
            return self.model.new_int_var(values[0], values[-1], name)
        return self.model.new_int_var_from_domain(self.cp.Domain.from_values(list(values)), name)

    def require(self, terms: list[tuple[Any, int]], operator: str, bound: int) -> None:
        total = self.cp.LinearExpr.weighted_sum([x for x, _ in terms], [a for _, a in terms])
        self.model.add(
            total <= bound if operator == "<=" else total >= bound if operator == ">=" else total == bound
        )

    def product(self, x: Any, y: Any, z: Any) -> None:
        self.model.add_multiplication_equality(z, [x, y])

    def quotient(self, x: Any, y: Any, z: Any) -> None:
        self.model.add_division_equality(z, x, y)

    def remainder(self, x: Any, y: Any, z: Any) -> None:
        self.model.add_modulo_equality(z, x, y)

    def minimum(self, x: Any, y: Any, z: Any) -> None:
        self.model.add_min_equality(z, [x, y])

    def first_solution(self, preferences: list[tuple[Sum, str]]) -> list[int]:
        cp = self.cp
        for total, direction in preferences:
            value = cp.SELECT_MAX_VALUE if direction == "max" else cp.SELECT_MIN_VALUE
            self.model.add_decision_strategy([self.one(total)], cp.CHOOSE_FIRST, value)
        solver = cp.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.search_branching = cp.FIXED_SEARCH
        solver.parameters.keep_all_feasible_solutions_in_presolve = True
        status = solver.solve(self.model)
        assert status in (cp.OPTIMAL, cp.FEASIBLE)
        return [solver.value(self.one(total)) for total, _ in preferences]


class Choco(Peer):
    def __init__(self) -> None:
        from pychoco import Model

        super().__init__()
        self.model = Model()

    def variable(self, values: Sequence[int], name: str) -> Any:
        if isinstance(values, range) and values.step == 1:
            return self.model.intvar(values[0], values[-1])
        return self.model.intvar(list(values))

    def require(self, terms: list[tuple[Any, int]], operator: str, bound: int) -> None:
        self.model.scalar([x for x, _ in terms], [a for _, a in terms], operator, bound).post()

    def product(self, x: Any, y: Any, z: Any) -> None:
        self.model.times(x, y, z).post()

    def quotient(self, x: Any, y: Any, z: Any) -> None:
        self.model.div(x, y, z).post()

    def remainder(self, x: Any, y: Any, z: Any) -> None:
        self.model.mod(x, y, z).post()

    def minimum(self, x: Any, y: Any, z: Any) -> None:
        self.model.min(z, [x, y]).post()

    def first_solution(self, preferences: list[tuple[Sum, str]]) -> list[int]:
        variables = [self.one(total) for total, _ in preferences]
        order = [
            self.model.int_minus_view(x) if direction == "max" else x
            for x, (_, direction) in zip(variables, preferences, strict=True)
        ]
        solver = self.model.get_solver()
        solver.set_input_order_lb_search(*order)
        solution = solver.find_solution()
        assert solution is not None
        return [solution.get_int_val(x) for x in variables]


def answer(kind: type[Peer], shape: Shape) -> Answer:
    """The preferred values and the processor seconds, model building included."""
    begun = process_time()
    peer = kind()
    found = peer.first_solution(tiling(shape, peer.words()))
    return found, process_time() - begun


PEERS: dict[str, type[Peer]] = {"choco": Choco, "cp_sat": CpSat}
