"""The proof of a learning search: the model as written, its normal form, clauses, solutions and the claim.

`docs/constrint-proofs.md` describes the format; `constrint verify` checks it, by code that shares nothing
with lowering, presolve and search. Steps say what was done; the checker decides what supports them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from constrint.engine.state_arrays import Box
from constrint.errors import ModelError
from constrint.expr.sums import Linear
from constrint.frontends.formats import written
from constrint.learning.entries import Atom
from constrint.learning.proof_definitions import Definitions, arguments_of
from constrint.modelling.result import Status
from constrint.propagators import Propagator

if TYPE_CHECKING:
    from constrint.expr import IntExpr
    from constrint.lowering.problem import Problem
    from constrint.modelling.declarations import Declarations
    from constrint.modelling.objectives import Goal
    from constrint.modelling.result import Result

HEAD = "constrint proof 2"
Values = tuple[int, int, int, tuple[int, ...] | None]  # least, greatest, stride, explicit values


class ProofState:
    """The state of a proof: the domains and constraints written so far.

    Attributes:
        domains: The domain of each variable.
        numbers: The number of each constraint, by its text.
        count: The number of constraints and definitions.
        seen: The constraints of the problem when it was last written.
    """

    def __init__(self) -> None:
        self.domains: list[Values] = []
        self.numbers: dict[str, int] = {}
        self.count = 0
        self.seen: list[Propagator] = []

    def copy(self) -> ProofState:
        """The same, to be added to."""
        new = ProofState()
        new.domains, new.numbers, new.count = list(self.domains), dict(self.numbers), self.count
        new.seen = list(self.seen)
        return new

    def is_same(self, problem: Problem) -> bool:
        """Whether a problem is unchanged since it was written."""
        return problem.propagators == self.seen and _domains(problem) == self.domains

    def unseen(self, propagators: Sequence[Propagator]) -> Sequence[Propagator]:
        """The constraints that were added since the problem was last written."""
        count = len(self.seen)
        if propagators[:count] == self.seen:
            return propagators[count:]
        seen = {id(node) for node in self.seen}
        return [node for node in propagators if id(node) not in seen]


class ProofLog:
    """Writes a proof to an open file."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._state = ProofState()
        self._names: dict[int, str] = {}
        self._has_model = False
        self._source = ""  # what is being lowered
        self._goals: list[tuple[int, str]] = []
        self._over: set[int] = set()  # the goals whose search is over
        self._goal: int | None = None  # of the search under way
        self._line(HEAD)

    def lowering(self, model: Declarations, targets: Sequence[Goal]) -> None:
        """Write the model as it was written, unless that was done; lowering begins."""
        if not self._has_model:
            self._has_model = True
            copy = model.copy()
            copy.goals, copy.preferences = list(targets), []
            self._line(f"model {json.dumps(written(copy, 'constrint'), ensure_ascii=False)}")
        self._state, self._names, self._goals, self._over = ProofState(), {}, [], set()
        self._line("lowering")

    def declared(self, problem: Problem, variables: dict[IntExpr, int]) -> None:
        """Write the variables of the model."""
        self._names = {v: str(getattr(variable, "name", "")) for variable, v in variables.items()}
        self._changes(self._state, problem.propagators, _domains(problem), may_guess=False)

    def lowers(self, number: int | None) -> None:
        """Remember which constraint is being lowered."""
        self._source = "goals" if number is None else str(number)

    def lowered(self, problem: Problem) -> None:
        """Write what a constraint gave."""
        source, self._source = self._source, ""
        if self._state.is_same(problem):
            return
        self._line(f"from {source}")
        self._changes(self._state, problem.propagators, _domains(problem), may_guess=False)

    def objective(self, direction: str, value: Linear, goal: tuple[int, str]) -> None:
        """Write the variable that represents a target."""
        v = goal[0]
        factor, constant = (value.terms[v], value.constant) if list(value.terms) == [v] else (1, 0)
        self._line(f"objective {len(self._goals)} {goal[1]} {v} times {factor} plus {constant}")
        self._goals.append(goal)

    def presolved(self, rule: str, problem: Problem) -> None:
        """Write what a rule of presolve changed."""
        if self._state.is_same(problem):
            return
        self._line(f"presolve {rule}")
        self._changes(self._state, problem.propagators, _domains(problem), may_guess=False)

    def infeasible(self) -> None:
        """Write that there is no solution."""
        if self._source:
            self._line(f"from {self._source}")
        self._line("infeasible")

    def begin(self, box: Box, propagators: Sequence[Propagator], goal: tuple[int, str] | None) -> None:
        """Write the start of a search: its goal, its domains and constraints, and those that it drops.

        Args:
            box: The domains of the root.
            propagators: The constraints of the root.
            goal: The goal that the search improves, as `objective` got it; None without a goal.
        """
        self._goal = None if goal is None else self._number(goal)
        self._line("search" if self._goal is None else f"search {self._goal}")
        state = self._state.copy()
        domains = list(zip(box.lo, box.hi, box.step, box.values, strict=True))
        self._changes(state, propagators, domains, may_guess=True)
        kept = {_text(node) for node in propagators}
        dropped = [number for text, number in state.numbers.items() if text not in kept]
        if dropped:
            self._line(f"drop {' '.join(map(str, dropped))}")

    def _number(self, goal: tuple[int, str]) -> int:
        """The number of a goal: of equal ones the first that is not over."""
        numbers = [number for number, known in enumerate(self._goals) if known == goal]
        return next((number for number in numbers if number not in self._over), numbers[-1])

    def _changes(
        self, state: ProofState, propagators: Sequence[Propagator], domains: list[Values], may_guess: bool
    ) -> None:
        """Write the new variables with their definitions, the new constraints, and the narrower domains."""
        new = {text: node for node in state.unseen(propagators) if (text := _text(node)) not in state.numbers}
        first = len(state.domains)
        fixed = {v for v in range(first, len(domains)) if domains[v][0] == domains[v][1] or v in self._names}
        defined: set[str] = set()
        for one in Definitions(range(first, len(domains)), fixed, list(new.values()), may_guess):
            for v in (one,) if isinstance(one, int) else one.variables:
                name = f" is {json.dumps(self._names[v], ensure_ascii=False)}" if v in self._names else ""
                self._line(f"variable {v} in {_written_domain(domains[v])}{name}")
            if not isinstance(one, int):
                text = f"{one.kind} {json.dumps(one.arguments)}"
                self._line(f"define {','.join(map(str, one.variables))} {text}")
                state.numbers.setdefault(text, state.count)
                state.count += 1
                defined.add(text)
        for text in new:
            if text not in defined:
                self._line(f"constraint {text}")
                state.numbers[text] = state.count
                state.count += 1
        for v in range(first) if state.domains != domains[:first] else ():
            if state.domains[v] != domains[v]:
                self._line(f"domain {v} in {_written_domain(domains[v])}")
        state.domains = domains
        state.seen = list(propagators)

    def learned(self, atoms: Iterable[Atom]) -> None:
        """Write a learned clause."""
        self._line("learned " + " or ".join(_written(atom) for atom in atoms))

    def clauses(self, cells: Sequence[int]) -> None:
        """Write the clauses of a learner's log."""
        at = 0
        while at < len(cells):
            end = at + 1 + 2 * cells[at]
            self.learned((int(cells[i]), int(cells[i + 1])) for i in range(at + 1, end, 2))
            at = end

    def solution(self, values: Iterable[tuple[int, int]]) -> None:
        """Write a solution: (variable, value) pairs."""
        self._line("solution " + " ".join(f"{v}={value}" for v, value in values))

    def exhausted(self) -> None:
        """Write that the search space is exhausted."""
        self._line("exhausted")
        if self._goal is not None:
            self._over.add(self._goal)

    def claim(self, result: Result) -> None:
        """Write the answer, which is the last line."""
        if result.status in (Status.OPTIMAL, Status.FEASIBLE):
            word = "optimal" if result.status is Status.OPTIMAL else "feasible"
            self._line(f"claim {word} {json.dumps(result.numbers, ensure_ascii=False)}")
        else:
            self._line("claim infeasible" if result.status is Status.INFEASIBLE else "claim unknown")

    def _line(self, text: str) -> None:
        self._file.write(text + "\n")


@contextmanager
def proof_in(path: str | Path) -> Iterator[ProofLog]:
    """A proof log that writes to a file."""
    try:
        with Path(path).open("w", encoding="utf-8") as file:
            yield ProofLog(file)
    except BrokenPipeError:
        raise
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise ModelError(f"cannot write the proof to {path}: {why}") from None


def _written(atom: Atom) -> str:
    b, k = atom
    return f"{b >> 1} <= {-k}" if b & 1 else f"{b >> 1} >= {k}"


def _domains(problem: Problem) -> list[Values]:
    return list(zip(problem.lo, problem.hi, problem.step, problem.values, strict=True))


def _written_domain(values: Values) -> str:
    low, high, step, listed = values
    if listed is not None:
        return " ".join(map(str, listed))
    return f"{low} .. {high}" if step == 1 or low == high else f"{low} .. {high} step {step}"


def _text(node: Propagator) -> str:
    return f"{type(node).__name__} {json.dumps(arguments_of(node))}"
