"""Promises that a compiled kernel breaks, and configurations that compile reports exclude."""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import Any

import pytest
from pretended import MEASURE, tuned

from kerneltune.inputs.hardware import load_profile
from kerneltune.messages import Built
from kerneltune.pipeline.stages import COMPILE_CHILD, Commands
from kerneltune.sources.description import Description
from kerneltune.sources.kernel import Kernel
from kerneltune.tuning.learned_limits import LearnedLimits
from kerneltune.tuning.register_reports import RegisterReports

# Registers grow with TILE; what the compiler is told about a block is up to BOUNDS.
SOURCE = """
extern "C" __global__ void BOUNDS sums(const float* a, float* c, int n) {
  float held[TILE];
#pragma unroll
  for (int i = 0; i < TILE; ++i) held[i] = a[(blockIdx.x * TILE + i) * blockDim.x + threadIdx.x];
#pragma unroll
  for (int i = 0; i < TILE; ++i) c[(blockIdx.x * TILE + i) * blockDim.x + threadIdx.x] =
      held[(i * 7) % TILE] * held[TILE - 1 - i];
}
"""
PARAMS = {"DEPTH": [3, 5, 7], "TILE": [8, 20, 40], "BLOCK": [64, 256, 1024]}


def tried(tmp_path: Path, bounds: str, **more: Any) -> Any:
    given = {"params": PARAMS, "grid": 1, "commands": Commands(COMPILE_CHILD, MEASURE)}
    given |= {"strategy": "exhaustive", "entry": "sums", "name": "sums", **more}
    source = SOURCE.replace("BOUNDS", bounds)
    return tuned(tmp_path / "s", source=source, **given)


def test_a_promise_of_registers_that_is_wrong_loses_no_candidate(tmp_path: Path) -> None:
    found = tried(tmp_path, "__launch_bounds__(BLOCK)", registers=16)
    assert len(found.ranked) == 27
    assert not found.failed
    widest = next(one for one in found.trials if one.configuration == {"DEPTH": 5, "TILE": 40, "BLOCK": 256})
    assert widest.resources["registers"] > 16
    assert widest.resources["blocks_per_sm"] >= 1
    (note,) = [one for one in found.notes if "registers than promised" in one]
    assert "the compiler ignores the promise as its limit, --maxrregcount" in note
    assert "strict: true" in note


def test_a_strict_kernel_refuses_and_compiles_nothing_that_a_report_refuses(tmp_path: Path) -> None:
    found = tried(tmp_path, "__launch_bounds__(BLOCK)", registers=16, strict=True, workers=1)
    assert found.failed
    for one in found.failed:
        assert "16 promised (the source has __launch_bounds__" in str(one.failure)
    # DEPTH is not in the code: once a report of DEPTH = 3 breaks the promise, 5 and 7 need none.
    assert len(found.trials) < 27
    assert any("configurations were not compiled, such as one of" in note for note in found.notes)


def test_what_was_refused_strictly_is_tried_again_without(tmp_path: Path) -> None:
    assert tried(tmp_path, "__launch_bounds__(BLOCK)", registers=16, strict=True).failed
    assert not tried(tmp_path, "__launch_bounds__(BLOCK)", registers=16).failed


@pytest.mark.parametrize("bounds", ["__launch_bounds__(BLOCK)", "__maxnreg__(65536 / BLOCK)"])
def test_a_kernel_that_bounds_its_registers_loses_no_candidate(tmp_path: Path, bounds: str) -> None:
    """Reports come before the last configurations are asked for: machine code is kept from the first run."""
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        found = tried(tmp_path / name, bounds, workers=1)
        assert len(found.ranked) == 27, [str(one.failure) for one in found.failed] + list(found.notes)


