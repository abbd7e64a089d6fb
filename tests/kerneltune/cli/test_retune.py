"""`kerneltune retune STORE`: what other devices know is tuned here, the best first."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from kerneltune.cli.main import app, with_folders
from kerneltune.pipeline.trial import Trial
from kerneltune.tuning.memory import KernelMemory
from kerneltune.tuning.retune import known_kernels
from kerneltune.tuning.store import Store

YAML = """name: waiting
kind: callable
source: kernel.py
entry: waiting
sizes: {n: 3}
tune_params: {step: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], unroll: [1, 2, 3, 4, 5, 6, 7, 8]}
"""
SOURCE = """
import time

def waiting(step, unroll):
    time.sleep(0.002 * (1 + abs(step - 7) + abs(unroll - 2)))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "waiting"
    found.mkdir()
    (found / "kernel.yaml").write_text(YAML)
    (found / "kernel.py").write_text(SOURCE)
    return found


@pytest.fixture
def store(tmp_path: Path, folder: Path) -> Path:
    """Results of another device at two sizes."""
    path = tmp_path / "s"
    with closing(Store(path)) as opened:
        for n in (3, 5):
            memory = KernelMemory(opened, "waiting", f"id {n}", "another", {"n": n})
            for step in range(10):
                memory.add(Trial({"step": step, "unroll": 2}, {"time": 1.0 + abs(step - 7)}))
    return path


def answered(*words: str | Path) -> tuple[int, str]:
    found = CliRunner().invoke(app, with_folders([str(word) for word in words]))
    return found.exit_code, found.output


def test_a_store_is_tuned_again_and_begins_with_the_best(folder: Path, store: Path) -> None:
    with closing(Store(store)) as opened:
        opened.remember_folder("waiting", folder)
    code, said = answered("retune", store, "--evaluations", "6")
    assert code == 0
    assert said.splitlines()[0] == "waiting, n=3 …"
    assert "waiting, n=5 on " in said
    with closing(Store(store)) as opened:
        new = [row for row in opened.rows("waiting") if row.device != "another"]
    assert {row.sizes["n"] for row in new} == {3, 5}
    assert len(new) == 12
    assert new[0].trial.configuration == {"step": 7, "unroll": 2}


def test_tuning_a_folder_lets_the_store_know_it(folder: Path, tmp_path: Path) -> None:
    assert answered("tune", folder, "--store", tmp_path / "t", "--evaluations", "2")[0] == 0
    (known,) = known_kernels(tmp_path / "t")
    assert known.folder == folder.resolve()
    code, said = answered("retune", tmp_path / "t", "--evaluations", "2", "--json")
    assert code == 0
    (one,) = json.loads(said[said.index("{") :])["kernels"]
    assert (one["kernel"], one["tried"], one["reason"]) == ("waiting", 2, None)


def test_what_cannot_be_tuned_is_named(folder: Path, store: Path, tmp_path: Path) -> None:
    code, said = answered("retune", store)
    assert code != 0
    assert "waiting, n=3: not tuned: the store does not say from which folder it was tuned" in said
    with closing(Store(store)) as opened:
        opened.remember_folder("waiting", folder)
    (folder / "kernel.yaml").unlink()
    assert "kernel.yaml" in answered("retune", store)[1]
    assert "there is no store" in answered("retune", tmp_path / "none")[1]
    Store(tmp_path / "empty").close()
    assert "has no results of kernels" in answered("retune", tmp_path / "empty")[1]


def test_a_store_without_folders_is_read_and_written(store: Path, folder: Path) -> None:
    with closing(sqlite3.connect(store)) as opened:
        opened.execute("drop table folders")
        opened.commit()
    with closing(Store(store)) as again:
        assert again.folders() == {}
        again.remember_folder("waiting", folder)
    assert known_kernels(store)[0].folder == folder.resolve()
