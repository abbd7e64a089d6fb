"""The assumptions that an infeasible result blames."""

# mypy: disable-error-code="union-attr"
from __future__ import annotations

from typing import Any

import pytest

from constrint import IntVar, Model

LIMIT = 20.0


def box() -> tuple[Model, dict[str, IntVar]]:
    m = Model()
    names = {name: m.int_var(name, 0, 9) for name in "xyz"}
    m.add(names["x"] + names["y"] <= names["z"] + 3)
    return m, names


@pytest.mark.parametrize("backend", ["constrint", "cp-sat"])
def test_an_assumption_is_blamed_beside_the_constraints_that_it_contradicts(backend: Any) -> None:
    m, v = box()
    m.add(v["x"] > 3)
    conflict = m.solve(assumptions=[v["x"] < 2], backend=backend, time_limit=LIMIT).conflict
    assert str(conflict).startswith("the model has no solution under this assumption:\n")
    assert [one.assumed for one in conflict.constraints] == [True]
    conflict = m.solve(assumptions=[v["x"] + v["y"] < 5, v["y"] > 0], backend=backend).conflict
    assert str(conflict).startswith("the model has no solution under these 2 assumptions together:\n")
    assert conflict is not None
    assert conflict.beside
    assert not m.explain(assumptions=[v["x"] < 2]).beside
    m.add(v["x"] < 3)
    conflict = m.solve(assumptions=[v["y"] > 0], backend=backend).conflict
    assert conflict is not None
    assert (conflict.constraints, str(conflict)) == (
        (),
        "the model has no solution even without the assumptions",
    )


@pytest.mark.parametrize("backend", ["constrint", "cp-sat"])
def test_standing_assumptions_are_blamed_with_those_of_the_call(backend: Any) -> None:
    m, v = box()
    m.add(v["x"] > 3, name="given")
    m.assume(v["y"] > 2, name="standing")
    low = m.assume(v["x"] < 7, name="low")
    conflict = m.solve(assumptions=[v["x"] > 8], backend=backend, time_limit=LIMIT).conflict
    assert [one.name for one in conflict.constraints] == ["low", None]
    low.remove()
    m.assume(v["x"] < 2, name="wrong")
    conflict = m.solve(backend=backend, time_limit=LIMIT).conflict
    assert [one.name for one in conflict.constraints] == ["wrong"]
    m.retract()
    m.add(v["x"] < 2)
    assert m.solve(backend=backend).conflict is None
    assert len(m.explain().constraints) == 2
