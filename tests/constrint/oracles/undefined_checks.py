"""Every way to solve a random model with terms that may be undefined, compared with brute force.

`python tests/constrint/oracles/undefined_checks.py 0 20000` checks the models of many seeds.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

from random_models import RandomModel, draw_model

from constrint import Model, ModelError, Result
from constrint.backends import cp_sat

TIME_LIMIT = 60.0
"""Seconds for one question about one small model: needing longer is a failure."""

Rows = set[tuple[int, ...]]


def wrong_undefined(drawn: RandomModel, *, thorough: bool = True) -> list[str]:
    """What any method answers wrongly about a model; empty where all is right.

    Args:
        drawn: The model.
        thorough: Whether sympy and CP-SAT, which take most of the time, are asked as well.
    """
    expected = {tuple(solution.values()) for solution in drawn.solutions()}
    model = drawn.build()
    complaints = []
    for name, answer in _answers(model, drawn, thorough):
        wanted = answer(expected)
        if wanted is not None:
            complaints.append(f"{name}: {wanted}\n{drawn.text()}")
    return complaints


Answer = Callable[[Rows], str | None]
"""What is wrong about an answer, given the solutions."""


def _all(model: Model, names: list[str]) -> Answer:
    def check(expected: Rows) -> str | None:
        found = [
            tuple(result[name] for name in names) for result in model.iter_solutions(engine="interpreted")
        ]
        return (
            None
            if len(found) == len(expected) and set(found) == expected
            else f"{len(found)}, not {len(expected)}"
        )

    return check


def _number(count: Callable[[], int]) -> Answer:
    def check(expected: Rows) -> str | None:
        found = count()
        return None if found == len(expected) else f"{found}, not {len(expected)}"

    return check


def _one(solve: Callable[[], Any], names: list[str]) -> Answer:
    def check(expected: Rows) -> str | None:
        result = solve()
        if not result:
            return None if not expected and result.status.name == "INFEASIBLE" else f"{result.status}"
        found = tuple(result[name] for name in names)
        return None if found in expected else f"{found} is no solution"

    return check


def _by_cp_sat(model: Model) -> Result:
    """CP-SAT's answer; this solver's for what CP-SAT cannot hold, such as gcd of many values."""
    try:
        return cp_sat.solve(model, [], [], time_limit=TIME_LIMIT)
    except ModelError:
        return model.solve(engine="interpreted", time_limit=TIME_LIMIT)


def _listed(model: Model, names: list[str]) -> Answer:
    def check(expected: Rows) -> str | None:
        solutions = model.solutions()
        found = {tuple(int(row[name]) for name in names) for row in solutions}
        return None if found == expected and solutions.size == len(expected) else f"{solutions.size}"

    return check


def _explained(model: Model) -> Answer:
    def check(expected: Rows) -> str | None:
        conflict = model.explain(time_limit=TIME_LIMIT)
        if expected:
            return None if conflict is None else f"a conflict: {conflict}"
        if conflict is None:
            return "no conflict"
        part = Model()
        part.variables, part.constraints = model.variables, list(conflict.constraints)
        return "the conflict has a solution" if part.count() else None

    return check


def _answers(model: Model, drawn: RandomModel, thorough: bool) -> Iterator[tuple[str, Answer]]:
    names = list(drawn.domains)
    yield "iter_solutions", _all(model, names)
    yield "count", _number(model.count)
    yield "count by search", _number(lambda: model.count(engine="interpreted"))
    yield "solutions()", _listed(model, names)
    yield "text", _number(Model.from_text(model.to_text()).count)
    yield "JSON", _all(Model.from_json(model.to_json()), names)
    yield "explain", _explained(model)
    yield "learn", _one(lambda: model.solve(learn=True, engine="interpreted", time_limit=TIME_LIMIT), names)
    restarted: dict[str, Any] = {"restarts": "luby", "engine": "interpreted", "time_limit": TIME_LIMIT}
    yield "restarts", _one(lambda: model.solve(**restarted), names)
    if thorough:
        yield "sympy", _all(Model.from_sympy(model.to_sympy()), names)
        yield "CP-SAT", _one(lambda: _by_cp_sat(model), names)


def main(first: int, last: int, thorough: bool) -> int:
    """Check the models of many seeds; the number of those with wrong answers."""
    wrong = 0
    for seed in range(first, last):
        depth, size = (3, 60) if seed % 3 else (4, 40)
        complaints = wrong_undefined(
            draw_model(seed, max_depth=depth, max_assignments=size), thorough=thorough
        )
        if complaints:
            wrong += 1
            sys.stdout.write("\n".join([f"seed {seed}:", *complaints]) + "\n")
    sys.stdout.write(f"{last - first} models, {wrong} with wrong answers\n")
    return wrong


if __name__ == "__main__":
    sys.exit(min(1, main(int(sys.argv[1]), int(sys.argv[2]), "--quick" not in sys.argv)))
