"""Instructions, registers and the stack of a kernel, read from its cubin."""

from __future__ import annotations

import pytest

from kerneltune.compiling.machine_code import instructions, registers_and_frame
from kerneltune.compiling.nvrtc import Job, compile_job

SOURCE = """template <int N> __global__ void sums(float* out, const float* in, int n) {
#pragma unroll
  for (int i = 0; i < N; ++i) out[threadIdx.x * N + i] = in[i * n] * 3 + out[i];
}
__global__ void other(float* out) { out[threadIdx.x] = 1; }
"""


@pytest.mark.parametrize("target", ["sm_80", "sm_90"])
def test_more_code_has_more_instructions(target: str) -> None:
    counts = []
    for count in (1, 8, 64):
        built = compile_job(Job(SOURCE, target, (f"sums<{count}>", "other")), None)
        counts.append(built.instructions)
        small = instructions(built.cubin, built.lowered[1])
        assert 0 < small <= built.instructions
    assert counts == sorted(counts)
    assert counts[2] - counts[1] >= 56 * 3  # loads, a product and a store of each


def test_damaged_files_say_nothing() -> None:
    cubin = compile_job(Job(SOURCE, "sm_90", ("other",)), None).cubin
    assert instructions(cubin, "other") == 0  # its name is mangled
    assert instructions(b"", "other") == instructions(b"cubin", "other") == 0
    for length in range(0, len(cubin), 97):
        assert instructions(cubin[:length], "_Z5otherPf") >= 0


@pytest.mark.parametrize("target", ["sm_80", "sm_90a", "sm_100a"])
@pytest.mark.parametrize("limit", [None, 32])
def test_registers_and_the_stack_are_those_of_the_compilers_log(target: str, limit: int | None) -> None:
    built = compile_job(Job(SOURCE, target, ("sums<64>",), registers=limit), None)
    registers, frame = registers_and_frame(built.cubin)
    assert registers == built.registers > 0
    assert (frame > 0) == (built.spills > 0)


def test_damaged_files_have_no_registers() -> None:
    cubin = compile_job(Job(SOURCE, "sm_90", ("other",)), None).cubin
    assert registers_and_frame(b"") == registers_and_frame(b"cubin") == (0, 0)
    for length in range(0, len(cubin), 97):
        assert min(registers_and_frame(cubin[:length])) >= 0
