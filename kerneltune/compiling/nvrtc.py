"""CUDA C++ of users compiled by NVRTC, on machines without a GPU: name expressions, macros, resources."""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from constrint.support.children import search_path
from constrint.support.files import read_file
from kerneltune.compiling.compiler_output import CompilerOutput
from kerneltune.compiling.cubin_cache import CubinCache
from kerneltune.compiling.host_headers import host_headers
from kerneltune.compiling.known_targets import check_target
from kerneltune.compiling.machine_code import instructions
from kerneltune.errors import CompilationError, MissingExtraError
from kerneltune.messages import Built, Order

STANDARD = "-std=c++17"
# What is asked of each compilation: ptxas's log, which NVRTC's own cache (since 12.9) has not.
REPORTS = ("--ptxas-options=-v", "--no-cache")
LOWERED = "kerneltune lowered: "  # a line of a cached log
SHOWN_CHARACTERS = 1000  # most characters of the compiler's complaints
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)


@dataclass(frozen=True)
class Job:
    """One compilation: a source with macros and options for a target, and the names that are asked for."""

    source: str
    target: str
    names: tuple[str, ...]
    options: tuple[str, ...] = ()
    registers: int | None = None
    kernels: int = 1  # the first names are kernels

    def arguments(self) -> list[str]:
        """The compiler's options."""
        found = [f"--gpu-architecture={self.target}", *self.options]
        if not any(one.startswith(("-std", "--std")) for one in self.options):
            found.append(STANDARD)
        if self.registers is not None:
            found.append(f"--maxrregcount={self.registers}")
        return found


def job_of(order: Order) -> Job:
    """The compilation that an order asks for: its kernel, and its constant memory."""
    kernels = order.entry, *(one.entry for one in order.then)
    names = (*kernels, *(f"&{name}" for name in order.symbols))
    return Job(order.source, order.target, names, order.options, order.registers, len(kernels))


def compile_job(job: Job, cache: CubinCache | None) -> Built:
    """The kernel of a job, from the cache if it is there.

    Raises:
        CompilationError: The compiler refuses the source.
        MissingExtraError: NVRTC is not installed.
    """
    version = compiler_version()
    content = [version, job.source, *job.arguments(), *REPORTS, *job.names, *header_options()]
    texts = own_headers(job.source, job.options)
    stand_ins = host_headers(name for text in (job.source, *texts) for name in INCLUDE.findall(text))
    content += [*texts, *stand_ins.values()]
    key = hashlib.sha256("\0".join(content).encode()).hexdigest()
    output = cache.load(key) if cache is not None else None
    if output is None:
        started = time.perf_counter()
        cubin, log = _build(job, stand_ins)
        output = CompilerOutput(cubin, log, version, round(time.perf_counter() - started, 4))
        if cache is not None:
            cache.store(key, output)
    lowered = [line.removeprefix(LOWERED) for line in output.log.splitlines() if line.startswith(LOWERED)]
    each = [resources(output.log, name) for name in lowered[: job.kernels]]
    registers, shared, _ = each[0]
    return Built(
        cubin=output.cubin,
        lowered=tuple(lowered),
        registers=registers,
        shared_memory=shared,
        spills=sum(spills for _, _, spills in each),
        then=tuple((registers, shared) for registers, shared, _ in each[1:]),
        instructions=instructions(output.cubin, lowered[0]),
        seconds=0.0 if output.cached else output.seconds,
        cached=output.cached,
        compiler=output.compiler,
    )


def resources(log: str, kernel: str) -> tuple[int, int, int]:
    """Registers, static shared memory and bytes of spills in ptxas's log; 0 if it says nothing."""
    start = max(log.find(f"Compiling entry function '{kernel}'"), 0)
    end = log.find("Compiling entry function", start + 1)
    part = log[start : end if end > 0 else len(log)]

    def number(pattern: str) -> int:
        return sum(int(found) for found in re.findall(pattern, part)[:1])

    spills = number(r"(\d+) bytes spill stores") + number(r"(\d+) bytes spill loads")
    return number(r"Used (\d+) registers"), number(r"\b(\d+) bytes smem"), spills


