"""The set of instances of real size: what is drawn is what the models take, and is the same each time."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from constrint.cli.flatzinc import description
from constrint.frontends.flatzinc import read_flatzinc
from constrint.model import Model
from constrint.modelling.result import Status

MINIZINC = Path(__file__).parents[3] / "benchmarks" / "minizinc"
IMPORTED = ("large_kinds", "large_run", "drawn_data", "families", "drawn")


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.setattr(sys, "path", [str(MINIZINC / "large"), *sys.path])
    yield import_module("large_run")
    for name in IMPORTED:
        sys.modules.pop(name, None)


def test_half_of_the_kinds_is_never_steered_by(large: ModuleType) -> None:
    steered = sum(kind.is_steered_by for kind in large.KINDS.values())
    assert 2 * steered == len(large.KINDS)
    for kind in large.KINDS.values():
        assert kind.model.is_file()


def test_sizes_grow_and_draw_the_same_data(large: ModuleType) -> None:
    for name in large.KINDS:
        texts = [large.text(large.drawn(name, size)) for size in (0, *large.SIZES)]
        assert texts == [large.text(large.drawn(name, size)) for size in (0, *large.SIZES)]
        if name != "golfers":  # of which only counts are given
            assert sorted(texts, key=len) == texts, name


def test_the_primal_integral_weighs_gaps_by_time(large: ModuleType) -> None:
    assert large.integral([], 5, 10.0) == 1.0
    assert large.integral([(2.0, 10), (6.0, 5)], 5, 10.0) == pytest.approx(0.2 + 0.5 * 0.4)
    assert large.integral([(4.0, None)], None, 10.0) == pytest.approx(0.4)


@pytest.mark.skipif(shutil.which("minizinc") is None, reason="MiniZinc is not installed")
@pytest.mark.parametrize("part", range(4))
def test_small_instances_are_solved(large: ModuleType, tmp_path: Path, part: int) -> None:
    (tmp_path / "constrint.msc").write_text(json.dumps(description()), encoding="utf-8")
    for name in list(large.KINDS)[part::4]:
        file = large.flattened(name, 0, "constrint", tmp_path)
        assert isinstance(file, Path), file
        flat = read_flatzinc(file.read_text(encoding="utf-8"))
        result = Model.of(flat.model).solve(time_limit=30)
        assert result.status is (Status.INFEASIBLE if name == "assignments" else Status.OPTIMAL), name
