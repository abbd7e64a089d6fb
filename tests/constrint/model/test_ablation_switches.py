"""The switches of the ablation name places that the code has."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

SOLVER = Path(__file__).parents[3] / "benchmarks" / "solver"


@pytest.fixture
def switches(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(str(SOLVER))
    import ablation_switches

    yield ablation_switches
    sys.modules.pop("ablation_switches", None)


def test_every_switch_names_a_place(switches: ModuleType) -> None:
    assert len(switches.SWITCHES) > 50
    for switch in switches.SWITCHES.values():
        for place in switch.places:
            target, name = switches.found(place)
            assert hasattr(target, name), place
