"""Settings: immutable records with defaults, which models hand to all that is asked of them."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from constrint import Model
from constrint.preparing.prepared import Prepared
from constrint.settings import DEFAULT, PresolveSettings, Settings, using


def test_fields_have_defaults_and_do_not_change() -> None:
    rules = PresolveSettings(rounds=1)
    assert (rules.rounds, rules.wide) == (1, DEFAULT.presolve.wide)
    assert DEFAULT.presolve.rounds > 1
    with pytest.raises(AttributeError, match="immutable"):
        rules.rounds = 2  # type: ignore[misc]  # that is what it refuses
    with pytest.raises(TypeError, match="PresolveSettings has no field 'round'"):
        PresolveSettings(round=1)  # type: ignore[call-arg]  # likewise
    with pytest.raises(TypeError, match="Settings has no field 'presolved'"):
        DEFAULT.changed(presolved=1)


def test_records_are_equal_by_their_fields() -> None:
    changed = DEFAULT.with_fields(presolve={"rounds": 1})
    assert changed == Settings(presolve=PresolveSettings(rounds=1)) != DEFAULT
    assert changed.with_fields(presolve={"rounds": DEFAULT.presolve.rounds}) == DEFAULT
    assert len({changed, DEFAULT, Settings()}) == 2
    assert repr(changed) == "Settings(presolve=PresolveSettings(rounds=1))"


def _pickled(one: Settings) -> Settings:
    again: Settings = pickle.loads(pickle.dumps(one))  # noqa: S301 - its own bytes
    return again


@pytest.mark.parametrize("again", [copy.deepcopy, _pickled])
def test_records_are_copied(again: Callable[..., Any]) -> None:
    changed = DEFAULT.with_fields(presolve={"rounds": 1})
    assert again(changed) == changed


def test_models_hand_their_settings_on() -> None:
    m = Model()
    x = m.int_var("x", 0, 9)
    m.add(x > 3)
    assert m.settings is DEFAULT
    m.settings = DEFAULT.with_fields(presolve={"rounds": 1})
    root = Prepared(m.copy(), [], []).root
    assert root is not None
    assert root.settings is m.settings


def test_new_models_have_those_in_use() -> None:
    changed = DEFAULT.with_fields(presolve={"rounds": 1})
    with using(changed):
        assert Model().settings is Model.from_text("x in 1..3").settings is changed
        with using(DEFAULT):
            assert Model().settings is DEFAULT
    assert Model().settings is DEFAULT
