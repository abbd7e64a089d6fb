"""A checker of proofs: it reads the model as written and the proof's lines, and imports no solver code.

The format is described in `docs/constrint-proofs.md`. Each step of lowering, presolve and decomposition
follows by propagation or a rule (`implied`), or holds in all solutions of the model where these can be
listed (`solutions`), or is counted as trusted. Each learned clause follows by propagation of its opposite.
Solutions are evaluated by the meaning of the model's expressions.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable

from constrint.errors import ConstrintError
from constrint.frontends.text.text import read_model
from constrint.modelling.declarations import Declarations
from constrint.support.deadline import check_deadline
from constrint.verification.bounds import Atom, Rejected
from constrint.verification.groups import CheckState, StepGroup
from constrint.verification.lines import (
    clause_of,
    constraint_of,
    definition_of,
    mapping,
    objective_of,
    solution_of,
    variable_of,
)
from constrint.verification.objectives import Objective, check_objective
from constrint.verification.report import Report
from constrint.verification.search import ProofSearch
from constrint.verification.settings import CheckerSettings
from constrint.verification.written import Written

HEAD = "constrint proof 2"
UNREADABLE = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError)
"""Exceptions of lines that are no valid steps."""


class RejectedAtError(Exception):
    """A proof is rejected.

    Attributes:
        line: Number of the line, from 1 on.
        why: Why.
    """

    def __init__(self, line: int, why: str) -> None:
        super().__init__(f"line {line}: {why}")
        self.line = line
        self.why = why


class NotTheModelError(Exception):
    """A proof is about another model than the one given."""


def verify(
    model: Declarations | None, proof: Iterable[str], settings: CheckerSettings | None = None
) -> Report:
    """Check a proof; returns what it proves.

    Args:
        model: The model that the proof must be about; None to take the one that is in the proof.
        proof: The lines of the proof.
        settings: The limits of the check.

    Raises:
        RejectedAtError: A step does not follow.
        NotTheModelError: The proof is about another model.
    """
    checker = Checker(model, settings or CheckerSettings())
    number = 0
    for number, line in enumerate(proof, 1):
        check_deadline()
        try:
            checker.step(line.rstrip("\n"))
        except Rejected as why:
            raise RejectedAtError(number, str(why)) from None
        except UNREADABLE as error:
            raise RejectedAtError(number, f"this line cannot be read: {error!r}") from None
    if not checker.report.claim:
        raise RejectedAtError(number, "the proof ends without a claim: the search was interrupted")
    return checker.report


class Checker:
    """Follows a proof line by line."""

    def __init__(self, model: Declarations | None, settings: CheckerSettings) -> None:
        self._given = model
        self._settings = settings
        self.report = Report()
        self._has_begun = False
        self._written: Written | None = None
        self._base: CheckState | None = None
        self._group: StepGroup | None = None
        self._search: ProofSearch | None = None
        self._objectives: dict[int, Objective] = {}
        self._is_infeasible = False
        self._steps: dict[str, Callable[[str], None]] = {
            "model": self._model,
            "lowering": self._lowering,
            "from": self._from,
            "presolve": self._presolve,
            "search": self._begin_search,
            "variable": self._variable,
            "define": self._define,
            "constraint": self._constraint,
            "domain": self._domain,
            "objective": self._objective,
            "drop": self._drop,
            "learned": self._learned,
            "solution": self._solution,
            "exhausted": self._exhausted,
            "infeasible": self._infeasible,
            "claim": self._claim,
        }

    def step(self, line: str) -> None:
        """Follow one line."""
        if not self._has_begun:
            if line != HEAD:
                raise Rejected(f"a proof begins with the line {HEAD!r}")
            self._has_begun = True
            return
        if self.report.claim:
            raise Rejected("nothing follows the claim")
        word, _, rest = line.partition(" ")
        step = self._steps.get(word)
        if step is None:
            raise Rejected(f"there is no step {word!r}")
        step(rest)

    # The model, lowering and presolve

    def _model(self, rest: str) -> None:
        if self._written is not None:
            raise Rejected("a proof names one model")
        try:
            inside = read_model(json.loads(rest), filename="<proof>")
        except ConstrintError as error:
            raise Rejected(f"the model in the proof cannot be read: {error}") from None
        self._written = Written.of(inside)
        if self._given is not None:
            own = Written.of(self._given)
            if own.text != self._written.text:
                raise NotTheModelError("the proof is about another model")
            if own.goal_texts and own.goal_texts != self._written.goal_texts:
                raise NotTheModelError("the proof is about another goal")
        self.report.goals = self._written.goal_texts

    def _lowering(self, _: str) -> None:
        """Lowering begins, or begins anew with wider bounds."""
        if self._written is None:
            raise Rejected("a proof names its model before anything else")
        self.report.trusted.clear()
        self.report.derived = self.report.listed = 0
        self._objectives.clear()
        self._is_infeasible = False
        self._search = None
        self._base = CheckState(self._written, self._settings, self.report)
        self._group = StepGroup()

    def _from(self, rest: str) -> None:
        self._must_precede_search("from")
        self._end_group()
        self._group = StepGroup("lowering", None if rest == "goals" else int(rest))

    def _presolve(self, rest: str) -> None:
        self._must_precede_search("presolve")
        self._end_group()
        self._group = StepGroup(f"presolve {rest}")

    def _must_precede_search(self, step: str) -> None:
        """Refuse a step about all solutions where only better ones are considered."""
        if self._search is not None:
            raise Rejected(f"{step} stands after the beginning of a search")

    def _state(self) -> CheckState:
        if self._search is not None:
            return self._search.state
        if self._base is None:
            raise Rejected("a step stands before lowering")
        return self._base

    def _end_group(self, is_last: bool = False) -> CheckState:
        state = self._state()
        group, self._group = self._group, None
        if group is not None:
            state.take(group, is_last)
        return state

    def _open_group(self) -> StepGroup:
        if self._group is None:
            raise Rejected("a step stands outside of lowering, presolve and the beginning of a search")
        return self._group

    def _variable(self, rest: str) -> None:
        v, domain, name = variable_of(rest)
        group = self._open_group()
        if v in group.variables:
            raise Rejected(f"variable {v} is declared twice")
        group.variables[v] = domain, name

    def _define(self, rest: str) -> None:
        defined, constraint = definition_of(rest)
        group = self._open_group()
        if any(v in others for others in group.definitions for v in defined):
            raise Rejected(f"{rest.split()[0]} is defined twice")
        group.definitions[defined] = constraint
        self._state().constraints.append(constraint)

    def _constraint(self, rest: str) -> None:
        constraint = constraint_of(rest)
        self._open_group().constraints.append(constraint)
        self._state().constraints.append(constraint)

    def _domain(self, rest: str) -> None:
        v, domain, _ = variable_of(rest)
        self._open_group().domains.append((v, domain))

    def _objective(self, rest: str) -> None:
        self._must_precede_search("objective")
        number, direction, v, factor, constant = objective_of(rest)
        state = self._end_group()
        self._group = StepGroup("lowering")
        objective = Objective(number, direction, v, factor, constant)
        check_objective(objective, state)
        self._objectives[number] = objective

    def _infeasible(self, _: str) -> None:
        """The constraints contradict each other before any search."""
        self._must_precede_search("infeasible")
        state = self._end_group(is_last=True)
        if not state.is_refuted:
            if not state.solutions.is_listed:
                state.trust("infeasible before the search")
            elif state.solutions.solutions:
                raise Rejected("the model has a solution")
        self._is_infeasible = True

    # The search

    def _begin_search(self, rest: str) -> None:
        self._end_group()
        if self._base is None:
            raise Rejected("a search stands before lowering")
        number = int(rest) if rest else None
        if number is not None and number not in self._objectives:
            raise Rejected(f"there is no objective {number}")
        if number is None and self._base.model.goals:
            raise Rejected("a search for any solution, where the model has a goal")
        before = [self._objectives[i] for i in range(number or 0)]
        objective = None if number is None else self._objectives[number]
        self._search = ProofSearch(self._base.copy(), objective, before)
        self._group = StepGroup("decomposition")

    def _running(self) -> ProofSearch:
        self._end_group()
        if self._search is None:
            raise Rejected("a step of a search stands before it")
        return self._search

    def _drop(self, rest: str) -> None:
        search = self._running()
        for number in map(int, rest.split()):
            search.state.store.drop(search.state.constraints[number])

    def _learned(self, rest: str) -> None:
        clause: tuple[Atom, ...] = clause_of(rest)
        self._running().learn(clause)
        self.report.learned += 1

    def _solution(self, rest: str) -> None:
        self._running().solve(solution_of(rest))

    def _exhausted(self, _: str) -> None:
        self._running().exhaust()

    # The claim

    def _claim(self, rest: str) -> None:
        if self._base is not None:
            self._end_group()
        claim, _, text = rest.partition(" ")
        if claim in ("optimal", "feasible"):
            self._check_values(claim, mapping(text))
        elif claim == "infeasible":
            if not (self._is_infeasible or (self._search is not None and self._search.is_infeasible)):
                raise Rejected("that there is no solution is not proved")
        elif claim != "unknown" or text:
            raise Rejected(f"there is no claim {rest!r}")
        self.report.claim = claim

    def _check_values(self, claim: str, values: dict[str, int]) -> None:
        """Check the solution of the claim, and that it is the best."""
        written = self._written
        if written is None:
            raise Rejected("a proof names its model before anything else")
        if any(type(value) is not int for value in values.values()):
            raise Rejected("a value of the claim is not an integer")
        violated = written.violated(values)
        if violated is not None:
            raise Rejected(f"the solution violates {violated}")
        found = [written.goal_value(number, values) for number in range(len(written.goals))]
        self.report.values = {name: values[name] for name in written.variables}
        self.report.objectives = tuple(value for value in found if value is not None)
        if claim == "optimal":
            for number, value in enumerate(found):
                objective = self._objectives.get(number)
                if objective is None or not objective.is_optimal or objective.best != value:
                    raise Rejected(f"that {value} is the best value of goal {number} is not proved")
