"""Helpers for CPMpy's test files that its source archive lacks.

Used by `foreign_plugin.py`: the fixture `solver`, the marker `generate_constraints`, and a module `utils`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest


def _asserted(condition: Callable[[], Any]) -> Callable[[], None]:
    def check() -> None:
        assert condition()

    return check


def install_helpers() -> None:
    """The module `utils`: a decorator that changes nothing, a range with its end, an assertion to call."""
    utils: Any = ModuleType("utils")
    utils.skip_on_missing_pblib = lambda **_: lambda test: test
    utils.inclusive_range = lambda low, high: range(low, high + 1)
    utils.lambda_assert = _asserted
    sys.modules["utils"] = utils


@pytest.fixture
def solver() -> str:
    """The name of the tested solver."""
    return os.environ["FOREIGN_SOLVER"]


def pytest_generate_tests(metafunc: Any) -> None:
    """One test for each constraint that a marked test's generator gives for the solver."""
    for marker in metafunc.definition.iter_markers("generate_constraints"):
        found = list(marker.args[0](os.environ["FOREIGN_SOLVER"]))
        metafunc.parametrize("constraint", found, ids=[f"{i} {str(one)[:60]}" for i, one in enumerate(found)])


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Skip tests that ask for other solvers by name."""
    for item in items:
        for marker in item.iter_markers("requires_solver"):
            if os.environ["FOREIGN_SOLVER"] not in marker.args:
                item.add_marker(pytest.mark.skip(reason="for another solver"))
