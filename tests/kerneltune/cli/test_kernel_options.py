"""Objectives, metrics, models and features of a folder and of the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from kerneltune.cli.main import app, with_folders

KERNEL = "def work(x, y):\n    return x\n"
FUNCTIONS = """
def heat(configuration, objectives):
    return 10.0 - configuration["x"]


def weight(configuration, objectives):
    return configuration["x"] + configuration["y"]


def model(configuration):
    return 1.0 + abs(configuration["x"] - 3)


def features(configuration):
    return {"apart": abs(configuration["x"] - 3)}
"""
YAML = """
name: work
entry: work
tune_params: {x: [0, 1, 2, 3, 4], y: [0, 1]}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "work"
    place.mkdir()
    (place / "kernel.py").write_text(KERNEL)
    (place / "functions.py").write_text(FUNCTIONS)
    (place / "kernel.yaml").write_text(YAML)
    return place


def ask(folder: Path, *options: str) -> Any:
    words = ["tune", str(folder), "--json", "--timed", "2", "--store", str(folder / "s.sqlite"), *options]
    return CliRunner().invoke(app, with_folders(words))


def test_metrics_of_the_command_line_are_objectives(folder: Path) -> None:
    heat = f"heat={folder / 'functions.py'}:heat"
    weight = f"weight={folder / 'functions.py'}:weight"
    done = ask(folder, "--metric", heat, "--objective", "heat", "--strategy", "exhaustive")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["trials"][0]["configuration"]["x"] == 4
    pytest.importorskip("optuna")
    done = ask(folder, "--metric", heat, "--metric", weight, "--objective", "heat,weight")
    assert done.exit_code == 0, done.output
    front = json.loads(done.stdout)["front"]
    assert sorted(one["x"] for one in front) == [0, 1, 2, 3, 4]
    assert all(one["y"] == 0 for one in front)


def test_a_folder_names_its_functions(folder: Path) -> None:
    yaml = folder / "kernel.yaml"
    yaml.write_text(YAML + "metrics: {heat: functions.py}\nmodel: functions.py\nfeatures: functions.py\n")
    done = ask(folder, "--strategy", "model", "--objective", "heat")
    assert done.exit_code == 0, done.output
    trials = json.loads(done.stdout)["trials"]
    assert {(t["configuration"]["x"], t["predicted"]) for t in trials} == {
        (x, 1.0 + abs(x - 3)) for x in range(5)
    }


def test_the_model_of_the_command_line_counts(folder: Path) -> None:
    model = f"{folder / 'functions.py'}:model"
    done = ask(folder, "--model", model, "--strategy", "model", "--evaluations", "2")
    assert done.exit_code == 0, done.output
    assert {t["configuration"]["x"] for t in json.loads(done.stdout)["trials"]} == {3}


def test_spaces_go_to_t1_and_come_back(folder: Path, tmp_path: Path) -> None:
    (folder / "kernel.yaml").write_text(YAML + "restrictions: [x + y <= 4]\n")
    path = folder / "space.json"
    done = CliRunner().invoke(app, ["space", str(folder), "--to-t1", str(path)])
    assert done.exit_code == 0, done.output
    assert "work: 9 configurations of x, y" in done.output
    assert "ConfigurationSpace" in json.loads(path.read_text())
    (folder / "kernel.yaml").write_text("name: work\nentry: work\nconstraints: space.json\n")
    done = CliRunner().invoke(app, ["space", str(folder)])
    assert "work: 9 configurations of x, y" in done.output
    path.write_text("{}")
    done = CliRunner().invoke(app, ["space", str(folder)])
    assert done.exit_code == 2
    assert "neither 'tune_params' nor T1's" in done.output


def test_a_constraint_file_is_no_t1(tmp_path: Path) -> None:
    folder = Path(__file__).resolve().parents[3] / "examples" / "tuning" / "matmul"
    words = ["space", str(folder), "--gpu", "h100_sxm", "--to-t1", str(tmp_path / "t1.json")]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 2
    assert "T1 has no constraint files" in done.output


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--metric", "heat"), "expected NAME=FILE.py:FUNCTION"),
        (("--metric", "heat=none.py:heat"), "there is no file none.py"),
        (("--model", "none"), "names no function"),
        (("--objective", "time,"), "names none"),
    ],
)
def test_what_is_wrong_is_said(folder: Path, options: tuple[str, ...], said: str) -> None:
    done = ask(folder, *options)
    assert done.exit_code == 2
    assert said in done.output
