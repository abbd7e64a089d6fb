"""The examples of docs/constrint-planner.md print what they say."""

from __future__ import annotations

import doctest
from pathlib import Path

REFERENCE = Path(__file__).parents[2] / "docs" / "constrint-planner.md"


def test_the_examples_of_the_manual():
    result = doctest.testfile(str(REFERENCE), module_relative=False)
    assert result.attempted > 12
    assert result.failed == 0
