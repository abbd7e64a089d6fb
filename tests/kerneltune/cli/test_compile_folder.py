"""`kerneltune compile FOLDER` and `why`: what a user's configurations take, or what excludes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from kerneltune.cli.main import app, with_folders

SOURCE = """extern "C" __global__ void scale(float* out, const float* in, int n) {
  __shared__ float kept[PAD];
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (threadIdx.x < PAD) kept[threadIdx.x] = i;
  __syncthreads();
  if (i < n) out[i] = in[i] * kept[threadIdx.x % PAD];
}
"""
YAML = """name: scale
entry: scale
sizes: {n: 4096}
tune_params:
  BLOCK: [64, 128]
  PAD: [32, 64]
restrictions: [PAD <= BLOCK]
grid: ["ceildiv(n, BLOCK)"]
block: [BLOCK]
arguments:
  - {name: out, kind: out, dtype: float32, shape: [n]}
  - {name: in, fill: normal, dtype: float32, shape: [n]}
  - {name: n, value: n, dtype: int32}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "scale"
    found.mkdir()
    (found / "kernel.cu").write_text(SOURCE)
    (found / "kernel.yaml").write_text(YAML + "source: kernel.cu\n")
    return found


def answered(*words: str) -> tuple[int, str]:
    found = CliRunner().invoke(app, with_folders(["compile", *words]))
    return found.exit_code, found.output


def rows(*words: str) -> tuple[int, list[dict[str, Any]]]:
    code, output = answered(*words, "--gpu", "h100_sxm", "--json")
    return code, json.loads(output)["compilations"]


def test_named_configurations_are_compiled_in_their_order(folder: Path) -> None:
    code, found = rows(str(folder), "BLOCK=128,PAD=64", "PAD = 32, BLOCK = 64")
    assert code == 0
    assert [one["configuration"] for one in found] == [{"BLOCK": 128, "PAD": 64}, {"BLOCK": 64, "PAD": 32}]
    assert [one["resources"]["shared_memory"] for one in found] == [256, 128]
    assert all(one["resources"]["registers"] > 0 and one["resources"]["blocks_per_sm"] > 0 for one in found)


def test_what_cannot_be_launched_is_not_in_the_space(folder: Path) -> None:
    path = folder / "kernel.yaml"
    path.write_text(path.read_text().replace("ceildiv(n, BLOCK)", "n // (32 * BLOCK) - 1"))
    code, found = rows(str(folder), "--all")
    assert code == 0
    assert {one["configuration"]["BLOCK"] for one in found} == {64}
    code, output = answered(str(folder), "BLOCK=128,PAD=32", "--gpu", "h100_sxm")
    assert code == 2
    assert "BLOCK is never 128: 64" in output


def test_samples_are_drawn_by_a_seed(folder: Path) -> None:
    draws = [rows(str(folder), "--sample", "2", "--seed", seed)[1] for seed in ("1", "1")]
    chosen = [[one["configuration"] for one in draw] for draw in draws]
    assert len(chosen[0]) == 2
    assert chosen[0] == chosen[1]


def test_the_compilers_words_name_the_users_line(folder: Path) -> None:
    (folder / "kernel.cu").write_text(SOURCE.replace("in[i] *", "input[i] *"))
    code, output = answered(str(folder), "BLOCK=64,PAD=32", "--gpu", "h100_sxm")
    assert code == 1
    assert "scale(6): error" in output
    assert '"input" is undefined' in output
    assert "0 of 1 compiled" in output


