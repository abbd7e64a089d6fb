"""The reference in blocks, by processes and in chunks of steps: equal to the reference as a whole."""

from __future__ import annotations

import errno
import json
import os
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from kerneltune.errors import KernelTuneError, RunError
from kerneltune.inputs.descriptions import Kernels, discover
from kerneltune.inputs.problem import PASSES, Problem
from kerneltune.running import case_files
from kerneltune.running.case import LayerCase, random_case
from kerneltune.running.case_files import load_case
from kerneltune.running.case_maker import blocks_of, case_bytes, make_case
from kerneltune.running.drawn_input import random_arrays

KERNELS = discover()
SHAPE = {"heads": 3, "head_dim": 16, "batch": 5, "steps": 13}


def problem_of(cell: str, direction: str, **options: object) -> Problem:
    return Problem(cell, dtype="fp16", direction=direction, **{**SHAPE, **options})  # type: ignore[arg-type]


def same(one: LayerCase, other: LayerCase, digits: float) -> None:
    assert one.inputs.keys() == other.inputs.keys()
    assert one.expected.keys() == other.expected.keys()
    np.testing.assert_array_equal(one.initial, other.initial)
    for name, array in one.expected.items():
        scale = max(1.0, float(np.abs(array).max(initial=0.0)))
        np.testing.assert_allclose(other.expected[name], array, rtol=0, atol=digits * scale, err_msg=name)
    for name, bits in one.inputs.items():
        if bits.dtype == np.float32:
            np.testing.assert_allclose(other.inputs[name], bits, rtol=1e-6, atol=1e-6, err_msg=name)
        else:  # a last digit may round otherwise
            wrong = int(np.count_nonzero(other.inputs[name] != bits))
            assert wrong <= bits.size // 1000, name


@pytest.mark.parametrize("direction", PASSES)
@pytest.mark.parametrize("cell", sorted(KERNELS.cells))
def test_a_few_steps_at_a_time_give_what_all_do(cell: str, direction: str) -> None:
    for options in ({}, {"forward_clip": 0.3}):
        problem = problem_of(cell, direction, **options)
        whole = random_case(problem, KERNELS.cell(cell), seed=4)
        parts = random_case(problem, KERNELS.cell(cell), seed=4, at_a_time=700)
        results = {name: np.zeros(output.shape, output.dtype) for name, output in parts.outputs.items()}
        verdict = parts.judge(results)
        assert whole.judge(results).relative_error == pytest.approx(verdict.relative_error)
        same(whole, parts, 1e-13)


@pytest.mark.parametrize("direction", PASSES)
def test_processes_give_what_one_does(direction: str, tmp_path: Path) -> None:
    problem = problem_of("slstm" if direction != "backward" else "gru", direction)
    make_case(problem, KERNELS, 4, tmp_path, workers=6, least_rows=2)
    assert len(blocks_of(problem, 6, least_rows=2)) == 6
    assert not list(tmp_path.glob("by_r.*.npy"))
    same(random_case(problem, KERNELS.cell(problem.cell), seed=4), load_case(tmp_path, KERNELS), 1e-13)  # type: ignore[arg-type]


def test_blocks_cover_everything_once() -> None:
    for heads in (1, 2, 7, 12):
        for batch in (1, 15, 16, 40, 256):
            for workers in (1, 2, 5, 16):
                problem = Problem("lstm", heads, 16, batch, "bf16")
                count = np.zeros((1, batch, heads))
                blocks = blocks_of(problem, workers)
                for block in blocks:
                    block.of("hidden", count)[...] += 1
                assert (count == 1).all()
                assert len(blocks) <= workers


def test_drawn_input_is_the_same_by_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, cell = problem_of("lstm", "backward"), KERNELS.cell("lstm")
    one = random_arrays(problem, cell, 1, part=1000)
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    again, other = (random_arrays(problem, cell, seed, part=1000) for seed in (1, 2))
    for name, array in one.items():
        np.testing.assert_array_equal(array, again[name])
        assert (array != other[name]).mean() > 0.9
    flat = one["input"].reshape(-1)
    parts = [tuple(flat[start : start + 1000][:50]) for start in range(0, flat.size - 1000, 1000)]
    assert len(set(parts)) == len(parts)


def test_sizes_are_known_before(tmp_path: Path) -> None:
    for direction in PASSES:
        problem = problem_of("lstm", direction, batch=64)
        folder = tmp_path / direction
        folder.mkdir()
        make_case(problem, KERNELS, 4, folder)
        size = sum(path.stat().st_size for path in folder.iterdir())
        assert size / 1.5 < case_bytes(problem, KERNELS) < 1.5 * size


@pytest.mark.parametrize("damage", ["cut", "changed", "missing", "pickle", "manifest"])
def test_damaged_files_are_found(damage: str, tmp_path: Path) -> None:
    make_case(problem_of("lstm", "forward"), KERNELS, 4, tmp_path)
    path = tmp_path / "hidden.npy"
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:-100])
    elif damage == "changed":
        path.write_bytes(content)
    elif damage == "missing":
        path.unlink()
    elif damage == "pickle":
        np.save(path, np.array([{}], dtype=object), allow_pickle=True)
        manifest = json.loads((tmp_path / case_files.MANIFEST).read_text())
        manifest["sha256"]["hidden"] = case_files.checksum(path)
        (tmp_path / case_files.MANIFEST).write_text(json.dumps(manifest))
    else:
        (tmp_path / case_files.MANIFEST).write_text("{}")
    with pytest.raises(KernelTuneError, match="cannot be read"):
        load_case(tmp_path, KERNELS)


def test_no_space_is_said_before_anything_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = r"no space for the float64 reference: .* TMPDIR may name a folder on another disk"
    monkeypatch.setattr(case_files.shutil, "disk_usage", lambda _: SimpleNamespace(free=1 << 20))  # type: ignore[attr-defined]
    with pytest.raises(RunError, match=said):
        case_files.create_array(tmp_path, "x", (1 << 18,), np.dtype(np.float64))
    assert not list(tmp_path.iterdir())

    def full(*_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(RunError, match=said):
        case_files.create_array(tmp_path, "x", (1 << 10,), np.dtype(np.float64))
    assert not list(tmp_path.iterdir())


def broken_kernels(tmp_path: Path, text: str) -> Kernels:
    cell = tmp_path / "kernels" / "cells" / "slstm"
    cell.mkdir(parents=True)
    about = "name: slstm\nsummary: s\ngates: [i, f, z, o]\nstates: [h, c, n, m]\ncell_struct: S\n"
    (cell / "cell.yaml").write_text(about + "positive: [n]\n")
    (cell / "reference.py").write_text(text)
    return discover(tmp_path / "kernels")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def forward(*_): raise ValueError('no such gate')", "no such gate"),
        ("import os\ndef forward(*_): os._exit(7)", "exit code 7"),
        ("import os, signal\ndef forward(*_): os.kill(os.getpid(), signal.SIGKILL)", "SIGKILL"),
    ],
)
def test_a_process_that_fails_says_why(text: str, said: str, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    problem = replace(problem_of("slstm", "forward"), batch=64)
    with pytest.raises(RunError, match=f"reference could not be computed: [^$]*{said}"):
        make_case(problem, broken_kernels(tmp_path, text), 4, folder, workers=2)
