"""Messages between a run and its children: they arrive as they were, and anything else is an error."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest

from kerneltune.messages import (
    Answer,
    BadMessageError,
    Built,
    Facts,
    Failed,
    Order,
    Request,
    Timing,
    decoded,
    encoded,
    required,
)
from kerneltune.running.children import Child

ORDER = Order(kind="callable", configuration={"n": 2**70, "x": math.inf, "y": True, "z": "é"}, timer="m:f")


def test_messages_arrive_as_they_were() -> None:
    request = Request(trial=3, order=ORDER, built=Built(cubin=b"\0\xff", lowered=("f",)), best=1.0)
    assert required(encoded(request).decode(), Request) == request
    assert decoded(encoded(Failed(failure="no", died=True)), Answer) == Failed(failure="no", died=True)
    numbers = Order(kind="callable", configuration={"x": np.float64(0.5)})
    assert required(encoded(numbers).decode(), Order).configuration == {"x": 0.5}


def test_an_answer_has_finite_numbers() -> None:
    answer = Answer(timing=Timing(1.0, 1.0, 0.0, 7), objectives={"rate": math.nan})
    with pytest.raises(ValueError, match="not JSON compliant"):
        encoded(answer, finite=True)


GOOD = encoded(Answer(trial=0, timing=Timing(1.0, 1.0, 0.0, 7)))
BAD = {
    b"{}\n": "missing required field `message`",
    b"[]\n": "Expected `object`, got `array`",
    b"\xff\n": "can't decode byte",
    b"\xef\xbb\xbf" + GOOD: "BOM",
    b"[" * 100_000 + b"\n": "recursion",
    GOOD[:-1]: "cut off",
    GOOD[:40] + b"\n": "line 1 column",
    GOOD.replace(b'"median": 1.0', b'"median": "1"'): r"\$.timing.median",
    GOOD.replace(b'"seconds"', b'"hours"'): "unknown field `hours`",
    encoded(Facts(device="x")): r"\$.message",
    b'{"message": "Failed", "failure": 3}\n': r"\$.failure",
}


@pytest.mark.parametrize("line", BAD)
def test_what_is_no_message_names_the_field(line: bytes) -> None:
    with pytest.raises(BadMessageError, match=BAD[line]):
        decoded(line, Answer)


@pytest.mark.parametrize(
    ("line", "said"),
    [(GOOD, "it answers request 0, not 5"), (b'{"message": "Answer"}\n', "missing required field `timing`")],
)
def test_a_child_that_answers_something_else_is_lost(line: bytes, said: str) -> None:
    child = Child((sys.executable, "-c", f"input(); print({line.decode().strip()!r}, flush=True); input()"))
    answer = child.ask(Request(trial=5, order=ORDER), Answer, 60)
    assert isinstance(answer, Failed)
    assert answer.died
    assert "no answer that can be used: " in answer.failure
    assert said in answer.failure
    assert not child.is_running
