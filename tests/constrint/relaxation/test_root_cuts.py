"""Rounds of cuts: when they are made in machine code, and when they end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rounded_models import lots, network

from constrint.engine import background_compile, cache
from constrint.modelling.objectives import as_goals
from constrint.preparing.prepared import Prepared
from constrint.relaxation.lp_rows import Relaxation, relaxed
from constrint.relaxation.root_cuts import RootCuts
from constrint.support.deadline import Deadline


def relaxation_of(kind: Any, seed: int) -> tuple[Relaxation, int]:
    m, cost = kind(seed)
    prepared = Prepared(m, as_goals([(cost, "min")]), ())
    assert prepared.root is not None
    relaxation = relaxed(prepared.root)
    assert relaxation is not None
    (column,) = relaxation.columns.of(prepared.goals[0][0]).terms
    return relaxation, column


def fractional(relaxation: Relaxation) -> np.ndarray:
    return np.full(len(relaxation.columns.variable), 0.4)


def test_a_round_needs_a_better_value_than_the_one_before() -> None:
    relaxation, cost = relaxation_of(network, 3)
    cuts = RootCuts(relaxation, cost, 1, None)
    point = fractional(relaxation)
    assert cuts.next_round(point)
    worked = cuts.work
    assert worked >= 0
    assert not cuts.next_round(point)  # its value is the same
    point[cost] += 5
    assert not cuts.next_round(point)  # that was the end


def test_a_whole_point_needs_no_cuts() -> None:
    relaxation, cost = relaxation_of(lots, 1)
    cuts = RootCuts(relaxation, cost, 1, None)
    assert not cuts.next_round(np.zeros(len(relaxation.columns.variable)))
    assert cuts.work == 0


@pytest.mark.parametrize(
    ("seconds", "there", "can", "compiled"),
    [
        (None, True, True, True),
        (None, False, False, True),  # this process compiles it
        (0.5, True, True, True),
        (0.5, False, True, False),  # too near to wait
        (1000.0, False, True, True),
        (1000.0, False, False, False),  # no other process can compile
    ],
)
def test_machine_code_is_waited_for_where_there_is_time(
    seconds: float | None,
    there: bool,
    can: bool,
    compiled: bool,
    monkeypatch: pytest.MonkeyPatch,
    filled: None,
) -> None:
    monkeypatch.setattr(cache, "is_loaded", lambda part: there)
    monkeypatch.setattr(cache, "is_filled", lambda part: there)
    monkeypatch.setattr(background_compile, "begin", lambda part: can)
    monkeypatch.setattr(background_compile, "obtain", lambda part, load, until: load())
    relaxation, cost = relaxation_of(lots, 1)
    cuts = RootCuts(relaxation, cost, 1, Deadline(seconds))
    cuts.next_round(fractional(relaxation))
    rounding = cuts._rounding
    assert rounding is not None
    assert (rounding._session is not None) == compiled


def test_an_interpreted_search_stays_interpreted() -> None:
    relaxation, cost = relaxation_of(lots, 1)
    cuts = RootCuts(relaxation, cost, 1, None)
    cuts.next_round(fractional(relaxation))
    assert cuts._rounding is not None
    assert cuts._rounding._session is None
