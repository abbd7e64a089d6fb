"""Compiles candidates to cubins by NVRTC or nvcc, on machines without a GPU."""

from __future__ import annotations

import io
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from constrint.support.children import program_on_path
from kerneltune.compiling.cubin_cache import CubinCache, content_key
from kerneltune.compiling.known_targets import check_target
from kerneltune.compiling.nvrtc import compiler_version, known_targets
from kerneltune.compiling.report import CompileReport, CompilerOutput, report
from kerneltune.compiling.source import translation_unit
from kerneltune.errors import CompilationError, InputError, MissingExtraError, nearest
from kerneltune.inputs.descriptions import Kernels
from kerneltune.inputs.hardware import HardwareProfile
from kerneltune.tiling.candidate import Candidate

STANDARD = "c++17"
# With __launch_bounds__ alone, ptxas may use all registers that the occupancy allows. These options limit it
# to the predicted number.
PTXAS_OPTIONS = ("-v", "--override-directive-values")
LINES_OPTION = "-lineinfo"  # adds source lines; the instructions do not change


@dataclass(frozen=True)
class Compiled:
    """A candidate with its cubin and report. ``key`` is a hash of everything that the cubin depends on."""

    candidate: Candidate
    cubin: bytes
    report: CompileReport
    source: str
    key: str


@dataclass(frozen=True)
class _Job:
    source: str
    target: str
    include: Path
    max_registers: int
    lines: bool = False
    defines: tuple[str, ...] = ()


class Compiler:
    """Compiles candidates for one GPU. Cubins are cached.

    Args:
        kernels: The folder of sources.
        profile: The GPU.
        backend: The compiler, `nvrtc` or `nvcc`.
        cache: The cubin cache; by default in the user's cache folder.
        lines: Whether cubins have source lines.
        defines: Macros defined for the sources.
    """

    def __init__(
        self,
        kernels: Kernels,
        profile: HardwareProfile,
        *,
        backend: str = "nvrtc",
        cache: CubinCache | None = None,
        lines: bool = False,
        defines: tuple[str, ...] = (),
    ) -> None:
        if backend not in BACKENDS:
            raise InputError(f"unknown compiler '{backend}': {nearest(backend, BACKENDS)}")
        self._kernels = kernels
        self._profile = profile
        self._version, self._build = BACKENDS[backend]()
        self._cache = cache or CubinCache()
        self._lines = lines
        self._defines = defines

    def key(self, candidate: Candidate) -> str:
        """A hash of everything that the candidate's cubin depends on."""
        return self._key(self._job(candidate))

    def compile(self, candidate: Candidate) -> Compiled:
        """The candidate's cubin and report. Raises `CompilationError` if the compiler refuses it."""
        job = self._job(candidate)
        key = self._key(job)
        output = self._cache.load(key)
        if output is None:
            started = time.perf_counter()
            cubin, log = self._build(job)
            output = CompilerOutput(cubin, log, self._version, round(time.perf_counter() - started, 3))
            self._cache.store(key, output)
        return Compiled(candidate, output.cubin, report(candidate, self._profile, output), job.source, key)

    def _job(self, candidate: Candidate) -> _Job:
        return _Job(
            translation_unit(candidate, self._kernels, self._profile),
            self._profile.target,
            self._kernels.root,
            candidate.registers,
            self._lines,
            self._defines,
        )

    def _key(self, job: _Job) -> str:
        options = [*PTXAS_OPTIONS, STANDARD, job.target, str(job.max_registers)]
        options += [LINES_OPTION] if job.lines else []
        options += [f"-D{name}" for name in job.defines]
        return content_key((self._version, *options, job.source), job.include)


Build = Callable[[_Job], tuple[bytes, str]]


def _nvrtc() -> tuple[str, Build]:
    version = compiler_version()
    try:
        program_class, options_class = _program_classes()
    except ImportError:
        raise MissingExtraError("compiling with NVRTC", "compile") from None
    headers = _cuda_headers()
    targets = known_targets()

    def build(job: _Job) -> tuple[bytes, str]:
        check_target(job.target, targets, version)
        options = options_class(
            name="kerneltune.cu",
            arch=job.target,
            std=STANDARD,
            include_path=[str(job.include), *headers],
            max_register_count=job.max_registers,
            ptxas_options=list(PTXAS_OPTIONS),
            lineinfo=job.lines,
            define_macro=list(job.defines) or None,
            no_cache=True,  # NVRTC's own cache drops ptxas's log
        )
        log = io.StringIO()
        try:
            program = program_class(job.source, "c++", options)
            cubin = bytes(program.compile("cubin", logs=log).code)
        except Exception as error:  # cuda-core's exception classes are private
            raise CompilationError(f"NVRTC refused the kernel: {error}".rstrip(" \0\n")) from None
        return cubin, log.getvalue().replace("\0", "")

    return version, build


def _program_classes() -> tuple[Any, Any]:
    try:
        from cuda.core import Program, ProgramOptions
    except ImportError:  # versions before 0.5
        from cuda.core.experimental import Program, ProgramOptions
    return Program, ProgramOptions


def _cuda_headers() -> list[str]:
    """Folders of the toolkit's headers, for kernels that include them."""
    try:
        from cuda.pathfinder import find_nvidia_header_directory
    except ImportError:
        return []
    folder = find_nvidia_header_directory("cudart")
    return [] if folder is None else [str(folder)]


def _nvcc() -> tuple[str, Build]:
    nvcc = program_on_path("nvcc")
    if nvcc is None:
        raise CompilationError("nvcc is not on PATH: use --compiler nvrtc, which needs no CUDA toolkit")
    banner = subprocess.run([nvcc, "--version"], capture_output=True, text=True, check=False).stdout
    version = f"nvcc {banner.partition('release ')[2].partition(',')[0] or 'unknown'}"
    listed = subprocess.run([nvcc, "--list-gpu-code"], capture_output=True, text=True, check=False)
    targets = listed.stdout.split() if listed.returncode == 0 else []

    def build(job: _Job) -> tuple[bytes, str]:
        check_target(job.target, targets, version)
        with tempfile.TemporaryDirectory() as folder:
            source, cubin = Path(folder, "kerneltune.cu"), Path(folder, "kerneltune.cubin")
            source.write_text(job.source, encoding="utf-8")
            command = [nvcc, "-cubin", f"-arch={job.target}", f"-std={STANDARD}", "-I", str(job.include)]
            command += [LINES_OPTION] if job.lines else []
            command += [f"-D{name}" for name in job.defines]
            command += ["-maxrregcount", str(job.max_registers), "-Xptxas", ",".join(PTXAS_OPTIONS)]
            done = subprocess.run(
                [*command, "-o", str(cubin), str(source)], capture_output=True, text=True, check=False
            )
            if done.returncode:
                raise CompilationError(f"nvcc refused the kernel:\n{done.stderr.strip()}")
            return cubin.read_bytes(), done.stderr

    return version, build


BACKENDS: dict[str, Callable[[], tuple[str, Build]]] = {"nvrtc": _nvrtc, "nvcc": _nvcc}
