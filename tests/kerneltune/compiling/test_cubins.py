"""The number of instructions of a kernel, read from its cubin."""

from __future__ import annotations

import pytest

from kerneltune.compiling.machine_code import instructions
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
