"""Cells of `scalar` by name: an index of another state is a type error; machine code sees plain numbers."""

from __future__ import annotations

import ast
import inspect
import re

import pytest

from constrint.learning import layout as learning
from constrint.local_search import layout as jumps
from constrint.store import state as engine

LAYOUTS = [engine, learning, jumps]

MIXED = """
from constrint.learning import layout
from constrint.learning.layout import Learner
from constrint.local_search.layout import WORK, Jumps
from constrint.store.state import AT_LEAST, GOAL, HEAD, State

def right(state: State, learner: Learner, jumps: Jumps) -> int:
    state.scalar[HEAD + 1] = jumps.scalar[WORK]
    return state.scalar[GOAL] + learner.scalar[layout.GOAL]

def wrong(state: State, learner: Learner, jumps: Jumps) -> None:
    state.scalar[layout.GOAL] = 1
    learner.scalar[GOAL] = 1
    jumps.scalar[GOAL] = 1
    state.scalar[AT_LEAST] = 1
    learner.scalar[HEAD + 1] = 1
"""


@pytest.mark.slow  # mypy reads the package
def test_a_wrong_import_is_a_type_error() -> None:
    api = pytest.importorskip("mypy.api")
    options = ["--config-file=", "--strict", "--no-error-summary", "--follow-imports=silent"]
    said, problems, _ = api.run([*options, "-c", MIXED])
    assert not problems
    first = MIXED.splitlines().index("def wrong(state: State, learner: Learner, jumps: Jumps) -> None:") + 2
    lines = [int(line) for line in re.findall(r"^<string>:(\d+): error: ", said, re.MULTILINE)]
    assert lines == [*range(first, first + 5)], said


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.__name__)
def test_names_are_plain_numbers_without_gaps(layout: object) -> None:
    tree = ast.parse(inspect.getsource(layout))  # type: ignore[arg-type]  # a module
    named = [
        name.id
        for node in tree.body
        if isinstance(node, ast.Assign) and "Scalar" in ast.unparse(node.value)
        for target in node.targets
        for name in ast.walk(target)
        if isinstance(name, ast.Name)
    ]
    assert "StateScalar" not in named
    values = [getattr(layout, name) for name in named if not name.endswith("Scalar")]
    assert all(type(value) is int for value in values)
    assert len(values) == len(set(values)) > 10
    assert max(values) == layout.SCALARS - 1  # type: ignore[attr-defined]  # each layout has it
