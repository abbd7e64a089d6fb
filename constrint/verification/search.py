"""One search of a proof: its clauses follow by propagation, its solutions satisfy the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from constrint.verification.bounds import Rejected, holds
from constrint.verification.groups import CheckState
from constrint.verification.meanings import DEFINITIONS
from constrint.verification.objectives import Objective
from constrint.verification.solutions import ListedSolutions
from constrint.verification.store import Clause
from constrint.verification.written import Written


class ProofSearch:
    """A search for better values of a goal, where those of the goals before have their best.

    Attributes:
        state: What is known in the search.
        is_infeasible: Whether it proved that the model has no solution.
    """

    def __init__(self, state: CheckState, objective: Objective | None, before: Sequence[Objective]) -> None:
        self.state = state
        self.is_infeasible = False
        self._objective = objective
        self._is_free = not before and (objective is None or objective.best is None)
        self._is_over = False
        self._kept: int | None = None  # the best value when listed solutions were last left out
        store, goals = state.store, state.model
        for one in before:
            if not one.is_optimal or one.at_best is None:
                raise Rejected(f"goal {one.number} has no best value yet")
            state.solutions = state.solutions.restricted(partial(_has_value, goals, one.number, one.best))
            store.narrow(one.variable, (one.at_best,))
        better = None if objective is None else objective.better()
        if better is not None:
            self._keep_better()
            store.add_clause((better,))

    def _go_on(self) -> None:
        if self._is_over:
            raise Rejected("the search is over")

    def learn(self, clause: Clause) -> None:
        """A clause that follows by propagation."""
        self._go_on()
        outcome = self.state.store.implies(clause)
        if outcome is None:
            self._check_listed(clause)
        elif not outcome:
            raise Rejected("the clause does not follow by propagation")
        self.state.store.add_clause(clause)

    def _check_listed(self, clause: Clause) -> None:
        """A clause that propagation cannot decide: it holds in all solutions, where they are listed."""
        left = self._better_solutions()
        if left is None:
            self.state.trust("clause with a constraint that is too wide to list")
        else:
            left.keep(lambda values: any(holds(atom, values[atom[0]]) for atom in clause), "the clause")
            self.state.report.listed += 1

    def _better_solutions(self) -> ListedSolutions | None:
        """All solutions that are better than the best so far; None where they are not listed."""
        self.state.solutions.close()
        if not self.state.solutions.is_listed:
            return None
        self._keep_better()
        return self.state.solutions

    def _keep_better(self) -> None:
        """Keep the listed solutions that are better than the best so far."""
        state, objective = self.state, self._objective
        if objective is None or objective.best == self._kept:
            return
        self._kept = best = objective.best
        number = objective.number
        is_less = state.model.goals[number][1] == "min"
        state.solutions = state.solutions.restricted(
            lambda values: _is_better(state.model.goal_value(number, values), best, is_less)
        )

    def solve(self, values: dict[int, int]) -> None:
        """A solution; from here on the goal must be better."""
        self._go_on()
        state = self.state
        root = state.store.root
        named = {name: values[v] for v, name in state.names.items()}
        violated = state.model.violated(named)
        if violated is not None:
            raise Rejected(f"the solution violates {violated}")
        for v, domain in root.domains.items():
            if v >= 0 and values[v] not in domain:
                raise Rejected(f"variable {v} has no value {values[v]}")
        for constraint in state.store.constraints():
            if not DEFINITIONS[constraint.name](constraint.arguments, values):
                raise Rejected(f"the solution violates {constraint}")
        objective = self._objective
        if objective is None:
            return
        value = objective.value(values[objective.variable])
        if value != state.model.goal_value(objective.number, named):
            raise Rejected(f"the solution has another value of goal {objective.number}")
        is_less = state.model.goals[objective.number][1] == "min"
        if objective.best is not None and not _is_better(value, objective.best, is_less):
            raise Rejected("the solution is not better than the last")
        objective.best, objective.is_optimal = value, False
        better = objective.better()
        if better is not None:
            state.store.add_clause((better,))

    def exhaust(self) -> None:
        """Nothing is left to search."""
        self._go_on()
        self._is_over = True
        outcome = self.state.store.refutes([])
        if outcome is None:
            self._check_nothing_left()
        elif not outcome:
            raise Rejected("the search is not exhausted: no contradiction follows by propagation")
        if self._objective is not None and self._objective.best is not None:
            self._objective.is_optimal = True
        elif self._is_free:
            self.is_infeasible = True
        else:
            raise Rejected("the search has no solution, where an earlier one had")

    def _check_nothing_left(self) -> None:
        """An end that propagation cannot decide: no solution is left, where they are listed."""
        left = self._better_solutions()
        if left is None:
            self.state.trust("end of a search with a constraint that is too wide to list")
        elif left.solutions:
            raise Rejected("the search is not exhausted: a solution is left")
        else:
            self.state.report.listed += 1


def _has_value(model: Written, number: int, value: int | None, values: Mapping[str, int]) -> bool:
    """Whether a goal has a value for a solution."""
    return model.goal_value(number, values) == value


def _is_better(value: int | None, best: int | None, is_less: bool) -> bool:
    """Whether a value of a goal is better than another."""
    if value is None or best is None:
        return False
    return value < best if is_less else value > best
