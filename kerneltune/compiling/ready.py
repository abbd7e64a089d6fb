"""Kernels ready to be loaded: from a bundle, kept from an earlier process, or solved and compiled now.

Requests of one layer (its forward, training and backward pass) are compiled at the same time.
"""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from kerneltune.compiling.cubin_cache import CubinCache, default_folder, keep, read_kept
from kerneltune.errors import KernelTuneError
from kerneltune.inputs.descriptions import Kernels
from kerneltune.inputs.hardware import HardwareProfile
from kerneltune.inputs.problem import Problem
from kerneltune.inputs.request import Request
from kerneltune.tiling.candidate import Candidate

if TYPE_CHECKING:
    from kerneltune.compiling.bundle import Bundle
    from kerneltune.compiling.compile import Compiler

SOURCES = (".cuh", ".cu", ".yaml", ".constrint", ".cell")  # what a kernel and its tiling depend on
COMPILERS = ("nvidia-cuda-nvrtc", "nvidia-cuda-nvrtc-cu12", "cuda-core")
MOST_WORKERS = 16


@dataclass(frozen=True)
class ReadyKernel:
    """A tiling and its cubin.

    Attributes:
        candidate: The tiling.
        cubin: The machine code.
        cooperative: Whether the launch must be cooperative.
        compiler: What compiled it.
        origin: ``bundle``, ``kept`` or ``compiled``.
    """

    candidate: Candidate
    cubin: bytes
    cooperative: bool
    compiler: str
    origin: str


@cache
def sources_digest(root: Path) -> str:
    """A hash of all kernel sources, descriptions and constraints below a folder, and of what makes them."""
    digest = hashlib.sha256()
    template = Path(__file__).with_name("translation_unit.cu.j2")
    written = sorted(Path(__file__).parents[1].joinpath("cells").glob("*.*"))
    paths = [path for path in sorted(root.rglob("*.*")) if path.suffix in SOURCES]
    for name, path in [
        ("template", template),
        *((path.name, path) for path in written if path.suffix in (".py", ".lark")),
        *((path.relative_to(root).as_posix(), path) for path in paths),
    ]:
        digest.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


@cache
def installed_compiler() -> str:
    """The installed compiler's packages and their versions; empty where there is none."""
    found = []
    for name in COMPILERS:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)


def without_steps(problem: Request) -> Request:
    """The request that stands for all of its numbers of steps: a layer's kernel is the same for each."""
    return replace(problem, steps=1) if isinstance(problem, Problem) else problem


def request_key(problem: Request, profile: HardwareProfile, *more: str) -> str:
    """A hash of a request on a GPU, whatever its number of steps."""
    described = [
        profile.to_json(),
        asdict(without_steps(problem)),
        type(problem).__name__,
        more,
    ]
    return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()


