import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from made import hand_made
from msgspec import structs

from kerneltune.compiling.arguments import FIELDS, layout
from kerneltune.compiling.compile import Compiler
from kerneltune.compiling.cubin_cache import CubinCache
from kerneltune.compiling.host_headers import HEADERS
from kerneltune.compiling.known_targets import check_target
from kerneltune.compiling.nvrtc import Job, compile_job, known_targets
from kerneltune.compiling.report import CompileReport
from kerneltune.compiling.source import translation_unit
from kerneltune.errors import CompilationError, InputError
from kerneltune.inputs.descriptions import Kernels
from kerneltune.inputs.folders import data_folder
from kerneltune.inputs.hardware import load_profile
from kerneltune.tiling.candidate import Candidate


def compiled_report(kernels: Kernels, candidate: Candidate, backend: str = "nvrtc") -> CompileReport:
    profile = load_profile(candidate.gpu)
    return Compiler(kernels, profile, backend=backend).compile(candidate).report


def test_candidate_survives_json() -> None:
    candidate = hand_made()
    assert Candidate.from_json(json.loads(json.dumps(candidate.to_json()))) == candidate


def test_source_names_strategy_cell_and_numbers(fake_kernels: Kernels) -> None:
    source = translation_unit(hand_made(), fake_kernels, load_profile("h100_sxm"))
    assert '#include "strategies/plain/kernel.cu"' in source
    assert "using Scalar = kerneltune::BFloat16;" in source
    assert "static constexpr int held = 64;" in source
    assert "static constexpr int shared_memory = 2304;" in source
    assert "__launch_bounds__(256, 1)" in source
    assert "__cluster_dims__" not in source


@pytest.mark.parametrize(("cluster", "named"), [(2, True), (8, True), (16, False)])
def test_clusters_beyond_the_portable_size_are_left_to_the_launch(
    fake_kernels: Kernels, cluster: int, named: bool
) -> None:
    source = translation_unit(hand_made(cluster=cluster), fake_kernels, load_profile("h100_sxm"))
    assert (f"__cluster_dims__({cluster}, 1, 1)" in source) == named


@pytest.mark.parametrize(
    ("gpu", "dtype"),
    [("h100_sxm", "bf16"), ("a100_sxm_80gb", "bf16"), ("rtx_4090", "fp16"), ("t4", "fp16")],
)
def test_promises_hold_on_every_gpu(fake_kernels: Kernels, gpu: str, dtype: str) -> None:
    report = compiled_report(fake_kernels, hand_made(gpu, dtype=dtype))
    assert report.broken_promises() == []
    assert 64 <= report.registers <= 88
    assert report.shared_memory == 2304
    assert report.compiler.startswith("nvrtc 13.")
    assert not report.cached


def test_the_compiler_is_held_to_the_predicted_registers(fake_kernels: Kernels) -> None:
    free = compiled_report(fake_kernels, hand_made(registers=200))
    held = compiled_report(fake_kernels, hand_made(registers=40))
    assert free.registers > 40 >= held.registers
    assert held.spills
    assert any("spills" in broken for broken in held.broken_promises())


def test_wrong_shared_memory_does_not_compile(fake_kernels: Kernels) -> None:
    with pytest.raises(CompilationError, match="shared memory as solved"):
        compiled_report(fake_kernels, hand_made(shared_memory=2320))


def test_occupancy_is_held_against_the_promise(fake_kernels: Kernels) -> None:
    report = compiled_report(fake_kernels, hand_made())
    assert report.blocks_per_sm >= 2
    broken = replace(report, predicted_blocks_per_sm=report.blocks_per_sm + 1).broken_promises()
    assert broken == [f"{report.blocks_per_sm} blocks per SM, {report.blocks_per_sm + 1} predicted"]


def test_registers_that_are_handed_around_must_be_there(fake_kernels: Kernels) -> None:
    """What takes more than its launch has (setmaxnreg) would wait for ever."""
    report = compiled_report(fake_kernels, hand_made())
    fewer = replace(report, predicted_registers=report.registers + 8)
    assert fewer.broken_promises() == []
    (broken,) = replace(fewer, moves_registers=True).broken_promises()
    assert "registers to exchange" in broken
    assert replace(report, predicted_registers=report.registers, moves_registers=True).broken_promises() == []


