"""What `constrint solve` and `constrint explain` do and print, for people or as JSON."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from random import Random
from typing import Any, Literal, TypeAlias

from constrint.explain import Conflict, describe, find_conflict
from constrint.model import Model
from constrint.result import Result, Status

Mode: TypeAlias = Literal["one", "all", "count", "sample"]

INFEASIBLE, UNDECIDED = 1, 3
REASON_SECONDS = 5.0
"""How long `solve` looks for the reason of an infeasibility; `explain` takes its own limit."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to find.

    Attributes:
        mode: One solution, all, how many, or a random sample.
        number: How many solutions at most ("all") or exactly ("sample").
        seed: Seed of the sample.
        time_limit: Seconds, or None.
        json: Whether to answer in JSON.
    """

    mode: Mode = "one"
    number: int | None = None
    seed: int = 0
    time_limit: float | None = None
    json: bool = False


def answer(model: Model, request: Request) -> int:
    """Solve, print, and give the exit code."""
    if request.mode == "one":
        return _one(model, request)
    if request.mode == "count":
        return _count(model, request)
    if request.mode == "all":
        return _all(model, request)
    return _sample(model, request)


def explanation(model: Model, *, time_limit: float, json: bool) -> int:
    """Print why a model is infeasible, and give the exit code: 0 where it is not."""
    started = time.monotonic()
    model.goals, model.preferences = [], []
    result = model.solve(time_limit=time_limit)
    if result:
        if json:
            _write_json({"status": "feasible", "conflict": None})
        else:
            _write("the model has a solution, so there is no conflict: " + _line(result.values))
        return 0
    if result.status is Status.UNKNOWN:
        return _undecided(Request(json=json))
    left = max(0.0, time_limit - (time.monotonic() - started))
    return _infeasible(model, json, left)


def _one(model: Model, request: Request) -> int:
    result = model.solve(time_limit=request.time_limit)
    if result.status is Status.INFEASIBLE:
        return _infeasible(model, request.json)
    if result.status is Status.UNKNOWN:
        return _undecided(request)
    if request.json:
        _write_json(
            {
                "status": result.status.value,
                "values": dict(result.values),
                "objective": result.objective,
                "statistics": asdict(result.statistics),
            }
        )
    else:
        _write_result(model, result)
    return 0


def _write_result(model: Model, result: Result) -> None:
    if result.status is Status.FEASIBLE:
        _write("# stopped by the time limit: there may be a better solution")
    width = max((len(name) for name in result.values), default=0)
    for name, value in result.values.items():
        _write(f"{name:<{width}} = {value}")
    goals = model.goals + model.preferences
    if result.objective is not None and goals:
        values = result.objective if isinstance(result.objective, tuple) else (result.objective,)
        for (expr, direction), value in zip(goals, values, strict=False):
            text = expr.position.text if expr.position else "objective"
            _write(f"# {'maximal' if direction == 'max' else 'minimal'} {text} = {value}")


def _count(model: Model, request: Request) -> int:
    number = model.count(time_limit=request.time_limit)
    if number == 0:
        return _infeasible(model, request.json)
    if request.json:
        _write_json({"count": number})
    else:
        _write(str(number))
    return 0


def _solutions(model: Model, request: Request) -> Iterator[Mapping[str, int]]:
    for result in model.iter_solutions(limit=request.number if request.mode == "all" else None):
        yield result.values


def _all(model: Model, request: Request) -> int:
    """Write solutions as they are found; as JSON, too, so that a long list needs no memory."""
    started = time.monotonic()
    found, complete = 0, True
    for values in _solutions(model, request):
        if request.json:
            sys.stdout.write(('{"solutions": [\n' if found == 0 else ",\n") + json.dumps(dict(values)))
        else:
            _write(_line(values))
        found += 1
        if request.time_limit is not None and time.monotonic() - started > request.time_limit:
            complete = False
            break
    if found == 0:
        return _infeasible(model, request.json)
    complete = complete and found != request.number
    if request.json:
        _write(f'\n], "count": {found}, "complete": {json.dumps(complete)}}}')
    elif not complete and found != request.number:
        sys.stderr.write(f"stopped by the time limit after {found} solutions\n")
    return 0


def _sample(model: Model, request: Request) -> int:
    """Solutions drawn uniformly: a reservoir over all of them, so that memory stays small."""
    random, wanted = Random(request.seed), request.number or 1
    chosen: list[Mapping[str, int]] = []
    seen = 0
    for values in _solutions(model, request):
        seen += 1
        if len(chosen) < wanted:
            chosen.append(values)
        elif (place := random.randrange(seen)) < wanted:
            chosen[place] = values
    if not chosen:
        return _infeasible(model, request.json)
    random.shuffle(chosen)
    if request.json:
        _write_json({"solutions": [dict(values) for values in chosen], "count": seen})
    else:
        for values in chosen:
            _write(_line(values))
    return 0


def _infeasible(model: Model, as_json: bool, seconds: float = REASON_SECONDS) -> int:
    conflict = find_conflict(model, time_limit=seconds)
    if as_json:
        _write_json({"status": "infeasible", "conflict": _conflict_facts(conflict)})
    else:
        _write(f"infeasible: {conflict}")
    return INFEASIBLE


def _conflict_facts(conflict: Conflict) -> dict[str, Any]:
    constraints = []
    for constraint in conflict.constraints:
        position = constraint.position
        constraints.append(
            {
                "name": constraint.name,
                "text": position.text if position else describe(constraint),
                "file": position.file if position else None,
                "line": position.line if position else None,
                "column": position.column if position else None,
            }
        )
    return {"constraints": constraints, "empty": list(conflict.empty), "minimal": conflict.minimal}


def _undecided(request: Request) -> int:
    if request.json:
        _write_json({"status": "unknown"})
    else:
        _write("unknown: the time limit came before a solution or a proof that there is none")
    return UNDECIDED


def _line(values: Mapping[str, int]) -> str:
    return " ".join(f"{name}={value}" for name, value in values.items())


def _write(line: str) -> None:
    sys.stdout.write(line + "\n")


def _write_json(document: Mapping[str, Any]) -> None:
    _write(json.dumps(document))
