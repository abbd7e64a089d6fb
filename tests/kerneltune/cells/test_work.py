"""The work that is counted in a cell's equations, and the machine code whose cost it is."""

from __future__ import annotations

import struct
from collections import Counter
from pathlib import Path

import pytest

from kerneltune import Cell
from kerneltune.cells.costs import ADDITION, EXACT, FAST, Cost
from kerneltune.cells.work import work_of
from kerneltune.compiling.compile import Compiler
from kerneltune.compiling.machine_code import section
from kerneltune.compiling.nvrtc import Job, compile_job, compiler_version
from kerneltune.compiling.source import KERNEL_NAME
from kerneltune.errors import InputError
from kerneltune.inputs.folders import data_folder
from kerneltune.inputs.hardware import load_profile
from kerneltune.inputs.scan_descriptions import discover_scans
from kerneltune.inputs.scan_equation_cell import scan_in
from kerneltune.inputs.scan_problem import ScanProblem
from kerneltune.tiling.space import TilingSpace

SPECIAL, BARRIER, CALL = 0x308, 0x945, 0x944  # opcodes: MUFU, BSSY, CALL
CALLS = {
    "tanh": "Math::tanh(x)",
    "sigmoid": "Math::sigmoid(x)",
    "exp": "Math::exp(x)",
    "log": "Math::log(x)",
    "softplus": "-Math::log_sigmoid(x)",
    "div": "__fdividef(x, y)",
    "sqrt": "sqrt_of(x)",
    "erf": "erff(x)",
    "max": "larger_of(x, y)",
    "min": "smaller_of(x, y)",
    "relu": "relu_of(x)",
    "sign": "sign_of(x)",
    "abs": "fabsf(x)",
    "neg": "-x",
}
EVERY_FUNCTION = """gates a b
states h c
weights u v
d = tanh(W.a + u * h) + exp(-abs(W.b + h)) + log(1 + h**2) + softplus(v * c)
e = where(c > W.a, sqrt(1 + c**2), gelu(W.b + c)) + where(h > 0, tanh(h), exp(h))
c' = sigmoid(d) * c + clip(e, -1, 1)
h' = silu(c') + max(relu(d), min(e, c)) / (2 + sigmoid(h))
"""


def operations(code: bytes) -> Counter[int]:
    """How often a kernel has each operation, by the low 12 bits of an instruction."""
    return Counter(struct.unpack_from("<Q", code, place)[0] & 0xFFF for place in range(0, len(code), 16))


def compiled(call: str, exact: bool, times: int) -> Counter[int]:
    """Operations of a kernel that adds up so many calls."""
    lines = "".join(f"sum += of<Math<{str(exact).lower()}>>(x[{i}], y[{i}]);" for i in range(times))
    source = f"""#include "common/numeric/activations.cuh"
#include "common/numeric/choices.cuh"
using namespace kerneltune;
template <class Math> __device__ __forceinline__ float of(float x, float y) {{ return {call}; }}
extern "C" __global__ void kernel(const float* x, const float* y, float* to) {{
  float sum = 0;
  {lines}
  to[threadIdx.x] = sum;
}}"""
    job = Job(source, "sm_90a", ("kernel",), (f"-I{data_folder('kernels')}", "-default-device"))
    return operations(section(compile_job(job, None).cubin, b".text.kernel"))


@pytest.mark.parametrize("name", sorted(CALLS))
@pytest.mark.parametrize("exact", [False, True])
def test_functions_are_as_many_instructions_as_the_table_says(name: str, exact: bool) -> None:
    cost = (EXACT if exact else FAST)[name]
    counts = []
    for call in (CALLS[name], "x + y" if "y" in CALLS[name].split("(")[-1] else "x"):
        few, many = (compiled(call, exact, times) for times in (16, 32))
        counts.append((sum(many.values()) - sum(few.values()), many[SPECIAL] - few[SPECIAL]))
        assert few[BARRIER] == many[BARRIER] == 0, f"{call} has a branch"
        assert few[CALL] == many[CALL] == 0, f"{call} has a call"
    (taken, special), (others, _) = counts
    assert special / 16 == cost.special
    assert (taken - others) / 16 == pytest.approx(cost.instructions, abs=2.5), compiler_version()