def test_structs_of_arguments_are_for_the_compiler_what_is_packed(fake_kernels: Kernels) -> None:
    """Of the kernels and of the stand-in, whose launches fail where theirs are smaller than what they get."""
    from cuda.core import Program, ProgramOptions

    checked = []
    for root in (data_folder("kernels"), fake_kernels.root):
        header = root / "common" / "arguments.cuh"
        lines = [f'#include "{header}"', "using namespace kerneltune;"]
        for struct in re.findall(
            r"^struct (\w+)(?: : \w+)? {", header.read_text(encoding="utf-8"), re.MULTILINE
        ):
            expected = layout(struct)
            assert expected.fields is not None
            lines.append(f"static_assert(sizeof({struct}) == {expected.itemsize});")
            lines += [
                f"static_assert(__builtin_offsetof({struct}, {name}) == {offset});"
                for name, (_, offset, *_) in expected.fields.items()
            ]
            checked.append(struct)
        lines.append('extern "C" __global__ void kernel() {}')
        options = ProgramOptions(arch="sm_90", std="c++17")
        Program("\n".join(lines), "c++", options).compile("cubin")
    assert sorted(checked) == sorted([*FIELDS, "ForwardArguments"])


def test_second_compilation_comes_from_the_cache(fake_kernels: Kernels) -> None:
    compiler = Compiler(fake_kernels, load_profile("h100_sxm"))
    first, second = compiler.compile(hand_made()), compiler.compile(hand_made())
    assert not first.report.cached
    assert second.report.cached
    assert first.cubin == second.cubin
    assert replace(second.report, cached=False) == first.report


def test_damaged_cache_entry_is_compiled_again(fake_kernels: Kernels, tmp_path: Path) -> None:
    compiler = Compiler(fake_kernels, load_profile("h100_sxm"), cache=CubinCache(tmp_path))
    first = compiler.compile(hand_made())
    (entry,) = (tmp_path / "cubins").glob("*.cubin")
    entry.write_bytes(first.cubin[:100])
    again = compiler.compile(hand_made())
    assert not again.report.cached
    assert again.cubin == first.cubin


def test_a_cache_that_cannot_be_written_costs_nothing_else(fake_kernels: Kernels, tmp_path: Path) -> None:
    (tmp_path / "cubins").write_text("in the way")
    compiler = Compiler(fake_kernels, load_profile("h100_sxm"), cache=CubinCache(tmp_path))
    assert compiler.compile(hand_made()).report.broken_promises() == []


def test_cache_key_depends_on_the_kernel_source(fake_kernels: Kernels, tmp_path: Path) -> None:
    import shutil

    from kerneltune.inputs.descriptions import discover

    root = tmp_path / "kernels"
    shutil.copytree(fake_kernels.root, root)
    cache = CubinCache(tmp_path)
    Compiler(discover(root), load_profile("h100_sxm"), cache=cache).compile(hand_made())
    header = root / "cells" / "echo" / "cell.cuh"
    header.write_text(header.read_text(encoding="utf-8") + "// changed\n", encoding="utf-8")
    again = Compiler(discover(root), load_profile("h100_sxm"), cache=cache).compile(hand_made())
    assert not again.report.cached


def test_unknown_compiler(fake_kernels: Kernels) -> None:
    with pytest.raises(InputError, match="unknown compiler 'nvcx': did you mean 'nvcc'"):
        Compiler(fake_kernels, load_profile("h100_sxm"), backend="nvcx")


