"""Instructions, registers and the stack of a kernel, read from its cubin."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from kerneltune.compiling import nvrtc as compiling
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


def test_the_compiler_writes_into_memory_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty log is one zero byte: written into `b" " * 1`, it changes every `b" "` of the process."""
    library = pytest.importorskip("cuda.bindings.nvrtc")
    written: dict[str, Any] = {}
    options: list[bytes] = []

    def recorded(name: str) -> Any:
        def call(program: object, memory: Any) -> Any:
            written[name] = memory
            return getattr(library, name)(program, memory)

        return call

    def compiled(program: object, count: int, given: list[bytes]) -> Any:
        options.extend(given)
        return library.nvrtcCompileProgram(program, count, given)

    names = [name for name in dir(library) if name.startswith("nvrtc")]
    stand_in = SimpleNamespace(**{name: getattr(library, name) for name in names})
    stand_in.nvrtcGetCUBIN, stand_in.nvrtcGetProgramLog = map(
        recorded, ("nvrtcGetCUBIN", "nvrtcGetProgramLog")
    )
    stand_in.nvrtcCompileProgram = compiled
    monkeypatch.setattr(compiling, "_nvrtc", lambda: stand_in)
    built = compile_job(Job(SOURCE, "sm_90", ("other",)), None)
    assert built.registers > 0
    assert b"--no-cache" in options  # NVRTC's own cache has no log
    assert set(written) == {"nvrtcGetCUBIN", "nvrtcGetProgramLog"}
    assert not any(memoryview(memory).readonly for memory in written.values())
