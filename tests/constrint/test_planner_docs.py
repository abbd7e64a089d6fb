"""The examples of docs/constrint-planner.md and docs/constrint-spaces.md print what they say."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", ["constrint-planner.md", "constrint-spaces.md"])
def test_the_examples_of_the_manual(name):
    result = doctest.testfile(str(DOCS / name), module_relative=False)
    assert result.attempted > 8
    assert result.failed == 0
