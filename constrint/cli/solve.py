"""The commands `constrint solve` and `constrint explain`: what they do, and print as text or as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from random import Random
from time import perf_counter
from typing import Any, Literal, TypeAlias

from constrint.answers.conflict import find_conflict
from constrint.answers.counting import count_solutions
from constrint.answers.search_arguments import log_of, options_of
from constrint.errors import LimitError, printable
from constrint.expr import BoolVar, IntExpr, IntVar
from constrint.expr.shown import show_name
from constrint.model import Model
from constrint.modelling.conflict import Conflict, labelled, shown
from constrint.modelling.constraints import Constraint
from constrint.modelling.result import Result, Statistics, Status
from constrint.preparing.checks import values_of
from constrint.support.deadline import NEVER, Deadline
from constrint.support.long_numbers import counted

Mode: TypeAlias = Literal["one", "all", "count", "sample"]

INFEASIBLE, UNDECIDED = 1, 3
REASON_SECONDS = 5.0
"""How long `solve` looks for the reason of an infeasibility where it has no time limit."""


@dataclass(frozen=True, slots=True)
class SolveRequest:
    """The answer that `constrint solve` is to find.

    Attributes:
        mode: One solution, all solutions, their number, or a random sample.
        number: Maximum number of solutions ("all") or the exact number ("sample").
        seed: Seed of the sample, and of the search.
        time_limit: Seconds, or None.
        memory: Bytes that building the set for a sample may take, or None.
        json: Whether to answer in JSON.
        workers: How many search; None for one.
        explain: Whether to print the method, and what took no part and why.
        search: Further arguments of `Model.solve`; `log` also holds for all solutions and their number.
        deadline: When the time limit ends.
    """

    mode: Mode = "one"
    number: int | None = None
    seed: int = 0
    time_limit: float | None = None
    memory: int | None = None
    json: bool = False
    workers: int | None = None
    search: Mapping[str, Any] = field(default_factory=dict)
    deadline: Deadline = NEVER
    explain: bool = False


def answer(model: Model, request: SolveRequest) -> int:
    """Solve, print, and give the exit code."""
    request = replace(request, deadline=Deadline(request.time_limit))
    if request.mode == "one":
        return _one(model, request)
    if request.mode == "count":
        return _count(model, request)
    if request.mode == "all":
        return _all(model, request)
    return _sample(model, request)


def explanation(model: Model, *, time_limit: float, json: bool) -> int:
    """Print why a model is infeasible; returns the exit code, 0 if it is feasible."""
    try:
        conflict = model.explain(time_limit=time_limit)
    except LimitError:
        return _undecided(SolveRequest(json=json))
    if conflict is not None:
        return _write_conflict(conflict, json)
    if json:
        _write_json({"status": "feasible", "conflict": None})
    else:
        _write("the model has a solution, so there is no conflict")
    return 0


def explanations(model: Model, corrections: bool, *, time_limit: float, json: bool) -> int:
    """Print all minimal conflicts or corrections; returns the exit code as `explanation` does."""
    kind = "corrections" if corrections else "conflicts"
    found = (model.corrections if corrections else model.conflicts)(time_limit=time_limit)
    items = [one for one in found if one.constraints or isinstance(one, Conflict)]
    if json:
        sets = [[_constraint_facts(constraint) for constraint in one.constraints] for one in items]
        _write_json({kind: sets, "complete": found.complete})
    elif items:
        _write(
            "\n\n".join([printable(str(one), "\n") for one in items])
            + ("" if found.complete else "\n\nthere may be more; time ran out")
        )
    elif found.complete:
        _write("the model has a solution, so there is no conflict")
    if not found.complete and not items:
        return UNDECIDED if json else _undecided(SolveRequest(json=json))
    return INFEASIBLE if items else 0


def _one(model: Model, request: SolveRequest) -> int:
    """Solve for one solution, or for the best, and write it; returns the exit code."""
    result = model.solve(
        time_limit=request.time_limit, workers=request.workers, seed=request.seed, **request.search
    )
    if request.explain and not request.json:
        _write_taking_part(result.statistics)
    if result.status is Status.INFEASIBLE:
        return infeasible(model, request.json, request.deadline)
    if result.status is Status.UNKNOWN:
        return _undecided(request, result.statistics)
    if request.json:
        answer = {
            "status": result.status.value,
            "values": dict(result.values),
            "objective": result.objective,
            "statistics": asdict(result.statistics),
        }
        if result.violation is not None:
            answer |= {"violation": result.violation, "violated": [shown(one) for one in result.violated]}
        _write_json(answer)
    else:
        _write_result(model, result)
    return 0


def _write_taking_part(work: Statistics) -> None:
    _write(f"# method: {work.method}, {work.engine}")
    for name, reason in work.absent.items():
        _write(f"# took no part: {name}: {reason}")


def written(value: object) -> Any:
    """A set as a list, a fraction as a string with its exact value, in JSON."""
    return sorted(value, key=str) if isinstance(value, frozenset) else str(value)


def _write_result(model: Model, result: Result) -> None:
    if result.status is Status.FEASIBLE:
        _write("# stopped early: there may be a better solution")
    found = [(printable(name), value_text(value)) for name, value in result.values.items()]
    width = max((len(name) for name, _ in found), default=0)
    for name, value in found:
        _write(f"{name:<{width}} = {value}")
    goals = model.goals + model.preferences
    if result.objective is not None and goals:
        values = result.objective if isinstance(result.objective, tuple) else (result.objective,)
        for (expr, direction), value in zip(goals, values, strict=False):
            text = _goal_text(model, expr)
            extreme = "maximal" if direction == "max" else "minimal"
            _write(f"# {'best so far:' if result.status is Status.FEASIBLE else extreme} {text} = {value}")
    if result.violation is not None:
        _write(f"# violated weight = {result.violation}")
        for constraint in result.violated:
            _write(f"# violated: {printable(labelled(constraint))}")


def _goal_text(model: Model, expr: IntExpr) -> str:
    """A goal in one line: its name, or its own text in the source."""
    if isinstance(expr, IntVar | BoolVar):  # its source is its declaration
        return printable(show_name(expr.name))
    name = next((name for name, one in model.lets.items() if one is expr), None)
    if name is not None:
        return printable(show_name(name))
    return printable(" ".join(expr.position.text.split())) if expr.position else "objective"


class _Solutions:
    """All solutions one after the other.

    `complete` tells afterwards whether the time limit cut them short.
    """

    def __init__(self, model: Model, request: SolveRequest) -> None:
        self.model = model
        self.request = request
        self.found = 0
        self.complete = self.cut_short = False
        self._constants = constants_of(model)

    def __iter__(self) -> Iterator[Mapping[str, int]]:
        limit = self.request.number if self.request.mode == "all" else None
        request = self.request
        solutions = self.model.iter_solutions(
            limit,
            time_limit=request.time_limit,
            seed=request.seed,
            log=request.search.get("log", False),
            workers=request.workers,
        )
        for result in solutions:
            self.found += 1
            yield result.values if request.json else self._varying(result.values)
        self.complete = solutions.complete
        self.cut_short = not self.complete and (limit is None or self.found < limit)

    def _varying(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """The values without those of named constants, which are alike in all solutions."""
        if not self._constants:
            return values
        return {name: value for name, value in values.items() if name not in self._constants}

    def none(self) -> int:
        """Print that there was no solution, and why; returns the exit code."""
        if self.cut_short:
            return _undecided(self.request)
        return infeasible(self.model, self.request.json, self.request.deadline)

    def warn(self) -> None:
        if self.cut_short:
            sys.stderr.write(f"stopped by the time limit after {counted(self.found, 'solution')}\n")


def _count(model: Model, request: SolveRequest) -> int:
    options = options_of(time_limit=request.time_limit, workers=request.workers)
    told = log_of(model, request.search.get("log", False), perf_counter())
    number, is_complete = count_solutions(model, options, request.deadline, told=told)
    if number == 0:
        return infeasible(model, request.json, request.deadline) if is_complete else _undecided(request)
    if request.json:
        _write_json({"count": number, "complete": is_complete})
    else:
        _write(f"{number}" if is_complete else f"at least {number} (stopped by the time limit)")
    return 0


def _later(request: SolveRequest) -> SolveRequest:
    """The request with the time that is left."""
    if request.time_limit is None:
        return request
    return replace(request, time_limit=max(0.0, request.deadline.left))


def _all(model: Model, request: SolveRequest) -> int:
    """Write solutions as they are found, also as JSON, so that a long list needs no memory."""
    solutions = _Solutions(model, request)
    for values in solutions:
        if request.json:
            sys.stdout.write('{"solutions": [\n' if solutions.found == 1 else ",\n")
            sys.stdout.write(json.dumps(dict(values), default=written))
        else:
            _write(_line(values))
    if solutions.found == 0:
        return solutions.none()
    if request.json:
        _write(f'\n], "count": {solutions.found}, "complete": {json.dumps(solutions.complete)}}}')
    else:
        solutions.warn()
    return 0


def _sample(model: Model, request: SolveRequest) -> int:
    """Solutions drawn uniformly and without repetition."""
    wanted = request.number or 1
    try:
        found = model.solutions(
            time_limit=request.time_limit, memory_limit=request.memory, workers=request.workers
        )
    except LimitError:
        return _sample_stream(model, _later(request), wanted)
    if not found:
        return infeasible(model, request.json, request.deadline)
    chosen = [_with_lets(model, solution) for solution in found.plain().sample(wanted, request.seed)]
    return _write_sample(model, chosen, found.size, True, request)


def _sample_stream(model: Model, request: SolveRequest, wanted: int) -> int:
    """Reservoir sampling over all solutions, for sets that are too large to be built."""
    random = Random(request.seed)
    solutions = _Solutions(model, request)
    chosen: list[Mapping[str, int]] = []
    for values in solutions:
        if len(chosen) < wanted:
            chosen.append(values)
        elif (place := random.randrange(solutions.found)) < wanted:
            chosen[place] = values
    if not chosen:
        return solutions.none()
    random.shuffle(chosen)
    code = _write_sample(model, chosen, solutions.found, solutions.complete, request)
    if not request.json:
        solutions.warn()
    return code


def constants_of(model: Model) -> frozenset[str]:
    """The names of definitions that are constants."""
    return frozenset([name for name, expr in model.lets.items() if next(expr.variables(), None) is None])


def _with_lets(model: Model, solution: Mapping[str, int]) -> dict[str, int]:
    return values_of(model, {variable: solution[name] for name, variable in model.variables.items()})


def _write_sample(model: Model, chosen: list[Any], count: int, complete: bool, request: SolveRequest) -> int:
    constants = constants_of(model)
    if request.json:
        _write_json({"solutions": [dict(row) for row in chosen], "count": count, "complete": complete})
    else:
        for values in chosen:
            _write(_line({name: value for name, value in values.items() if name not in constants}))
    return 0


def infeasible(model: Model, as_json: bool, deadline: Deadline = NEVER) -> int:
    """Print why a model is infeasible, as far as that is found by the deadline, and give the exit code."""
    seconds = max(0.0, deadline.left) if deadline.is_set else REASON_SECONDS
    return _write_conflict(find_conflict(model, time_limit=seconds), as_json)


def _write_conflict(conflict: Conflict, as_json: bool) -> int:
    if as_json:
        _write_json({"status": "infeasible", "conflict": _conflict_facts(conflict)})
    else:
        _write("infeasible: " + printable(str(conflict), "\n"))
    return INFEASIBLE


def _constraint_facts(constraint: Constraint) -> dict[str, object]:
    position = constraint.position
    return {
        "name": constraint.name,
        "assumed": constraint.assumed,
        "text": shown(constraint),
        "file": position.file if position else None,
        "line": position.line if position else None,
        "column": position.column if position else None,
    }


def _conflict_facts(conflict: Conflict) -> dict[str, object]:
    constraints = [_constraint_facts(constraint) for constraint in conflict.listed]
    omitted = len(conflict.constraints) - len(constraints)
    facts = {"constraints": constraints, "empty": list(conflict.empty), "minimal": conflict.minimal}
    return {**facts, "omitted": omitted} if omitted else facts


def _undecided(request: SolveRequest, work: Statistics | None = None) -> int:
    if request.json:
        _write_json(
            {"status": "unknown"} if work is None else {"status": "unknown", "statistics": asdict(work)}
        )
    else:
        _write("unknown: the time limit was reached before a solution or a proof that there is none")
    return UNDECIDED


def _line(values: Mapping[str, int]) -> str:
    return " ".join(f"{printable(name)}={value_text(value)}" for name, value in values.items())


def value_text(value: object) -> str:
    """A value for people, in one line; a set such as {1, 2}."""
    if not isinstance(value, frozenset):
        return printable(str(value))
    from constrint.solutions.presented import set_text

    return printable(set_text(value))


def _write(line: str) -> None:
    sys.stdout.write(line + "\n")


def _write_json(document: Mapping[str, object]) -> None:
    _write(json.dumps(document, default=written))
