"""Builds a translation unit into an executable for the emulated GPU, and runs it."""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .compiler import KERNEL_FLAGS, MACHINE_FLAGS, PREPROCESSOR_FLAGS, compiler
from .rewrite import rewrite

HERE = Path(__file__).parent


class EmulationError(Exception):
    """The kernel did what no kernel may do; the message says which thread did what."""


@dataclass(frozen=True)
class Launch:
    """The shape of a launch. All blocks run at the same time if ``all_resident``, as in a cooperative one."""

    blocks: int
    threads: int
    cluster: int
    shared_memory: int
    all_resident: bool = False


@dataclass(frozen=True)
class Buffer:
    """An array that a pointer in the kernel's argument struct points to."""

    field: str
    data: NDArray[np.generic]
    written: bool = False


class Emulator:
    """Compiles kernels below one root; what has been compiled before comes from ``folder``.

    Args:
        kernels: The root.
        folder: For what is made; emulators of several roots may share one.
        defines: Macros that the kernels find defined.
    """

    def __init__(self, kernels: Path, folder: Path, defines: tuple[str, ...] = ()) -> None:
        self.folder = _made(folder)
        self._defines = [f"-D{name}" for name in defines]
        sources = [*kernels.rglob("*.cu"), *kernels.rglob("*.cuh")]
        own = [str(compiler()).encode(), *(path.read_bytes() for path in sorted(HERE.glob("*.?pp")))]
        self._own = _digest(*own)
        self._sources = _digest(*own, *(path.read_bytes() for path in sorted(sources)))
        self._includes = ["-I", str(kernels)]

    def compile(self, source: str, kernel_name: str) -> Path:
        """The executable that runs ``kernel_name`` of the translation unit ``source``."""
        machine = self._machine()
        parts = (self._sources, *self._defines, source)
        executable = self.folder / f"kernel-{_digest(*(part.encode() for part in parts))}"
        if not executable.exists():
            with tempfile.TemporaryDirectory(dir=self.folder) as scratch:
                cuda, preprocessed = Path(scratch, "kernel.cu"), Path(scratch, "kernel.ii")
                cuda.write_text(source, encoding="utf-8")
                options = [*PREPROCESSOR_FLAGS, *self._defines, *self._includes]
                _run_compiler([*options, str(cuda), "-o", str(preprocessed)])
                unit, program = Path(scratch, "kernel.cpp"), Path(scratch, "kernel")
                body = rewrite(preprocessed.read_text(encoding="utf-8"))
                unit.write_text(f"{body}\nEMULATED_KERNEL({kernel_name})\n", encoding="utf-8")
                made = Path(scratch, "kernel.o")
                head = ["-I", str(HERE), "-include", str(self._head())]
                _run_compiler([*KERNEL_FLAGS, *head, "-c", str(unit), "-o", str(made)])
                _run_compiler([str(made), str(machine), "-o", str(program)])
                _into_place(program, executable)
        return executable

    def _head(self) -> Path:
        """What kernels include; the compiled form beside it, which compilers prefer, halves their time."""
        target = self.folder / f"head-{self._own}" / "head.hpp"
        if not target.exists():
            with tempfile.TemporaryDirectory(dir=self.folder) as scratch:
                made = Path(scratch, "head")
                made.mkdir()
                head = made / target.name
                head.write_text('#include "device.hpp"\n#include "entry.hpp"\n', encoding="utf-8")
                compiled = ["-x", "c++-header", str(head), "-o", f"{head}.gch"]
                _run_compiler([*KERNEL_FLAGS, "-I", str(HERE), *compiled])
                _into_place(made, target.parent)
        return target

    def _machine(self) -> Path:
        """All sources in one go: one by one they take thrice as long, most of it for the same headers."""
        target = self.folder / f"machine-{self._own}.o"
        if not target.exists():
            with tempfile.TemporaryDirectory(dir=self.folder) as scratch:
                unit, made = Path(scratch, "machine.cpp"), Path(scratch, target.name)
                sources = (f'#include "{source}"\n' for source in sorted(HERE.glob("*.cpp")))
                unit.write_text("".join(sources), encoding="utf-8")
                _run_compiler([*MACHINE_FLAGS, "-c", str(unit), "-o", str(made)])
                _into_place(made, target)
        return target


def run(
    executable: Path,
    launch: Launch,
    layout: np.dtype,
    scalars: Mapping[str, int],
    buffers: Sequence[Buffer],
    seed: int,
) -> dict[str, NDArray[np.generic]]:
    """Run once, in the order of threads that ``seed`` draws; the written buffers, by field.

    Args:
        executable: What `Emulator.compile` gave.
        launch: The launch's shape.
        layout: The kernel's argument struct, pointers as 8-byte fields.
        scalars: The struct's fields that are no pointers.
        buffers: What the pointers point to.
        seed: Draws the order of threads and the time that copies and stores take.
    """
    arguments = np.zeros(1, layout)
    for name, value in scalars.items():
        arguments[name] = value
    with tempfile.TemporaryDirectory(prefix="emulated-") as scratch:
        shape = (
            launch.blocks,
            launch.threads,
            launch.cluster,
            launch.shared_memory,
            int(launch.all_resident),
        )
        lines = ["launch " + " ".join(map(str, (*shape, seed))), f"arguments {scratch}/arguments"]
        Path(scratch, "arguments").write_bytes(arguments.tobytes())
        for buffer in buffers:
            path = Path(scratch, buffer.field)
            path.write_bytes(np.ascontiguousarray(buffer.data).tobytes())
            place = layout.fields[buffer.field][1]  # type: ignore[index]
            lines.append(f"buffer {path} {buffer.data.nbytes} {int(buffer.written)} {place}")
        job = Path(scratch, "job")
        job.write_text("\n".join(lines) + "\n", encoding="utf-8")
        done = subprocess.run([str(executable), str(job)], capture_output=True, text=True, check=False)
        if done.returncode:
            raise EmulationError(done.stderr.strip() or f"ended with {done.returncode}")
        return {
            b.field: np.frombuffer(Path(scratch, b.field).read_bytes(), b.data.dtype).reshape(b.data.shape)
            for b in buffers
            if b.written
        }


def _run_compiler(arguments: list[str]) -> None:
    name = compiler()
    assert name is not None, "the tests that need a C++ compiler are deselected without one"
    done = subprocess.run([name, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise EmulationError(f"{name} refused the kernel:\n{done.stderr.strip()[:4000]}")


def _digest(*parts: bytes) -> str:
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _into_place(made: Path, target: Path) -> None:
    """Another process may make the same at the same time: whoever is first wins."""
    try:
        made.rename(target)
    except OSError:
        if not target.exists():
            raise