def test_broken_promises_fail(folder: Path) -> None:
    with (folder / "kernel.yaml").open("a") as file:
        file.write("registers: 16\nblocks_per_sm: 64\n")
    code, found = rows(str(folder), "BLOCK=64,PAD=32")
    assert code == 1
    assert found[0]["promised"] == {"registers": 16, "blocks_per_sm": 64}
    assert "blocks per SM, 64 promised" in found[0]["broken"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["BLOCK=64"], "does not say PAD"),
        (["BLOCK=65,PAD=32"], "BLOCK is never 65: 64, 128"),
        (["BLOK=64,PAD=32"], "no parameter 'BLOK': did you mean 'BLOCK'"),
        (["BLOCK=64,BLOCK=64"], "'BLOCK' is given twice"),
        (["64"], "'64' is no NAME=VALUE"),
        (["BLOCK=64,PAD=32", "--all"], "exclude one another"),
        (["--sample", "2", "--all"], "exclude one another"),
    ],
)
def test_wrong_words_are_bad_input(folder: Path, words: list[str], said: str) -> None:
    code, output = answered(str(folder), *words, "--gpu", "h100_sxm")
    assert code == 2
    assert said in output


def test_a_folder_that_there_is_not(tmp_path: Path) -> None:
    code, output = answered(str(tmp_path / "nowhere"), "--gpu", "h100_sxm")
    assert code == 2
    assert "nowhere" in output


def reasons(folder: Path, configuration: str) -> dict[str, Any]:
    words = ["why", str(folder), configuration, "--gpu", "h100_sxm", "--json"]
    found = CliRunner().invoke(app, words)
    assert found.exit_code == 0, found.output
    return dict(json.loads(found.output))


def test_a_broken_restriction_is_named_with_its_values(folder: Path) -> None:
    path = folder / "kernel.yaml"
    path.write_text(path.read_text().replace("PAD <= BLOCK", "PAD * 2 < BLOCK"))
    found = reasons(folder, "BLOCK=64,PAD=64")
    assert found["status"] == "excluded"
    assert found["reasons"] == ["PAD * 2 < BLOCK (128 < 64 is false)"]
    assert found["nearest"] == [{"BLOCK": 128, "PAD": 32}]
    assert reasons(folder, "BLOCK=128,PAD=64")["reasons"] == ["PAD * 2 < BLOCK (128 < 128 is false)"]
    assert reasons(folder, "BLOCK=128,PAD=64")["nearest"] == [{"BLOCK": 128, "PAD": 32}]
    assert reasons(folder, "BLOCK=128,PAD=32") == {"status": "valid", "reasons": [], "nearest": []}


def test_values_that_are_never_tried_and_limits_are_named(folder: Path) -> None:
    found = reasons(folder, "BLOCK=4096,PAD=32")["reasons"]
    assert found[0] == "BLOCK = 4096: it is never 4096, but 64, 128"
    assert found[1] == "BLOCK <= 1024 (4096 <= 1024 is false)"


def test_launches_that_are_none_are_named(folder: Path) -> None:
    path = folder / "kernel.yaml"
    path.write_text(path.read_text().replace("ceildiv(n, BLOCK)", "n // (32 * BLOCK) - 1"))
    assert reasons(folder, "BLOCK=128,PAD=64")["reasons"] == [
        "4096 // (32 * BLOCK) - 1 >= 1 (0 >= 1 is false)"
    ]
    path.write_text(path.read_text().replace("n // (32 * BLOCK) - 1", "n // (BLOCK - 64)"))
    assert reasons(folder, "BLOCK=64,PAD=64")["reasons"] == ["4096 // (BLOCK - 64) has no value"]


@pytest.mark.parametrize("grid", ["[1, 100000]", "[0, 1]"])
def test_numbers_that_are_no_launch_are_refused(folder: Path, grid: str) -> None:
    path = folder / "kernel.yaml"
    path.write_text(path.read_text().replace('["ceildiv(n, BLOCK)"]', grid))
    code, output = answered(str(folder), "--gpu", "h100_sxm")
    assert code == 2
    assert "grid:" in output
    assert "is no launch" in output


