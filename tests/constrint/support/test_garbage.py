"""The garbage collector is held off while a reader works, and comes back after it."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from typing import Any

import pytest

from constrint import Model, ParseError
from constrint.frontends.flatzinc import read_flatzinc
from constrint.support.garbage import rarely_collected, uncollected

JSON = Model.from_text("x in 0..9\nx >= 3").to_json()
READERS: dict[Any, Callable[..., Any]] = {
    "text": lambda: Model.from_text("x in 0..9\nx >= 3"),
    "flashrnn": lambda: Model.from_text("x <= 3", dialect="flashrnn"),
    "json": lambda: Model.from_json(JSON),
    "flatzinc": lambda: read_flatzinc("var 0..9: x;\nsolve satisfy;\n"),
    "mistake": lambda: refused("x in"),
}


def refused(text: str) -> None:
    with pytest.raises(ParseError):
        Model.from_text(text)


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Whether the collector was on, at each look of a reader."""
    found: list[bool] = []
    monkeypatch.setattr(
        "constrint.support.limits.Budget.count_steps", lambda *_: found.append(gc.isenabled())
    )
    return found


@pytest.mark.parametrize("name", READERS)
def test_readers_are_not_interrupted(seen: list[object], name: Any) -> None:
    assert gc.isenabled()
    READERS[name]()
    assert gc.isenabled()
    assert not any(seen)
    assert seen or name in ("flashrnn", "mistake")


def test_it_stays_off_where_the_caller_turned_it_off() -> None:
    gc.disable()
    try:
        READERS["text"]()
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_it_comes_back_when_the_last_of_several_threads_ends() -> None:
    first_is_in, second_is_out = threading.Event(), threading.Event()
    states = []

    def first() -> None:
        with uncollected():
            first_is_in.set()
            second_is_out.wait(10)
            states.append(gc.isenabled())

    thread = threading.Thread(target=first)
    thread.start()
    first_is_in.wait(10)
    with uncollected(), uncollected():
        pass
    second_is_out.set()
    thread.join()
    assert states == [False]
    assert gc.isenabled()


def test_thresholds_are_raised_while_a_model_is_built_and_come_back() -> None:
    before = gc.get_threshold()
    with rarely_collected():
        assert gc.get_threshold()[0] > before[0]
        with rarely_collected():
            pass
        assert gc.get_threshold()[0] > before[0]
    assert gc.get_threshold() == before


@pytest.mark.parametrize("own", [(0, 10, 10), (10**6, 5, 5)])
def test_thresholds_of_the_caller_that_are_rarer_stay(own: tuple[int, int, int]) -> None:
    before = gc.get_threshold()
    gc.set_threshold(*own)
    try:
        with rarely_collected():
            assert gc.get_threshold() == own
        assert gc.get_threshold() == own
    finally:
        gc.set_threshold(*before)


def test_thresholds_that_are_set_meanwhile_stay() -> None:
    before = gc.get_threshold()
    try:
        with rarely_collected():
            gc.set_threshold(123, 4, 5)
        assert gc.get_threshold() == (123, 4, 5)
    finally:
        gc.set_threshold(*before)
