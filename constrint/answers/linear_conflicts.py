"""Which constraints contradict each other by what they imply linearly, and points at which all hold.

Each constraint is lowered by itself, so that its rows hold whenever it does. A ray over the rows of some
constraints, made integers (`relaxation.program`), proves that these have no solution together, and only those
with a multiplier take part. A point of the rows, rounded, is evaluated by the constraints as they are
written. So most of the solves of a search for conflicts or corrections take one linear program each.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from constrint.engine.state_arrays import LIMIT
from constrint.errors import ModelError, Undefined
from constrint.expr import BoolExpr, BoolVar, IntExpr, IntVar
from constrint.expr.walk import inner_first
from constrint.lowering.conditions import Lowering
from constrint.lowering.problem import Infeasible, NeedsWiderBounds
from constrint.preparing.checks import first_violated
from constrint.presolve import untouched
from constrint.relaxation.highs import has_highs
from constrint.relaxation.lp_rows import LpRow, relaxed
from constrint.relaxation.program import INFEASIBLE, OPTIMAL, RelaxationProgram
from constrint.support.deadline import Stopped, until

if TYPE_CHECKING:
    from constrint.modelling.declarations import Declarations
    from constrint.presolve import Root
    from constrint.support.deadline import Deadline

Key: TypeAlias = "tuple[IntExpr | tuple[int, int], int | None]"
"""A user's variable, or a constraint's number with one of its own; and the member, or None."""


def linear_conflicts(model: Declarations, deadline: Deadline) -> LinearConflicts | None:
    """The linear part of a model's constraints; None where there is none, or it is late, or without HiGHS."""
    if not has_highs():
        return None
    try:
        with until(deadline):
            made = LinearConflicts(model, deadline)
    except Stopped:
        return None
    return made if made.has_rows else None


class LinearConflicts:
    """The rows that each constraint of a model implies, in one linear program.

    Attributes:
        solution: The last solution that `is_feasible` found.
    """

    def __init__(self, model: Declarations, deadline: Deadline) -> None:
        self._model = model
        self._deadline = deadline
        self._has_point = False
        self.solution: dict[IntExpr, int] = {}
        self._columns: dict[Key, int] = {}
        self._lower: list[int] = []
        self._upper: list[int] = []
        self._rows: list[LpRow] = []
        self._owner: list[int] = []  # of each row
        self._entries = 0
        for number, constraint in enumerate(model.constraints):
            with suppress(Infeasible, NeedsWiderBounds, ModelError, RecursionError):
                self._lower_alone(number, constraint.expr)
        self._owners = np.array(self._owner, np.int64)
        self._low, self._high = np.array(self._lower, np.int64), np.array(self._upper, np.int64)
        self._program = RelaxationProgram(self._rows, len(self._columns), None, 1)

    @property
    def has_rows(self) -> bool:
        """Whether several constraints have rows."""
        return len(set(self._owner)) > 1

    def _lower_alone(self, number: int, expr: BoolExpr) -> None:
        """Add the rows of one constraint, and columns for its variables."""
        lowering = Lowering()
        own = [node for node in inner_first([expr]) if isinstance(node, IntVar | BoolVar)]
        for variable in own:
            lowering.declare(variable)
        problem = lowering.problem
        ends = [(v, problem.lo[v], problem.hi[v]) for v in lowering.variables.values()]
        if any(low <= -LIMIT or high >= LIMIT for _, low, high in ends):
            return
        lowering.require(expr)
        root = untouched(problem, self._model.settings)
        relaxation = None if root is None else relaxed(root)
        if root is None or relaxation is None:
            return
        names: dict[int, IntExpr] = {v: variable for variable, v in lowering.variables.items()}
        declared = {v: (low, high) for v, low, high in ends}
        places: list[int] = []
        columns = relaxation.columns
        for v, value in zip(columns.variable, columns.value, strict=True):
            key: Key = (names[v], value) if v in names else ((number, v), value)
            places.append(self._column(key, v, root, declared))
        rows = [
            LpRow({places[j]: a for j, a in row.terms.items()}, row.low, row.high) for row in relaxation.rows
        ]
        for v, low, high in ends:  # what lowering removed from domains
            if problem.lo[v] > low or problem.hi[v] < high:
                place = self._column((names[v], None), v, root, declared)
                rows.append(LpRow({place: 1}, problem.lo[v], problem.hi[v]))
        self._entries += sum(len(row.terms) for row in rows)
        if self._entries <= self._model.settings.relaxation.most_entries:
            self._rows += rows
            self._owner += [number] * len(rows)

    def _column(self, key: Key, v: int, root: Root, declared: dict[int, tuple[int, int]]) -> int:
        place = self._columns.get(key)
        if place is None:
            place = self._columns[key] = len(self._columns)
            ends = (0, 1)
            if key[1] is None:
                ends = declared[v] if v in declared else (root.box.lo[v], root.box.hi[v])
            self._lower.append(ends[0])
            self._upper.append(ends[1])
        return place

    def core(self, numbers: Collection[int]) -> list[int] | None:
        """Some of these constraints that are proven to have no solution together; None without a proof."""
        program = self._program
        program.keep(np.isin(self._owners, list(numbers)))
        with until(self._deadline):
            outcome = program.solve(self._low, self._high)
        self._has_point = outcome == OPTIMAL
        if outcome != INFEASIBLE or program.refutation(self._low, self._high) is None:
            return None
        return sorted(set(self._owners[program.used].tolist()))

    def is_feasible(self, numbers: Collection[int]) -> bool | None:
        """Whether constraints have a solution together; None if neither a ray nor a point tells."""
        if self.core(numbers) is not None:
            return False
        return True if self._has_point and self._holds(numbers) else None

    def shrunk(self, numbers: Sequence[int]) -> list[int] | None:
        """As few as possible of some constraints whose rows contradict each other; None where they do not."""
        left = self.core(numbers)
        if left is None:
            return None
        for number in list(left):
            if number in left and self._deadline.left > 0:
                fewer = self.core([one for one in left if one != number])
                left = left if fewer is None else fewer
        return left

    def _holds(self, numbers: Iterable[int]) -> bool:
        """Whether the last point, rounded, is a solution of these constraints."""
        point = self._program.point
        assignment: dict[IntExpr, int] = {}
        for variable in self._model.variables.values():
            place = self._columns.get((variable, None))
            value = 0 if place is None else round(float(point[place]))
            if isinstance(variable, IntVar):
                domain = variable.domain
                if place is None:
                    value = next((end for end in (domain.lo, domain.hi) if end is not None), 0)
                if value not in domain:
                    return False
            assignment[variable] = value
        chosen = [self._model.constraints[i] for i in sorted(numbers)]
        self.solution = assignment
        try:
            return first_violated(chosen, assignment) is None
        except (Undefined, ModelError):
            return False
