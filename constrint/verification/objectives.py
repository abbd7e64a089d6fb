"""The goals of the model, each as a variable of the proof times a factor plus a constant."""

from __future__ import annotations

from dataclasses import dataclass

from constrint.expr.sums import Linear
from constrint.verification.bounds import Atom, Rejected
from constrint.verification.groups import CheckState
from constrint.verification.terms import UnreadError


@dataclass(slots=True)
class Objective:
    """A goal of the model.

    Attributes:
        number: Its place among the goals.
        direction: "min" or "max": of the variable.
        variable: The variable.
        factor: What the variable is multiplied with.
        constant: What is added to give the goal's value.
        best: The best value of the goal found so far.
        is_optimal: Whether a search proved that there is no better one.
    """

    number: int
    direction: str
    variable: int
    factor: int
    constant: int
    best: int | None = None
    is_optimal: bool = False

    def value(self, at: int) -> int:
        """The goal's value where the variable has a value."""
        return self.factor * at + self.constant

    @property
    def at_best(self) -> int | None:
        """The variable's value for the best value so far."""
        return None if self.best is None else (self.best - self.constant) // self.factor

    def better(self) -> Atom | None:
        """The atom of what is better than the best so far; None without any."""
        at = self.at_best
        if at is None:
            return None
        return (self.variable, "<=", at - 1) if self.direction == "min" else (self.variable, ">=", at + 1)


def _is_goal(objective: Objective, state: CheckState) -> bool:
    """Whether the goal, as a sum over variables of the proof, is what the variable stands for."""
    conditions = state.conditions()
    try:
        goal = conditions.expanded(conditions.of(state.model.goals[objective.number][0]))
    except (UnreadError, RecursionError):
        return False
    finally:
        for fact in conditions.facts:
            state.store.drop(fact)
    own = conditions.expanded(Linear({objective.variable: objective.factor}, objective.constant))
    return goal.terms == own.terms and goal.constant == own.constant


def check_objective(objective: Objective, state: CheckState) -> None:
    """Check that the variable stands for the goal of the model."""
    goals = state.model.goals
    if not 0 <= objective.number < len(goals) or objective.factor == 0:
        raise Rejected(f"the model has no goal {objective.number}")
    if not state.store.is_declared(objective.variable):
        raise Rejected(f"variable {objective.variable} is not declared")
    wanted = goals[objective.number][1]
    own = objective.direction if objective.factor > 0 else ("max" if objective.direction == "min" else "min")
    if own != wanted:
        raise Rejected(f"goal {objective.number} of the model has the other direction")
    solutions = state.solutions
    if not solutions.is_listed:
        if _is_goal(objective, state):
            state.report.derived += 1
        else:
            state.trust("the variable of a goal")
        return
    for number, values in solutions.extended:
        found = state.model.goal_value(objective.number, solutions.solutions[number])
        if found != objective.value(values[objective.variable]):
            raise Rejected(f"variable {objective.variable} is not goal {objective.number} of the model")
    state.report.listed += 1