@dataclass
class Supply:
    """Kernels for one GPU, by request.

    Attributes:
        profile: The GPU.
        kernels: The folder of sources.
        strategy: The one strategy to use, or None for the solver's choice.
        bundle: Prebuilt kernels, asked first.
        cache: Where cubins are kept; by default in the user's cache folder.
    """

    profile: HardwareProfile
    kernels: Kernels
    strategy: str | None = None
    bundle: Bundle | None = None
    cache: CubinCache = field(default_factory=CubinCache)
    _begun: dict[Request, Future[ReadyKernel]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)
    _solving: Lock = field(default_factory=Lock)
    _made_compiler: Compiler | None = None

    def get(self, problem: Request) -> ReadyKernel:
        """The kernel of a request, as soon as it is there.

        Raises `InfeasibleError`, `InputError`, `CompilationError` or `MissingExtraError`.
        """
        found = self.quickly(problem)
        return found if found is not None else self.begin(problem).result()

    def begin(self, problem: Request) -> Future[ReadyKernel]:
        """Begin to solve and compile in the background, unless that has begun."""
        problem = without_steps(problem)
        with self._lock:
            future = self._begun.get(problem)
            if future is None or (future.done() and future.exception() is not None):
                future = _workers().submit(self._made, problem)
                self._begun[problem] = future
        return future

    def quickly(self, problem: Request) -> ReadyKernel | None:
        """The kernel if it is in the bundle or was kept; None if it must be compiled."""
        problem = without_steps(problem)
        if self.bundle is not None and self.strategy is None:
            try:
                found = self.bundle.find(problem, self.profile)
            except KernelTuneError as error:
                warnings.warn(f"{error}; kernels are compiled instead", RuntimeWarning, stacklevel=2)
                self.bundle = None
            else:
                if found is not None:
                    return found
        return self._kept(problem)

    def _made(self, problem: Request) -> ReadyKernel:
        kept = self.quickly(problem)
        if kept is not None:
            return kept
        from kerneltune.compiling.feedback import settle
        from kerneltune.tiling.space import TilingSpace

        space = TilingSpace(problem, self.profile, self.kernels, self.strategy)
        compiled = settle(space, self._compiler(), self._solving).compiled
        candidate = compiled.candidate
        cooperative = space.kernels.strategy(candidate.strategy).spec.cooperative
        made = ReadyKernel(candidate, compiled.cubin, cooperative, compiled.report.compiler, "compiled")
        note = {
            "candidate": candidate.to_json(),
            "cubin": compiled.key,
            "cooperative": cooperative,
            "compiler": made.compiler,
        }
        _write(self._path(problem), note)
        return made

    def _compiler(self) -> Compiler:
        with self._lock:
            if self._made_compiler is None:
                from kerneltune.compiling.compile import Compiler

                self._made_compiler = Compiler(self.kernels, self.profile, cache=self.cache)
            return self._made_compiler

    def _path(self, problem: Request) -> Path:
        about = [sources_digest(self.kernels.root), installed_compiler(), self.strategy or ""]
        if problem.cell not in self.kernels.cells:  # a file's, of which the digest knows nothing
            about.append(self.kernels.cell(problem.cell).declaration(self.kernels.root))
        return self.cache.folder.parent / "tilings" / f"{request_key(problem, self.profile, *about)}.json"

    def _kept(self, problem: Request) -> ReadyKernel | None:
        try:
            note = json.loads(read_kept(self._path(problem)) or b"")
            candidate = Candidate.from_json(note["candidate"])
            output = self.cache.load(str(note["cubin"]))
            if output is None or without_steps(candidate.problem) != problem:
                return None
            return ReadyKernel(
                candidate, output.cubin, note["cooperative"] is True, str(note["compiler"]), "kept"
            )
        except (OSError, ValueError, KeyError, TypeError, KernelTuneError):
            return None


def _write(path: Path, note: Mapping[str, object]) -> None:
    """Write JSON under a temporary name and rename it; does nothing if the folder is not writable."""
    try:
        keep(path, json.dumps(note).encode())
    except OSError:
        return


@cache
def _workers() -> ThreadPoolExecutor:
    """Threads that compile: compilers run outside of Python's lock."""
    count = min(MOST_WORKERS, os.cpu_count() or 1)
    return ThreadPoolExecutor(max(2, count), thread_name_prefix="kerneltune-compile")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_workers.cache_clear)  # a fork has none of the threads


def supply_of(
    profile: HardwareProfile,
    kernels: Kernels,
    strategy: str | None = None,
    warn: Callable[[str], None] | None = None,
) -> Supply:
    """The supply of this installation: with its bundle, if there is one that fits these sources."""
    from kerneltune.compiling.bundle import installed_bundle

    bundle = None
    try:
        bundle = installed_bundle(sources_digest(kernels.root))
    except KernelTuneError as error:
        tell = warn or (lambda text: warnings.warn(text, RuntimeWarning, stacklevel=3))
        tell(f"{error}; kernels are compiled instead")
    return Supply(profile, kernels, strategy, bundle, CubinCache(default_folder()))