@pytest.mark.parametrize("dtype", ["bf16", "fp32"])
@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_no_channel_of_a_lane_waits_behind_anothers_branches(
    tmp_path: Path, dtype: str, direction: str
) -> None:
    (tmp_path / "every.cell").write_text(EVERY_FUNCTION)
    profile, kernels = load_profile("h100_sxm"), discover_scans()
    problem = ScanProblem(str(tmp_path / "every.cell"), 8, 2048, 512, dtype, direction)
    space = TilingSpace(problem, profile, kernels).of_strategy("sequential")
    barriers: dict[int, int] = {}
    for candidate in space.candidates(4000):
        lanes = candidate.values["vector_bytes"] // problem.dtype_bytes
        wanted = candidate.values["tile_steps"], candidate.values["bulk"], candidate.values["stages"]
        if lanes in (1, 2) and lanes not in barriers and wanted == (16, 0, 2):
            found = Compiler(kernels, profile).compile(candidate)
            code = operations(section(found.cubin, b".text." + KERNEL_NAME.encode()))
            assert code[CALL] == 0
            barriers[lanes] = code[BARRIER]
    assert set(barriers) == {1, 2}
    assert barriers[1] == barriers[2]


def test_what_is_counted_in_a_step(tmp_path: Path) -> None:
    path = tmp_path / "counted.cell"
    path.write_text("gates a b\nstates h\nweights u\nh' = tanh(u * h + W.a) * h + W.b\n")
    found = work_of(scan_in(path).derivation)
    fma, tanh = ADDITION.work, FAST["tanh"].work
    assert found["fast"]["step_work"] == fma + tanh + fma  # u h + a, tanh, its product and b
    assert found["exact"]["step_work"] == 2 * fma + EXACT["tanh"].work
    assert found["fast"]["step_latency"] == 2 + FAST["tanh"].latency
    assert found["fast"]["step_live"] == 1  # each value is used for the next one alone
    assert found["fast"]["gradient_work"] > found["fast"]["step_work"]
    # From the gradient by h' to that by h: one product with what else is known, one sum.
    assert 1 <= found["fast"]["gradient_latency"] <= 3


def test_a_special_function_costs_eight(tmp_path: Path) -> None:
    assert Cost(3, 1, 0).work == 10
    path = tmp_path / "linear.cell"
    path.write_text("gates a b\nstates h\nh' = W.a * h + W.b\n")
    assert work_of(scan_in(path).derivation)["exact"]["step_work"] == 0  # a and b are there


def test_a_header_says_its_own_work(tmp_path: Path) -> None:
    mine = tmp_path / "mine.cell"
    mine.write_text("gates a b\nstates h\nh' = sigmoid(W.a) * h + W.b\n")
    assert scan_in(mine).work(False)["step_work"] == FAST["sigmoid"].work
    header = "// work: fast 7 8, exact 9 10\nstruct Mine {\n};\n"
    (tmp_path / "mine.cuh").write_text(header)
    cell = scan_in(mine)
    assert (cell.work(False)["step_work"], cell.work(False)["gradient_work"]) == (7, 8)
    assert (cell.work(True)["step_work"], cell.work(True)["gradient_work"]) == (9, 10)
    assert cell.work(True)["step_latency"] == 1


def test_a_recurrent_cells_step_is_counted() -> None:
    cell = Cell("counted", gates="a", states="h", equations="h' = tanh(a)")
    assert cell.work(False) == {"step_work": ADDITION.work + FAST["tanh"].work}  # W x + R h
    assert cell.work(True) == {"step_work": ADDITION.work + EXACT["tanh"].work}
    with pytest.raises(InputError):
        Cell("counted", gates="a", states="h", equations="h' = tanh(b)")