@cache
def compiler_version() -> str:
    """NVRTC's version, such as ``nvrtc 13.0``."""
    nvrtc = _nvrtc()
    try:
        _, major, minor = nvrtc.nvrtcVersion()
    except RuntimeError as error:
        raise CompilationError(f"NVRTC cannot be loaded: {error}") from None
    return f"nvrtc {major}.{minor}"


def _nvrtc() -> ModuleType:
    try:
        from cuda.bindings import nvrtc
    except ImportError:
        raise MissingExtraError("compiling with NVRTC", "compile") from None
    found: ModuleType = nvrtc
    return found


@cache
def header_options() -> tuple[str, ...]:
    """Folders of the toolkit's headers as options."""
    try:
        from cuda.pathfinder import find_nvidia_header_directory
    except ImportError:
        return ()
    found = [find_nvidia_header_directory(name) for name in ("cudart", "cccl")]
    # Parts of the toolkit may be installed in several places: mma.h in one, crt/mma.h in another.
    found += [str(place) for one in search_path() for place in sorted(Path(one).glob("nvidia/cu1*/include"))]
    toolkit = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH") or "/usr/local/cuda"
    found += [str(place) for place in [Path(toolkit) / "include"] if place.is_dir()]
    return tuple(f"-I{folder}" for folder in dict.fromkeys(found) if folder is not None)


def own_headers(source: str, options: Sequence[str]) -> list[str]:
    """The content of headers that a source includes from the folders of its options."""
    folders = [Path(one.removeprefix("-I")) for one in options if one.startswith("-I")]
    found: dict[Path, str] = {}
    waiting = INCLUDE.findall(source)
    while waiting:
        name = waiting.pop()
        path = next((folder / name for folder in folders if (folder / name).is_file()), None)
        if path is not None and path not in found:
            found[path] = read_file(path).decode("utf-8", "replace")
            waiting += INCLUDE.findall(found[path])
    return [found[path] for path in sorted(found)]


@cache
def known_targets() -> tuple[str, ...]:
    """The targets that NVRTC knows, such as ``sm_90``; raises `MissingExtraError` without it."""
    nvrtc = _nvrtc()
    try:
        _, numbers = nvrtc.nvrtcGetSupportedArchs()
    except RuntimeError as error:
        raise CompilationError(f"NVRTC cannot be loaded: {error}") from None
    return tuple(f"sm_{number}" for number in numbers)


def _build(job: Job, headers: Mapping[str, str]) -> tuple[bytes, str]:
    """The machine code and the log, with stand-ins for headers of the C library by their names."""
    nvrtc = _nvrtc()
    check_target(job.target, known_targets(), compiler_version())

    def call(name: str, *arguments: Any) -> Any:
        status, *results = getattr(nvrtc, name)(*arguments)
        if int(status) != 0:
            log = _log(nvrtc, program) if name == "nvrtcCompileProgram" else ""
            raise CompilationError(
                f"NVRTC refused the kernel: {log.strip()[:SHOWN_CHARACTERS] or status.name}"
            )
        return results[0] if results else None

    program: object = None
    names, texts = ([one.encode() for one in listed] for listed in (headers, headers.values()))
    source = job.source.encode()
    program = call("nvrtcCreateProgram", source, b"kernel.cu", len(names), texts or None, names or None)
    try:
        for name in job.names:
            call("nvrtcAddNameExpression", program, name.encode())
        options = [option.encode() for option in [*job.arguments(), *header_options(), *REPORTS]]
        call("nvrtcCompileProgram", program, len(options), options)
        lowered = [call("nvrtcGetLoweredName", program, name.encode()).decode() for name in job.names]
        size = call("nvrtcGetCUBINSize", program)
        cubin = bytearray(size)
        call("nvrtcGetCUBIN", program, cubin)
        log = _log(nvrtc, program) + "\n" + "\n".join(LOWERED + name for name in lowered)
    finally:
        nvrtc.nvrtcDestroyProgram(program)
    return bytes(cubin), log


def _log(nvrtc: ModuleType, program: object) -> str:
    _, size = nvrtc.nvrtcGetProgramLogSize(program)
    text = bytearray(size)  # a log of one byte in b" " would write over the b" " of the whole process
    nvrtc.nvrtcGetProgramLog(program, text)
    return str(text.decode(errors="replace")).replace("\0", "")
