"""Kernel Tuner's `util` and `file_utils`: results as there."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kerneltune.errors import InputError
from kerneltune.kernel_tuner import file_utils, util
from kerneltune.tuning.recorded import read_recording

ROWS: list[dict[str, Any]] = [
    {"x": 1, "time": 2.0, "energy": 1.0, "times": [2.0], "compile_time": 3.0, "timestamp": "2026-01-01"},
    {"x": 2, "time": 1.0, "energy": 3.0, "times": [1.0], "compile_time": 3.0, "timestamp": "2026-01-01"},
    {"x": 3, "time": 2.5, "energy": 3.5, "times": [2.5], "compile_time": 3.0, "timestamp": "2026-01-01"},
    {"x": 4, "time": "wrong result: far", "__error__": "wrong result: far", "times": []},
    {"x": 5, "time": "NVRTC refused the kernel", "__error__": "NVRTC refused the kernel", "times": []},
]


def theirs(name: str) -> Any:
    return pytest.importorskip(f"kernel_tuner.{name}")


def test_util_gives_what_kernel_tuner_gives() -> None:
    passed = ROWS[:3]
    other = theirs("util")
    assert util.get_best_config(passed, "time") == other.get_best_config(passed, "time")
    assert util.get_best_config(ROWS, "energy", True)["x"] == 3
    row = {"x": 3, "time": 1.23456, "name": "a"}
    assert util.get_config_string(row) == other.get_config_string(row)
    assert util.get_config_string(row, ["time"], {"time": "ms"}) == "time=1.235ms"
    assert util.get_instance_string(row) == other.get_instance_string(row)
    assert util.get_objective_defaults(None, None) == other.get_objective_defaults(None, None)
    assert json.loads(json.dumps({"a": np.arange(2), "b": np.float32(0.5)}, cls=util.NpEncoder)) == {
        "a": [0, 1],
        "b": 0.5,
    }
    with pytest.raises(TypeError):
        json.dumps({"a": object()}, cls=util.NpEncoder)
    for name in ("ErrorConfig", "InvalidConfig", "CompilationFailedConfig", "RuntimeFailedConfig"):
        assert issubclass(getattr(util, name), str)
        assert issubclass(getattr(other, name), str)


def test_the_front_is_marked() -> None:
    rows = [dict(row) for row in ROWS]
    front = util.get_pareto_results(rows, ["time", "energy"], [False, False])
    assert [row["x"] for row in front] == [1, 2]
    assert [row["x"] for row in rows if row.get("optimal")] == [1, 2]
    assert [row["x"] for row in util.get_pareto_results(rows, ["time", "energy"], [False, True], False)] == [
        2,
        3,
    ]


def test_without_a_number_there_is_no_best() -> None:
    with pytest.raises(InputError, match="none of the 2 results has a number for 'time'"):
        util.get_best_config(ROWS[3:], "time")
    with pytest.raises(ValueError, match="give objective_higher_is_better for the objective 'rate'"):
        util.get_objective_defaults("rate", None)


def test_t4_files_fit_kernel_tuners_schema_and_are_read_again(tmp_path: Path) -> None:
    rows = [{**dict.fromkeys(("benchmark_time", "framework_time"), 0.5), **row} for row in ROWS]
    file_utils.store_output_file(tmp_path / "deep" / "results", rows, {"x": [1, 2, 3, 4, 5]})
    path = tmp_path / "deep" / "results.json"
    data = json.loads(path.read_text())
    assert [one["invalidity"] for one in data["results"]] == ["correct"] * 3 + ["correctness", "compile"]
    recording = read_recording(path)
    assert recording.best().configuration == {"x": 2}
    file_utils.store_metadata_file(tmp_path / "metadata.json")
    metadata = json.loads((tmp_path / "metadata.json").read_text())
    assert any(one.startswith("numpy==") for one in metadata["metadata"]["environment"]["requirements"])
    jsonschema = pytest.importorskip("jsonschema")
    folder = Path(theirs("interface").__file__).parent / "schema" / "T4" / file_utils.T4_VERSION
    for name, found in (("results", data), ("metadata", metadata)):
        jsonschema.validate(found, json.loads((folder / f"{name}-schema.json").read_text()))


def test_files_that_cannot_be_are_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"cannot be written: (Not a directory|File exists)"):
        file_utils.store_output_file(tmp_path / "file" / "a", ROWS, {"x": [1]})
    with pytest.raises(ValueError, match="T4 has one objective"):
        file_utils.get_t4_results(ROWS, {"x": [1]}, ["time", "energy"])  # type: ignore[arg-type]
    path = tmp_path / "t1.json"
    for text, said in (
        ("{", "is no JSON"),
        ("[]", "is no T1 file"),
        ("{}", "there is no ConfigurationSpace"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=said):
            file_utils.get_input_file(path)
    assert file_utils.get_input_file(path, validate=False) == {}
    with pytest.raises(InputError, match=r"none\.json"):
        file_utils.get_input_file(tmp_path / "none.json")


@pytest.mark.parametrize("name", ["util", "file_utils", "accuracy", "observers", "observers.nvml"])
def test_modules_have_kernel_tuners_names(name: str) -> None:
    ours, other = importlib.import_module(f"kerneltune.kernel_tuner.{name}"), theirs(name)
    own = {
        one
        for one, value in vars(ours).items()
        if callable(value) and not one.startswith("_") and getattr(value, "__module__", "") == ours.__name__
    }
    added = {
        "util": {"passed"},
        "file_utils": set(),
        "accuracy": {"dtype_named"},
        "observers": set(),
        "observers.nvml": set(),
    }[name]
    assert added <= own
    missing = own - added - set(vars(other))
    assert missing <= {"PrologueObserver", "OutputObserver"}  # of its module `observers.observer`
