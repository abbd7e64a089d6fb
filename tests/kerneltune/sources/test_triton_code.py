"""Triton functions compiled without a GPU: by a stand-in for what Triton gives, and by Triton where it is."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from fake_triton import Jit

from kerneltune import In, Out
from kerneltune.errors import InputError
from kerneltune.inputs.hardware import load_profile
from kerneltune.messages import OwnLaunch
from kerneltune.sources import triton_code
from kerneltune.sources.description import Description

PTX = """.visible .entry doubled(
  .param .u64 .ptr .global .align 1 doubled_param_0,
  .param .u64 .ptr .global .align 1 doubled_param_1,
  .param .u32 doubled_param_2,
  .param .u64 .ptr .global .align 1 doubled_param_3,
  .param .u64 .ptr .global .align 1 doubled_param_4
)
.reqntid 256
{ ret; }
"""
SIGNATURE = {"x": "*fp32", "y": "*fp32", "n": "i32", "BLOCK": "constexpr"}


def doubled(x: Any, y: Any, n: int, BLOCK: int) -> None:
    """Nothing: what is compiled is pretended."""


def made(ptx: str = PTX, signature: dict[str, str] | None = None, **metadata: Any) -> Any:
    """What a compilation gives."""
    told = {"num_warps": 8, "num_ctas": 1, "shared": 96, "global_scratch_size": 0, "name": "doubled"}
    source = SimpleNamespace(signature=SIGNATURE if signature is None else signature)
    return SimpleNamespace(metadata=SimpleNamespace(**{**told, **metadata}), src=source, asm={"ptx": ptx})


def launch(given: Any) -> OwnLaunch | None:
    return triton_code._launch(given, Jit(doubled), 3)


def test_the_driver_is_told_block_shared_memory_types_and_null_pointers() -> None:
    assert launch(made()) == OwnLaunch((256, 1, 1), 96, ("*fp32", "*fp32", "i32"), scratch=2)


def test_a_number_that_stands_in_the_code_is_not_passed() -> None:
    without = PTX.replace("  .param .u32 doubled_param_2,\n", "")
    found = launch(made(without, {**SIGNATURE, "n": "constexpr"}))
    assert found == OwnLaunch((256, 1, 1), 96, ("*fp32", "*fp32", ""), scratch=2)


@pytest.mark.parametrize(
    "given",
    [
        made(num_ctas=2),
        made(launch_cooperative_grid=True),
        made(global_scratch_size=128),
        made(profile_scratch_size=128),
        made(signature={**SIGNATURE, "x": "tensordesc<fp32[64]>"}),
        made(signature={**SIGNATURE, "BLOCK": "i32"}),  # a number that the arguments do not have
        made(
            signature={**SIGNATURE, "y": "constexpr", "n": "constexpr"}
        ),  # four pointers that nobody explains
        made("no entry"),
        SimpleNamespace(metadata=made().metadata, src="ttir", asm={"ptx": PTX}),
    ],
)
def test_what_only_triton_launches_is_left_to_it(given: Any) -> None:
    assert launch(given) is None


def test_parameters_are_compared_with_the_function() -> None:
    function = Jit(doubled)
    triton_code.check_parameters(function, 3, ["BLOCK", "num_warps"], ())
    triton_code.check_parameters(function, 3, ["BLOCK", "PROGRAMS"], ["PROGRAMS"])
    with pytest.raises(InputError, match=r"has no parameter 'num_warp', .* did you mean 'num_warps'"):
        triton_code.check_parameters(function, 3, ["BLOCK", "num_warp"], ())
    with pytest.raises(InputError, match="'BLOCK' has no value: did you mean 'BLOK'"):
        triton_code.check_parameters(function, 3, ["BLOK"], ["BLOK"])


def test_a_misspelt_parameter_is_refused_before_anything_is_compiled() -> None:
    array = np.ones(4096, np.float32)
    described = Description(
        Jit(doubled),
        params={"BLOCK": [256, 512], "num_warp": [4, 8]},
        arguments=[In(array, "x"), Out(array, "y"), 4096],
        grid="ceildiv(4096, BLOCK)",
    )
    # Where its children would find it is not asked here.
    described._reference = lambda what: inspect.getfile(doubled)  # type: ignore[method-assign]
    with pytest.raises(InputError, match="no parameter 'num_warp'"):
        described.kernel(load_profile("h100_sxm"))


SOURCE = """import triton
import triton.language as tl

@triton.jit
def doubled(x, y, n, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + places, 2 * tl.load(x + places, mask=places < n), mask=places < n)
"""
FOLDER = """name: doubled
kind: triton
entry: doubled
sizes: {n: 4096}
tune_params: {BLOCK: [256, 1024], num_warps: [3, 4]}
grid: ["ceildiv(n, BLOCK)"]
arguments:
  - {name: x, dtype: float32, shape: [n]}
  - {name: y, kind: out, dtype: float32, shape: [n]}
  - {name: n, value: n, dtype: int32}
"""


@pytest.mark.parametrize(("gpu", "threads"), [("h100_sxm", 128), ("t4", 128)])
def test_triton_compiles_for_a_gpu_that_is_not_here(tmp_path: Path, gpu: str, threads: int) -> None:
    pytest.importorskip("triton")
    folder = tmp_path / "doubled"
    folder.mkdir()
    (folder / "kernel.py").write_text(SOURCE)
    (folder / "kernel.yaml").write_text(FOLDER)
    words = ["-m", "kerneltune.cli", "compile", str(folder), "--all", "--gpu", gpu, "--json"]
    command = [sys.executable, *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=250, check=False)
    assert done.returncode == 1, done.stderr
    rows = {
        (one["configuration"]["BLOCK"], one["configuration"]["num_warps"]): one
        for one in json.loads(done.stdout)["compilations"]
    }
    assert len(rows) == 4
    for block in (256, 1024):
        assert "power of 2" in rows[block, 3]["failure"]
        told = rows[block, 4]["resources"]
        assert told["threads"] == threads
        assert told["registers"] > 0
        assert told["blocks_per_sm"] > 0
