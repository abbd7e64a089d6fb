"""The examples of docs/constrint-answers.md print what they say."""

from __future__ import annotations

import doctest
from pathlib import Path

REFERENCE = Path(__file__).parents[2] / "docs" / "constrint-answers.md"


def test_the_examples_of_the_manual():
    flags = doctest.IGNORE_EXCEPTION_DETAIL
    result = doctest.testfile(str(REFERENCE), module_relative=False, optionflags=flags)
    assert result.attempted > 30
    assert result.failed == 0
