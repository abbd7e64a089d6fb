"""Annealing as a member of a portfolio: a local search that improves the best solution by random moves.

A solution counts only where all constraints hold of it, those that functions stand for too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from constrint.local_search.annealed_arrays import build, completed
from constrint.local_search.annealed_layout import (
    BEST,
    DUE,
    HAS_BEST,
    MOVES,
    PART,
    STAGE,
    WORK,
    Annealed,
)
from constrint.local_search.annealed_moves import anneal
from constrint.local_search.invariants import Invariants, unsuited
from constrint.modelling.result import Statistics
from constrint.preparing.checks import Assignment
from constrint.preparing.search_protocol import Outcome, SearchStep, SearchTask, Stoppable
from constrint.search.moves_in_slices import Moves, MovesInSlices

if TYPE_CHECKING:
    from constrint.engine.array_search import ArraySearch

UNITS_OF_FUNCTION = 30  # for each function whose value in a solution is computed and checked


def _load() -> None:
    from constrint.local_search.compiled_annealing import load

    load()


def _compiled(state: Annealed) -> ArraySearch[Annealed]:
    from constrint.local_search.compiled_annealing import CompiledAnnealing

    return CompiledAnnealing(state)


ANNEALING = Moves(PART, anneal, lambda state: int(state.scalar[WORK]), _load, _compiled)


class AnnealingRun(Stoppable):
    """Annealing, resumable; it follows the protocol of members, and proves nothing.

    It gives up once solutions of its functions are none of the problem.

    Attributes:
        allowed: Units of work after which `next` pauses, or None; a little more may be spent.
    """

    def __init__(self, task: SearchTask, functions: Invariants) -> None:
        self.allowed: int | None = None
        self.prepared, self._task = task.prepared, task
        self._rules = task.root.settings.local_search
        self._deadline = task.deadline
        self._functions = functions
        self._sign = -1 if task.goal is not None and task.goal[1] == "max" else 1
        self._demanded: int | None = None  # the cost that a solution must have less than
        if task.goal is not None:
            v, box = task.goal[0], task.root.box
            self._demanded = 1 + (box.hi[v] if self._sign > 0 else -box.lo[v])
        self._values: list[int] = []
        state = build(functions, task.options.seed, task.goal, task.prepared.hinted(task.options))
        self._moves = MovesInSlices(ANNEALING, state, task, self._rules.annealed_slice)
        self._wrong = 0  # points that were no solutions
        self._followed: tuple[Mapping[int, int], int] | None = None  # another member's solution, and its cost

    @property
    def engine(self) -> str:
        """The present engine: "interpreted" or "compiled"."""
        return self._moves.engine

    def _next(self, checked: bool) -> SearchStep:
        self._take_followed()
        while self._wrong < self._rules.most_dives:
            self._deadline.check()
            if self.allowed is not None and self.allowed <= 0:
                return SearchStep(Outcome.PAUSED)
            if self._task.options.watch is not None:
                self._task.options.watch(self)
            if not self._slice():
                self._moves.hand_over_if_long()
                continue
            found = self._solution()
            if found is not None:
                return SearchStep(Outcome.FOUND, found)
        return SearchStep(Outcome.GAVE_UP)

    def _slice(self) -> bool:
        """Run one slice; whether it ended with a solution to tell."""
        told, units = self._moves.run(self.allowed)
        if self.allowed is not None:
            self.allowed -= units
        return told > 0

    def _solution(self) -> Assignment | None:
        """The best point, if it is a solution of the problem, and as good as is demanded."""
        scalar, functions = self._moves.state.scalar, self._functions
        scalar[DUE] = 0
        cost = int(scalar[BEST])
        if self._demanded is not None and self._task.goal is not None and cost >= self._demanded:
            return None
        if self.allowed is not None:
            self.allowed -= UNITS_OF_FUNCTION * len(functions.functions)
        best = zip(functions.decided, self._moves.state.best, strict=True)
        values = completed(functions, {v: int(x) for v, x in best})
        if not functions.holds(values):
            self._wrong += 1
            scalar[HAS_BEST] = 0
            return None
        self._values = values
        return {variable: values[v] for variable, v in self.prepared.variables.items()}

    def follow(self, values: Mapping[int, int], cost: int | None) -> None:
        """Take a solution as the best one in the next turn: the next cooling begins there.

        Args:
            values: Those of the decided variables.
            cost: The objective, such that less is better; None without one.
        """
        self._followed = None if cost is None else (values, cost)

    def _take_followed(self) -> None:
        """Return to the solution of another member at the beginning of a turn; most are superseded before."""
        if self._followed is None:
            return
        (values, cost), self._followed = self._followed, None
        scalar, box = self._moves.state.scalar, self._functions.box
        if scalar[HAS_BEST] and scalar[BEST] <= cost:
            return
        if any(not box.lo[v] <= x <= box.hi[v] for v, x in values.items()):
            return
        # The member that found the last solution may have gone on since: then its values are those of none.
        if self.allowed is not None:
            self.allowed -= UNITS_OF_FUNCTION * len(self._functions.functions)
        whole, goal = completed(self._functions, values), self.goal
        if goal is None or self.cost(whole[goal]) != cost or not self._functions.holds(whole):
            return
        for place, v in enumerate(self._functions.decided):
            self._moves.state.best[place] = values[v]
        if not scalar[HAS_BEST]:
            scalar[STAGE] = 0  # what went before found nothing
        scalar[BEST], scalar[HAS_BEST], scalar[DUE] = cost, 1, 0

    @property
    def decided(self) -> list[int]:
        """The variables that it decides."""
        return self._functions.decided

    def cost(self, value: int) -> int:
        """An objective's value, such that less is better."""
        return self._sign * value

    @property
    def goal(self) -> int | None:
        """The objective's variable."""
        return None if self._task.goal is None else self._task.goal[0]

    def value(self, v: int) -> int:
        """Value of a variable in the last solution."""
        return self._values[v]

    def goal_bounds(self) -> tuple[int, int]:
        """It proves none: (0, 0)."""
        return 0, 0

    def demand_better(self, value: int) -> None:
        """Require solutions with a better objective than a value from now on."""
        self._demanded = self._sign * value

    def statistics(self) -> Statistics:
        """The work so far: moves as nodes."""
        moves = int(self._moves.state.scalar[MOVES])
        return Statistics(nodes=moves, engine=self.engine, method="annealing", finder="annealing")


def annealing_run(task: SearchTask) -> AnnealingRun | str:
    """Annealing; a text says why there is none: constraints without a form in it, or numbers too great."""
    if task.root.exact:
        return "numbers need more than int64"
    if task.options.proof is not None:
        return "a proof is written, to which it adds nothing"
    if (reason := unsuited(task.root)) is not None:
        return reason
    functions = Invariants(task.root, task.prepared.inputs, None if task.goal is None else task.goal[0])
    if functions.refused is not None:
        return functions.refused
    return AnnealingRun(task, functions)
