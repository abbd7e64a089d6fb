"""CPMpy models solved by constrint.

    import constrint.integrations.cpmpy
    model.solve(solver="constrint")

CPMpy makes partial functions total and decomposes global constraints that constrint lacks. The remaining
expression trees are translated node by node. `CPM_constrint` is the solver class.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from time import perf_counter
from typing import Any

import numpy as np
from cpmpy.expressions.core import BoolVal, Expression
from cpmpy.expressions.utils import flatlist, is_boolexpr
from cpmpy.expressions.variables import NegBoolView, _BoolVarImpl, _NumVarImpl
from cpmpy.solvers.solver_interface import ExitStatus, SolverInterface, SolverStatus
from cpmpy.solvers.utils import SolverLookup
from cpmpy.transformations.decompose_global import decompose_in_tree, decompose_objective
from cpmpy.transformations.get_variables import get_variables
from cpmpy.transformations.normalize import toplevel_list
from cpmpy.transformations.safening import no_partial_functions, safen_objective

from constrint.diagrams.python_conditions import COMPARE
from constrint.expr import BoolExpr, Const, IntExpr, as_bool
from constrint.integrations.cpmpy_functions import NUMBERS, RELATIONS
from constrint.model import Model
from constrint.modelling.result import Result, Status
from constrint.support.version import version as own_version


class CPM_constrint(SolverInterface):  # type: ignore[misc]  # noqa: N801 - as CPMpy names its solvers
    """The solver class for CPMpy."""

    supported_global_constraints: frozenset[str]
    supported_reified_global_constraints: frozenset[str]

    @staticmethod
    def supported() -> bool:
        """Whether the solver can be used: always True if this module can be imported."""
        return True

    @classmethod
    def version(cls) -> str:
        """The version of constrint."""
        return own_version()

    def __init__(self, cpm_model: object = None, subsolver: str | None = None) -> None:
        self._model = Model("cpmpy")
        self._goal: tuple[IntExpr, bool] | None = None
        self._core: list[object] | None = None
        self.objective_value_: int | None
        super().__init__(name="constrint", cpm_model=cpm_model, subsolver=subsolver)

    @property
    def native_model(self) -> Model:
        """The constrint model."""
        return self._model

    # ------------------------------------------------------------ posting

    def solver_var(self, cpm_var: Expression) -> Any:
        """The constrint expression of a CPMpy variable, made on first use.

        A constant is returned unchanged.
        """
        if not isinstance(cpm_var, _NumVarImpl):
            return int(cpm_var)
        if isinstance(cpm_var, NegBoolView):
            return ~self.solver_var(cpm_var._bv)
        known = self._varmap.get(cpm_var.name)
        if known is None:
            name = f"v{len(self._varmap)}"  # CPMpy's names may be invalid here
            if isinstance(cpm_var, _BoolVarImpl):
                known = self._model.bool_var(name)
            else:
                known = self._model.int_var(name, int(cpm_var.lb), int(cpm_var.ub))
            self._varmap[cpm_var.name] = known
        return known

    def transform(self, cpm_expr: object) -> list[Expression]:
        """Constraints without partial functions, and only with global constraints that constrint has."""
        constraints = no_partial_functions(toplevel_list(cpm_expr))
        return list(
            decompose_in_tree(
                constraints,
                supported=self.supported_global_constraints,
                supported_reified=self.supported_reified_global_constraints,
                csemap=self._csemap,
            )
        )

    def add(self, cpm_expr: Expression | Iterable[Expression]) -> CPM_constrint:
        """Add constraints."""
        get_variables(cpm_expr, collect=self.user_vars)
        for constraint in self.transform(cpm_expr):
            self._model.add(self.condition(constraint))
        return self

    __add__ = add

    def objective(self, expr: Expression, minimize: bool = True) -> None:
        """Set the objective; the last call counts."""
        get_variables(expr, collect=self.user_vars)
        goal, safe = safen_objective(expr)
        goal, parts = decompose_objective(
            goal,
            supported=self.supported_global_constraints,
            supported_reified=self.supported_reified_global_constraints,
            csemap=self._csemap,
        )
        self.add(list(safe) + list(parts))
        self._goal = self.number(goal), minimize

    def has_objective(self) -> bool:
        """Whether there is an objective."""
        return self._goal is not None

    # ------------------------------------------------------------ solving

    def solve(
        self,
        time_limit: float | None = None,
        assumptions: Iterable[Expression] | None = None,
        display: object = None,
        **options: Any,
    ) -> bool:
        """Find a solution; with an objective, the best one.

        Args:
            time_limit: Seconds, more than 0.
            assumptions: Conditions that are true in this call; see `get_core`. Lists, tuples and arrays of
                them may be nested.
            display: Expressions to print, or a function to call, at each better solution.
            **options: Further arguments of `constrint.Model.solve`, such as seed, learn or workers.

        Returns:
            Whether a solution was found.
        """
        _check_time(time_limit)
        self.solver_vars(list(self.user_vars))
        started = perf_counter()
        assumed = [] if assumptions is None else _flat(assumptions)
        get_variables(assumed, collect=self.user_vars)
        conditions = [self.condition(one) for one in assumed]
        if display is not None:
            options["on_solution"] = functools.partial(self._show, display)
        if self._goal is not None:
            options["minimize" if self._goal[1] else "maximize"] = self._goal[0]
        result = self._model.solve(assumptions=conditions, time_limit=time_limit, **options)
        self._core = None
        if assumptions is not None and result.status is Status.INFEASIBLE:
            conflict = result.conflict
            guilty = {id(one.expr) for one in conflict.constraints} if conflict is not None else set()
            pairs = zip(assumed, conditions, strict=True)
            self._core = [one for one, condition in pairs if id(condition) in guilty]
        status = {
            Status.OPTIMAL: ExitStatus.FEASIBLE if self._goal is None else ExitStatus.OPTIMAL,
            Status.FEASIBLE: ExitStatus.FEASIBLE,
            Status.INFEASIBLE: ExitStatus.UNSATISFIABLE,
            Status.UNKNOWN: ExitStatus.UNKNOWN,
        }[result.status]
        self._end(status, started)
        if result:
            self._keep(result)
        else:
            self._clear()
        return bool(result)

    def solveAll(  # noqa: N802 - CPMpy's name
        self,
        display: object = None,
        time_limit: float | None = None,
        solution_limit: int | None = None,
        call_from_model: bool = False,
        **options: Any,
    ) -> int:
        """Count all solutions (with an objective, the best ones), and display each if wanted."""
        _check_time(time_limit)
        self.solver_vars(list(self.user_vars))
        started = perf_counter()
        model = self._model
        if self._goal is not None:
            goal, minimize = self._goal
            best = model.solve(
                minimize=goal if minimize else None,
                maximize=None if minimize else goal,
                time_limit=time_limit,
            )
            if best.status is not Status.OPTIMAL:
                self._end(_stopped(best.status), started)
                self._clear()
                return 0
            model = model.copy()
            model.add(goal == best[goal])
        left = None if time_limit is None else max(0.0, time_limit - (perf_counter() - started))
        users = sorted(self.user_vars, key=lambda one: str(one.name))
        seen: set[tuple[int, ...]] = set()
        solutions = model.iter_solutions(time_limit=left, **options)
        complete = True
        for result in solutions:
            # Auxiliary variables of decompositions may differ between solutions that are equal for the user.
            values = tuple(result[self.solver_var(one)] for one in users)
            if values in seen:
                continue
            seen.add(values)
            self._keep(result)
            self.print_display(display)
            if len(seen) == solution_limit:
                complete = False
                break
        complete = complete and solutions.complete
        found = ExitStatus.OPTIMAL if complete else ExitStatus.FEASIBLE
        none = ExitStatus.UNSATISFIABLE if complete else ExitStatus.UNKNOWN
        self._end(found if seen else none, started)
        if not seen:
            self._clear()
        return len(seen)

    def solution_hint(self, cpm_vars: object, vals: object) -> None:
        """Set values that a solution is likely to have, in place of earlier ones: search begins near them."""
        variables, values = flatlist(cpm_vars), flatlist(vals)
        if len(variables) != len(values):
            raise ValueError(f"a hint of {len(variables)} variables needs as many values, not {len(values)}")
        self._model.hints.clear()
        self.solver_vars(variables)
        for one, value in zip(variables, values, strict=True):
            if isinstance(one, NegBoolView):
                one, value = one._bv, not value
            if isinstance(one, _NumVarImpl):
                self._model.hint({self.solver_var(one): int(value)})

    def get_core(self) -> list[Expression]:
        """A minimal set of assumptions of the last call that contradict the model."""
        if self._core is None:
            raise ValueError("get_core() needs a call of solve(assumptions=[…]) that found no solution")
        return self._core

    def _show(self, display: object, result: Result) -> None:
        self._keep(result)
        self.print_display(display)

    def _end(self, status: ExitStatus, started: float) -> None:
        self.cpm_status = SolverStatus(self.name)
        self.cpm_status.exitstatus = status
        self.cpm_status.solve_time = self.cpm_status.runtime = perf_counter() - started

    def _keep(self, result: Result) -> None:
        for one in self.user_vars:
            value = result[self.solver_var(one)]
            one._value = bool(value) if isinstance(one, _BoolVarImpl) else int(value)
        if self._goal is not None:
            self.objective_value_ = int(result[self._goal[0]])

    def _clear(self) -> None:
        self.objective_value_ = None
        for one in self.user_vars:
            one.clear()

    # ------------------------------------------------------------ expressions

    def condition(self, expr: Expression) -> BoolExpr:
        """A Boolean CPMpy expression as a condition."""
        if not isinstance(expr, Expression):
            return as_bool(bool(expr))
        if isinstance(expr, BoolVal):
            return as_bool(bool(expr.value()))
        if isinstance(expr, _BoolVarImpl):
            found: BoolExpr = self.solver_var(expr)
            return found
        args = expr.args
        if expr.name in COMPARE:
            if expr.name in ("==", "!=") and all(map(_is_boolean, args)):
                left, right = self.condition(args[0]), self.condition(args[1])
                return left.iff(right) if expr.name == "==" else left ^ right
            numbers = [one if _is_broken(one) else self.number(one) for one in args]
            return as_bool(COMPARE[expr.name](*numbers))
        if expr.name not in RELATIONS:
            raise NotImplementedError(f"constrint has no counterpart of {expr.name}: {expr}")
        return RELATIONS[expr.name](self, args)

    def number(self, expr: Expression) -> IntExpr:
        """A CPMpy expression as a number; a condition counts as 0 or 1."""
        if _is_broken(expr):
            raise NotImplementedError(f"{expr} is not an integer: CPMpy has such numbers in comparisons only")
        if not isinstance(expr, Expression):
            return Const(int(expr))
        if _is_boolean(expr):
            return 1 * self.condition(expr)
        if isinstance(expr, _NumVarImpl):
            found: IntExpr = self.solver_var(expr)
            return found
        if expr.name not in NUMBERS:
            raise NotImplementedError(f"constrint has no counterpart of {expr.name}: {expr}")
        return NUMBERS[expr.name](self, expr.args)

    def numbers(self, exprs: Iterable[Expression]) -> list[IntExpr]:
        """Expressions of CPMpy as numbers."""
        return [self.number(expr) for expr in exprs]

    def conditions(self, exprs: Iterable[Expression]) -> list[BoolExpr]:
        """Expressions of CPMpy as conditions."""
        return [self.condition(expr) for expr in exprs]


def _check_time(seconds: float | None) -> None:
    if seconds is not None and seconds <= 0:
        raise ValueError(f"time_limit must be more than 0 seconds, not {seconds}")


def _flat(assumptions: object) -> list[object]:
    """The conditions of assumptions, which may be one, or nested lists, tuples, sets and arrays of them."""
    if isinstance(assumptions, Iterable) and not isinstance(assumptions, str):
        parts = assumptions.flat if isinstance(assumptions, np.ndarray) else assumptions
        return [one for part in parts for one in _flat(part)]
    if not _is_boolean(assumptions):
        raise TypeError(f"assumptions must be Boolean variables or conditions, not {assumptions!r}")
    return [assumptions]


def _is_broken(expr: object) -> bool:
    """Whether something is a number that is not whole."""
    return isinstance(expr, float | np.floating) and int(expr) != expr


def _is_boolean(expr: object) -> bool:
    return bool(is_boolexpr(expr))


def _stopped(status: Status) -> ExitStatus:
    """The status for a search that ended before it had found all best solutions."""
    return ExitStatus.UNSATISFIABLE if status is Status.INFEASIBLE else ExitStatus.UNKNOWN


_OWN_OPERATORS = {"and", "or", "->", "not", "sum", "wsum", "sub", "-", "ite"}
CPM_constrint.supported_global_constraints = frozenset((RELATIONS.keys() | NUMBERS.keys()) - _OWN_OPERATORS)
CPM_constrint.supported_reified_global_constraints = CPM_constrint.supported_global_constraints


def register() -> None:
    """Register constrint with CPMpy. Importing this module does it; a second call has no effect."""
    former = SolverLookup.base_solvers
    if any(name == "constrint" for name, _ in former()):
        return

    def base_solvers(cls: type) -> list[tuple[str, type]]:
        return [*former(), ("constrint", CPM_constrint)]

    SolverLookup.base_solvers = classmethod(base_solvers)


register()
