"""JSON texts within limits: nesting of any depth is refused at its bracket, never parsed beyond the stack."""

from __future__ import annotations

import pytest

from constrint.errors import ModelError, ParseError
from constrint.support.json_text import MOST_LEVELS, read_json
from constrint.support.limits import Budget, LimitExceeded, Limits


@pytest.mark.parametrize("limit", [1, 3, 500, 100_000, None])
@pytest.mark.parametrize("levels", [1, 4])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_nesting(limit: int, levels: int, opening: str, closing: str) -> None:
    most = MOST_LEVELS if limit is None else min(MOST_LEVELS, levels * limit)
    budget = Budget(Limits(depth=limit))
    for depth in (1, most):
        assert read_json(opening * depth + "1" + closing * depth, "t", budget, levels=levels)
    for depth in (most + 1, 200_000):
        with pytest.raises(LimitExceeded) as caught:
            read_json("\n" + opening * depth + "1" + closing * depth, "t", budget, levels=levels)
        assert caught.value.where == f"t:2:{len(opening) * most + 1}"


def test_brackets_in_strings_do_not_nest() -> None:
    text = r'["[[[[", "\"[[[", "\\", "]]"]'
    assert read_json(text, "t", Budget(Limits(depth=1))) == ["[[[[", '"[[[', "\\", "]]"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1, "b": 2, "a": 3}', "t: the name 'a' occurs twice in one object"),
        ('["\\ud800"]', "t: a string has a lone surrogate"),
    ],
)
def test_documents_that_are_refused(text: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        read_json(text, "t", Budget())


@pytest.mark.parametrize("text", ["", "[1,", "[\n1 2]", "{1: 2}", '"', "]"])
def test_what_is_not_json_is_placed(text: str) -> None:
    with pytest.raises(ParseError, match=r"t:\d+:\d+: this is not JSON"):
        read_json(text, "t", Budget())


def test_numbers() -> None:
    assert read_json("[1.5, 2]", "t", Budget()) == [1.5, 2]
    with pytest.raises(LimitExceeded, match="t:2:2"):
        read_json("[7,\n 12345]", "t", Budget(Limits(digits=4)))
