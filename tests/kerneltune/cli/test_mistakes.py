"""Mistakes at the command line and in kernel.yaml: each is told with its place and its fix, exit code 2."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from kerneltune.cli.main import app, with_folders
from kerneltune.errors import InputError
from kerneltune.sources.entries import only_entry

YAML = """name: scale
entry: scale
sizes: {n: 1024}
tune_params:
  BX: [32, 64]
  BY: [1, 2]
restrictions:
  - BX * BY >= 64
arguments:
  - {name: out, kind: out, dtype: float32, shape: [n]}
grid: ["ceildiv(n, BX * BY)"]
block: [BX, BY]
flops: 2 * n
"""
SOURCE = """// __global__ void commented(float* out)
extern "C" __global__ void __launch_bounds__(BX * (BY)) scale(float* out) { out[threadIdx.x] = BY; }
"""
GPU = ("--gpu", "h100_sxm")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "scale"
    found.mkdir()
    (found / "kernel.yaml").write_text(YAML)
    (found / "kernel.cu").write_text(SOURCE)
    return found


def said(*words: object, code: int = 2) -> str:
    """The message of a command line that ends with an exit code; nothing goes to standard output."""
    found = CliRunner().invoke(app, with_folders([str(word) for word in words]))
    assert (found.exit_code, found.stdout) == (code, ""), found.output
    assert "Traceback" not in found.stderr
    return found.stderr


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("tune nowhere", "there is no folder nowhere: a kernel of your own is a folder with kernel.yaml"),
        ("tune nowhere --dry-run", "there is no folder nowhere"),
        ("tune nowhere --dry-run --batch 4", "there is no folder nowhere"),
        ("tune --gpu t4 nowhere --evaluations 3", "there is no folder nowhere"),
        ("compile some/where --batch 4", "there is no folder some/where"),
        ("tune lstn --batch 4", "unknown cell 'lstn': did you mean 'lstm'?"),
        ("tune --batch 4 --dtype bf16 lstn --nothing", "unknown cell 'lstn': did you mean 'lstm'?"),
        ("compile lstn", "unknown cell 'lstn': did you mean 'lstm'?"),
        ("tile lstn --batch 4", "unknown cell 'lstn': did you mean 'lstm'?"),
        (
            "tune lstm --dry-run",
            "--dry-run is an option of `tune FOLDER`, a kernel of your own, but lstm is a",
        ),
        ("compile lstm --sample=3", "--sample is an option of `compile FOLDER`"),
        ("header nowhere", "there is no folder nowhere"),
        ("best nowhere", "there is no folder nowhere"),
        ("why nowhere BX=3", "there is no folder nowhere"),
        ("space nowhere", "there is no folder nowhere"),
    ],
)
def test_what_is_not_there_is_told_before_options(words: str, expected: str) -> None:
    assert expected in said(*words.split())


def test_subjects_are_found_behind_options(folder: Path) -> None:
    assert with_folders(["tune", "--gpu", "lstm", str(folder)])[0] == "tune-kernel"
    assert with_folders(["tune", "--gpu=t4", "lstm", "--batch", "4"])[0] == "tune"
    assert with_folders(["tune", "own", "--kernels", "root", "--batch", "4"])[0] == "tune"
    assert with_folders(["tune"]) == ["tune"]
    assert with_folders(["tile", "nowhere"]) == ["tile", "nowhere"]


def test_options_of_the_other_command_are_told(folder: Path) -> None:
    assert f"--batch is an option of `compile CELL`, but {folder} is a folder" in said(
        "compile", folder, "--batch", "4"
    )
    found = CliRunner().invoke(app, with_folders(["tune", "nowhere", "--json"]))
    assert json.loads(found.stdout)["reason"].startswith("there is no folder nowhere")
    assert found.exit_code == 2


@pytest.mark.parametrize("command", ["tune", "compile"])
def test_usage_names_the_command_as_it_was_called(folder: Path, command: str) -> None:
    shown = said(command, folder, "--no-such-option")
    assert f" {command} [OPTIONS] FOLDER" in shown
    assert "-kernel" not in shown
    listed = CliRunner().invoke(app, ["--help"]).stdout
    assert "-kernel" not in listed
    assert "refused" not in listed


def test_a_header_needs_a_file(folder: Path) -> None:
    assert said("header", folder) == "--output is missing: name the header to write, as -o scale.hpp\n"


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("entry: scale", "entry: scael", "entry: the source has no kernel 'scael': did you mean 'scale'?"),
        ("BX: [32,", "BX: [32.5,", "'BX' has the value 32.5, but only whole numbers can stand here"),
        ("block: [BX, BY]", "block: [BX, BZ]", "block_y: 'BZ': no parameter or size is named 'BZ': did you"),
        ("block: [BX, BY]", "block: [BX, qqqq]", "named 'qqqq': the parameters are BX, BY"),
        ("flops: 2 * n", "flops: 2 * m", "flops: '2 * m': no parameter or size is named 'm'"),
        ("BX * BY >= 64", "BX * BY => 64", "kernel.yaml:8:5: 'BX * BY => 64' is no condition in Python's"),
        ("BX * BY >= 64", "BX BY", "kernel.yaml:8:5: 'BX BY' is no condition in Python's syntax"),
        ("BX * BY >= 64", "BX * BW >= 64", "'BX * BW >= 64': no parameter is named 'BW'"),
        ('["ceildiv(n, BX * BY)"]', "[ceildiv(n, BX * BY)]", "hint: quote an expression with a comma"),
        ("block: [BX, BY]", "blocks: [BX, BY]", "kernel.yaml:12:1: unknown key 'blocks'"),
        ("kind: out", "kind: output", "kernel.yaml:10:17: arguments.0.kind: expected in or out or inout"),
        ("n: 1024", "n: 10.5", "kernel.yaml:3:9: sizes.n: expected a whole number, found 10.5"),
    ],
)
def test_mistakes_in_kernel_yaml(folder: Path, before: str, after: str, expected: str) -> None:
    path = folder / "kernel.yaml"
    assert before in YAML
    path.write_text(YAML.replace(before, after))
    shown = said("compile", folder, *GPU, "--sample", "1")
    assert expected in shown
    assert "launch_" not in shown
    assert "nv_name" not in shown


def test_empty_spaces_are_told_in_the_words_of_the_user(folder: Path) -> None:
    shown = said("tune", folder, *GPU, "--dry-run", "--size", "n=0", code=1)
    assert "'ceildiv(0, BX * BY) >= 1' excludes all 4 combinations" in shown


def test_a_reference_that_is_no_python_is_told_with_its_line(folder: Path) -> None:
    (folder / "kernel.yaml").write_text(f"{YAML}reference: reference.py\n")
    (folder / "reference.py").write_text("\ndef reference(:\n")
    assert f"{folder}/reference.py:2: no Python: " in said("compile", folder, *GPU)


def test_a_limit_that_is_a_restriction_too_is_told_once(folder: Path) -> None:
    text = YAML.replace("BX * BY >= 64", "BX * BY <= 1024").replace("[32, 64]", "[32, 1024]")
    (folder / "kernel.yaml").write_text(text)
    found = CliRunner().invoke(app, ["why", str(folder), "BX=1024,BY=2", *GPU])
    assert found.stdout.count("excluded by BX * BY <= 1024") == 1


def test_kernels_are_found_behind_attributes_and_not_in_comments() -> None:
    assert only_entry(SOURCE, "cuda", SOURCE) == "scale"
    text = "__global__ __cluster_dims__(2, 1, 1) __launch_bounds__(64, f(2)) void one(int a) {}\n"
    assert only_entry(text, "cuda", text) == "one"
    with pytest.raises(InputError, match=r"which kernel of the source is meant \(one, scale\)"):
        only_entry(SOURCE + text, "cuda", "")