def test_absent_nvcc_is_said(fake_kernels: Kernels, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(CompilationError, match="nvcc is not on PATH: use --compiler nvrtc"):
        Compiler(fake_kernels, load_profile("h100_sxm"), backend="nvcc")


def test_nvcc_backend_reads_the_same_report(
    fake_kernels: Kernels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stand-in nvcc that answers as the real one does: the command line and the log are what is tested."""
    stand_in = tmp_path / "nvcc"
    log = "ptxas info    : Used 77 registers, used 1 barriers, 144 bytes smem"
    frame = "    8 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads"
    stand_in.write_text(
        "#!/bin/sh\n"
        'if [ "$1" = --version ]; then echo "Cuda compilation tools, release 13.0, V13.0.88"; exit; fi\n'
        'if [ "$1" = --list-gpu-code ]; then echo sm_80; echo sm_90; exit; fi\n'
        f'echo "$@" > {tmp_path}/command\n'
        'while [ "$1" != -o ]; do shift; done; echo cubin > "$2"\n'
        f'echo "{frame}" >&2; echo "{log}" >&2\n'
    )
    stand_in.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    report = compiled_report(fake_kernels, hand_made(), backend="nvcc")
    assert report.compiler == "nvcc 13.0"
    assert (report.registers, report.stack, report.spill_stores, report.spill_loads) == (77, 8, 12, 16)
    assert report.shared_memory == 2304 + 144
    assert re.search(r"\b2448 bytes of shared memory, 2304 predicted", " ".join(report.broken_promises()))
    command = (tmp_path / "command").read_text()
    assert "-arch=sm_90a" in command
    assert "-D" not in command
    macros = Compiler(fake_kernels, load_profile("h100_sxm"), backend="nvcc", defines=("ONE", "OTHER=2"))
    assert not macros.compile(hand_made()).report.cached  # though the source is the same
    assert " -DONE -DOTHER=2 " in (tmp_path / "command").read_text()
    assert "-maxrregcount 88" in command
    odd = structs.replace(load_profile("h100_sxm"), target="sm_9000")
    with pytest.raises(InputError, match=r"target is sm_9000, but nvcc 13\.0 knows sm_80, sm_90$"):
        Compiler(fake_kernels, odd, backend="nvcc").compile(hand_made())


def test_a_target_that_does_not_exist_is_the_profiles_fault(fake_kernels: Kernels) -> None:
    odd = structs.replace(load_profile("h100_sxm"), target="sm_9000")
    with pytest.raises(InputError, match=r"target is sm_9000, but nvrtc 13\.\d+ knows sm_75, .*sm_90"):
        Compiler(fake_kernels, odd).compile(hand_made())


def test_gpus_that_the_compiler_has_left_out_are_told_which_compiles_for_them() -> None:
    with pytest.raises(InputError) as own:
        compile_job(Job("__global__ void f() { }", "sm_70", ("f",)), None)
    with pytest.raises(InputError) as tiling:
        check_target("sm_70", known_targets(), "nvrtc 13.0")
    for words in ("target is sm_70", "sm_75", "use CUDA 12", "nvcc (--compiler nvcc", "cuda-bindings<13"):
        assert words in str(own.value)
        assert words in str(tiling.value)
    with pytest.raises(InputError) as newer:
        check_target("sm_999a", known_targets(), "nvrtc 13.0")
    assert "CUDA 12" not in str(newer.value)


USES = {
    "stdio.h": 'printf("%d", n);',
    "cstdlib": "o[0] = abs(-n);",
    "string.h": "memcpy(o, o + n, 16);",
    "stddef.h": "o[0] = sizeof(size_t);",
    "cmath": "o[0] = M_PI + fmaxf(NAN, INFINITY) + sqrt(2.0);",
    "assert.h": "assert(n > 0);",
    "stdint.h": "uint8_t small = n; int64_t large = n; o[0] = small + large + UINT8_MAX;",
    "float.h": "o[0] = FLT_MAX;",
    "climits": "o[0] = INT_MAX;",
}


@pytest.mark.parametrize("header", sorted(HEADERS))
def test_headers_of_the_c_library_may_be_included(header: str, tmp_path: Path) -> None:
    """NVRTC has none of them; kernels include them for what device code has built in."""
    body = USES.get(header, "o[0] = n;")
    source = 'extern "C" __global__ void f(float* o, int n) { ' + body + " }"
    alone = compile_job(Job(f"#include <{header}>\n#include <cuda_fp16.h>\n{source}", "sm_80", ("f",)), None)
    assert alone.registers > 0
    (tmp_path / "mine.h").write_text(f"#include <{header}>\n")
    within = Job(f'#include "mine.h"\n{source}', "sm_80", ("f",), (f"-I{tmp_path}",))
    assert compile_job(within, None).registers > 0


def test_all_headers_go_together() -> None:
    included = "".join(f"#include <{name}>\n" for name in HEADERS)
    whole = f'{included}extern "C" __global__ void f(float* o, int n) {{ {"".join(USES.values())} }}'
    assert compile_job(Job(whole, "sm_80", ("f",)), None).registers > 0
    with pytest.raises(CompilationError, match="iostream"):
        compile_job(Job(f"#include <iostream>\n{whole}", "sm_80", ("f",)), None)
