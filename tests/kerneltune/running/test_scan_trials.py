"""Trials of scans without a GPU: one reference for a request, handed over by files; stores and fits."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from made import FAKE_KERNELS, timed
from scan_child import right_results

from kerneltune.cli.main import app
from kerneltune.errors import InputError
from kerneltune.inputs.descriptions import discover
from kerneltune.inputs.hardware import load_profile
from kerneltune.inputs.problem import Problem
from kerneltune.inputs.request import request_from_json
from kerneltune.inputs.scan_descriptions import discover_scans, linear_cells
from kerneltune.inputs.scan_problem import ScanProblem
from kerneltune.measuring.measure import tiling_plan
from kerneltune.pipeline.tilings import CompiledTiling, run_tilings
from kerneltune.running import scan_arrays
from kerneltune.running.case_files import load_case
from kerneltune.running.case_maker import case_bytes, make_case
from kerneltune.running.scan_case import ScanCase, random_scan
from kerneltune.tiling.candidate import Candidate
from kerneltune.tiling.space import TilingSpace
from kerneltune.tuning.memory import row_of
from kerneltune.tuning.store import Store

KERNELS, SCANS = discover(), discover_scans()
CHILD = (sys.executable, str(FAKE_KERNELS.with_name("scan_child.py")))
PASSES = ("forward", "backward")


def problem_of(cell: str, direction: str, *, options: bool = True, dtype: str = "bf16") -> ScanProblem:
    return ScanProblem(cell, 3, 20, 8, dtype, direction, options, options, options)


def candidates_of(problem: ScanProblem, count: int = 1) -> list[Candidate]:
    return TilingSpace(problem, load_profile("h100_sxm"), SCANS).candidates(count)


@pytest.mark.parametrize("options", [False, True])
@pytest.mark.parametrize(("cell", "direction"), list(product(sorted(linear_cells()), PASSES)))
def test_files_are_what_memory_is(cell: str, direction: str, options: bool, tmp_path: Path) -> None:
    problem = problem_of(cell, direction, options=options)
    make_case(problem, KERNELS, 7, tmp_path)
    found, expected = load_case(tmp_path, KERNELS), random_scan(problem, SCANS.cell(cell), 7)
    assert isinstance(found, ScanCase)
    for mine, other in ((found.inputs, expected.inputs), (found.expected, expected.expected)):
        assert mine.keys() == other.keys()
        for name, array in mine.items():
            np.testing.assert_array_equal(array, other[name])
    size = sum(path.stat().st_size - 128 for path in tmp_path.glob("*.npy"))
    assert case_bytes(problem, KERNELS) == size


@pytest.mark.parametrize("whole", [1, 1 << 22])
@pytest.mark.parametrize(("cell", "direction"), list(product(sorted(linear_cells()), PASSES)))
def test_a_perfect_scan_is_right_and_any_wrong_output_is_seen(cell: str, direction: str, whole: int) -> None:
    """Also where a sample is compared: what is not in it must still be written."""
    part = scan_arrays.ComparedPart(whole=whole, channels=4, at_a_time=200)
    case = random_scan(problem_of(cell, direction), SCANS.cell(cell), 7, part)
    results = right_results(case)
    assert {name: (a.shape, a.dtype) for name, a in results.items()} == {
        name: (output.shape, output.dtype) for name, output in case.outputs.items()
    }
    assert case.judge(results).right
    for name, array in results.items():
        hole = {**results, name: array.copy()}
        hole[name].reshape(-1)[-1] = np.nan if name == "final_state" else 0xFFFF
        assert case.judge(hole).unwritten == 1, name
        assert not case.judge({**results, name: np.roll(array, 1, axis=-1)}).right, name


def test_trials_of_a_request_share_one_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    fill = scan_arrays.fill
    monkeypatch.setattr(scan_arrays, "fill", lambda *about: made.append(about[0]) or fill(*about))  # type: ignore[func-returns-value]
    forward, backward = problem_of("mingru", "forward"), problem_of("linear", "backward")
    cubins = [b"right", b"wrong", b"hole", b"right"]
    tilings = [CompiledTiling(candidates_of(forward)[0], cubin, False, 1) for cubin in cubins]
    tilings.append(CompiledTiling(candidates_of(backward)[0], b"right", False, 1))
    trials = list(run_tilings(tilings, KERNELS.root, tiling_plan(2, 3), child=CHILD))
    assert made == [forward, backward]
    assert [trial.passed for trial in trials] == [True, False, False, True, True]
    assert trials[2].failure == "wrong result: 1 values were left unwritten or are NaN"
    assert trials[0].ratio == pytest.approx(0.5e3 * 1980 / trials[0].candidate.cycles, rel=1e-2)


@pytest.mark.parametrize(
    "changes",
    [
        {"steps": "20"},
        {"steps": True},
        {"steps": 0},
        {"family": "scam"},
        {"family": 1},
        {"reverse": 1},
        {"dtype": "tf32"},
        {"alignment": 1 << 70},
        {"heads": 4},
        {"channels": None},
    ],
)
def test_a_scan_of_json_is_checked(changes: dict[str, object]) -> None:
    data = asdict(problem_of("linear", "forward"))
    assert request_from_json(data) == problem_of("linear", "forward")
    with pytest.raises((ValueError, InputError)):
        request_from_json({**data, **changes})
    with pytest.raises(ValueError, match="batch is missing"):
        request_from_json({name: value for name, value in data.items() if name != "batch"})


def test_dtypes_have_the_names_that_layers_have() -> None:
    assert ScanProblem("linear", 1, 1, 1, "torch.float16") == ScanProblem("linear", 1, 1, 1, "fp16")


def stored(path: Path) -> list[Candidate]:
    """A store with trials of a scan and of a layer."""
    layer = TilingSpace(Problem("lstm", 4, 64, 8, "bf16"), load_profile("h100_sxm"), KERNELS).best()
    scans = candidates_of(ScanProblem("linear", 8, 4096, 512, "bf16"), 6)
    store = Store(path)
    for number, candidate in enumerate([layer, *scans]):
        spent = candidate.microseconds_per_step * candidate.problem.steps / 1e3 * (1.5 + number / 100)
        store.add(str(number), row_of(timed(candidate, spent), "content"))
    store.close()
    return scans


def test_a_store_keeps_scans_beside_layers(tmp_path: Path) -> None:
    path = tmp_path / "trials.sqlite"
    scans = stored(path)
    found = Store(path).tilings(problem=scans[0].problem)
    assert [stored.trial.candidate for stored in found] == scans
    said = CliRunner().invoke(app, ["report", "--store", str(path), "--json"])
    assert said.exit_code == 0
    assert [entry["problem"]["cell"] for entry in json.loads(said.stdout)["problems"]] == ["lstm", "linear"]


@pytest.mark.parametrize("cell", ["linear", "lstm"])
def test_costs_are_fitted_to_scans_as_to_layers(cell: str, tmp_path: Path) -> None:
    stored(tmp_path / "trials.sqlite")
    words = ["fit", "--gpu", "h100_sxm", "--store", str(tmp_path / "trials.sqlite"), "--cell", cell, "--json"]
    said = CliRunner().invoke(app, words)
    assert said.exit_code == 0, said.output
    moved = [one for one in json.loads(said.stdout)["constants"] if one["tilings"]]
    assert moved
    assert all(one["name"].startswith("scan") for one in moved) == (cell == "linear")