def test_lines_of_a_constraint_file_are_named() -> None:
    folder = Path(__file__).parents[3] / "examples" / "tuning" / "matmul"
    found = reasons(folder, "BM=256,BN=256,BK=64,WARPS_M=2,WARPS_N=2,STAGES=4,GROUP=8")
    assert found["status"] == "excluded"
    assert found["reasons"]
    assert len(found["nearest"]) == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("tune", "nowhere", "--dry-run"), "there is no folder nowhere"),
        (("tune", "nowhere"), "there is no folder nowhere"),
        (("compile", "nowhere", "--gpu", "t4"), "there is no folder nowhere"),
        (("compile", "lstn", "--batch", "4"), "did you mean 'lstm'?"),
        (("tile", "lstn", "--batch", "4", "--heads", "2"), "did you mean 'lstm'?"),
        (("tile", "mingrv", "--batch", "4"), "did you mean 'mingru'?"),
        (("tile", "lstm", "--batch", "4"), "--heads is missing: lstm needs it"),
        (("tile", "scan", "--batch", "4"), "--channels is missing"),
        (("compile", "lstm"), "--batch is missing: lstm needs it"),
        (("tile", "nowhere"), "unknown cell 'nowhere'"),
        (("run", "lstn"), "did you mean 'lstm'?"),
        (("tile", "/nowhere/mine"), "a kernel of your own is a folder with kernel.yaml"),
    ],
)
def test_a_name_that_means_nothing_is_told_as_that(words: tuple[str, ...], said: str) -> None:
    """Not as an option of what the name would be otherwise."""
    found = CliRunner().invoke(app, with_folders(list(words)))
    assert found.exit_code == 2
    assert said in found.output


def dry(folder: Path, *words: str) -> tuple[int, str]:
    words = ("tune", str(folder), "--gpu", "H100-SXM", "--dry-run", *words)
    found = CliRunner().invoke(app, with_folders(list(words)))
    return found.exit_code, found.output


def test_a_dry_run_compiles_and_measures_nothing(folder: Path, tmp_path: Path) -> None:
    store = tmp_path / "results.sqlite"
    code, output = dry(folder, "--store", str(store))
    assert (code, store.exists()) == (0, False)
    assert output.startswith("scale: 4 configurations, searched by auto for time\n")
    assert output.endswith("4 of 4 compiled and keep what they promise\n")
    assert json.loads(dry(folder, "--json")[1])["gpu"] == "h100_sxm"


@pytest.mark.parametrize(
    ("old", "new", "words", "said"),
    [
        ("out[i] =", "out[j] =", (), '"j" is undefined'),
        ("entry: scale", "entry: scole", (), "scole"),
        ("", "", ("--objective", "tyme"), "tyme"),
        ("", "", ("--objective", "time,gflops"), "needs the number `flops`"),
        ("", "", ("--strategy", "atuo"), "atuo"),
        ("fill: normal", "fill: nromal", (), "nromal"),
    ],
)
def test_a_dry_run_finds_mistakes(
    folder: Path, old: str, new: str, words: tuple[str, ...], said: str
) -> None:
    for name in ("kernel.cu", "kernel.yaml"):
        path = folder / name
        path.write_text(path.read_text().replace(old, new) if old else path.read_text())
    code, output = dry(folder, *words)
    assert code != 0
    assert said in output
    assert "Traceback" not in output


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('["ceildiv(n, BLOCK)"]', "[ceildiv(n, BLOCK), 1]", "hint: quote an expression with a comma"),
        ('"ceildiv(n, BLOCK)"', '"ceildiv(n, BLOK)"', "did you mean 'BLOCK'?"),
        (
            'extern "C" __global__',
            "template <int BLOCK>\n__global__",
            "line 1 of the source: the template has a parameter BLOCK",
        ),
        ("__global__", "", "none is found"),
    ],
)
def test_mistakes_are_named_in_the_users_words(folder: Path, old: str, new: str, said: str) -> None:
    for name in ("kernel.cu", "kernel.yaml"):
        path = folder / name
        path.write_text(path.read_text().replace(old, new).replace("entry: scale\n", ""))
    found = CliRunner().invoke(app, ["space", str(folder), "--gpu", "t4"])
    assert found.exit_code == 2
    assert said in found.output
    assert "launch_grid" not in found.output