def test_blocks_on_an_sm_are_promised_and_counted(tmp_path: Path) -> None:
    found = tried(tmp_path, "__launch_bounds__(BLOCK)", blocks_per_sm=2)
    assert len(found.ranked) == 27
    assert any("fewer blocks per SM than promised" in note for note in found.notes)
    strict = tried(tmp_path, "__launch_bounds__(BLOCK)", blocks_per_sm=2, strict=True)
    said = [str(one.failure) for one in strict.failed] + list(strict.notes)  # compiled, or learned
    assert any("1 blocks per SM, 2 promised" in one for one in said)
    assert len(strict.ranked) < 27


def test_what_cannot_be_launched_is_refused_and_learned(tmp_path: Path) -> None:
    params = {"DEPTH": list(range(12)), "TILE": [8, 90], "BLOCK": [64, 1024]}
    found = tried(tmp_path, "", params=params, workers=1)
    refused = [one for one in found.failed if "fits an SM" in str(one.failure)]
    assert {(one.configuration["TILE"], one.configuration["BLOCK"]) for one in refused} == {(90, 1024)}
    assert len(found.ranked) == 3 * 12  # nothing that can be launched is lost
    assert 1 <= len(refused) < 12  # and few of the others are compiled


def stencil(**more: Any) -> Kernel:
    described = Description(
        SOURCE.replace("BOUNDS", ""),
        **{"params": PARAMS, "grid": 1, "block": "BLOCK", "entry": "sums", **more},
    )
    return described.kernel(load_profile("h100_sxm"))


def test_parameters_that_the_code_does_not_have_are_known() -> None:
    assert stencil().in_code() == ("TILE",)
    assert stencil(defines={"KEPT": "2 * BLOCK"}).in_code() == ("TILE", "BLOCK")


def test_an_excluded_configuration_says_which_report_excludes_it() -> None:
    kernel = stencil()
    limits = LearnedLimits(kernel)
    limits.learn(kernel.order({"DEPTH": 3, "TILE": 40, "BLOCK": 64}), Built(registers=100))
    assert limits.excludes({"DEPTH": 5, "TILE": 40, "BLOCK": 256}) is None
    said = limits.excludes({"DEPTH": 5, "TILE": 40, "BLOCK": 1024})
    assert said == (
        "100 registers, as the same code of DEPTH=3, TILE=40, BLOCK=64: no block of 1024 threads fits an SM"
    )


def registers_of(tile: int, width: int, noise: int) -> int:
    return 20 + 3 * tile * width + (tile * 7 + width * 5) % (noise + 1)


@pytest.mark.parametrize("noise", [0, 4])
@pytest.mark.parametrize("seed", range(10))
def test_a_bound_is_never_above_the_registers_that_a_monotone_compiler_gives(noise: int, seed: int) -> None:
    points = list(itertools.product([1, 2, 4, 8], [1, 2, 3, 4], [0, 1]))
    random.Random(seed).shuffle(points)
    reports, said = RegisterReports(["tile", "width", "kept"]), 0
    for tile, width, kept in points:
        true = registers_of(tile, width, noise) - 6 * kept
        bound = reports.least({"tile": tile, "width": width, "kept": kept})
        assert bound is None or bound.registers <= true
        said += bound is not None
        reports.add({"tile": tile, "width": width, "kept": kept}, true)
        assert (exact := reports.least({"tile": tile, "width": width, "kept": kept}))
        assert exact.registers == true
    assert said > len(points) // 3


def test_a_limit_that_the_compiler_obeys_bounds_what_is_concluded() -> None:
    reports = RegisterReports(["tile"])
    reports.add({"tile": 4}, 100)
    limited = reports.least({"tile": 4}, limit=64)
    assert limited is not None
    assert limited.registers == 64
    ignored = RegisterReports(["tile"], obeys_limit=False)
    ignored.add({"tile": 4}, 100)
    unlimited = ignored.least({"tile": 4}, limit=64)
    assert unlimited is not None
    assert unlimited.registers == 100


def test_texts_are_never_compared_by_size() -> None:
    reports = RegisterReports(["layout", "tile"])
    for layout, tile in itertools.product(["rows", "columns", "blocks", "tiles"], [1, 2]):
        reports.add({"layout": layout, "tile": tile}, 32)
    assert reports.least({"layout": "other", "tile": 1}) is None
