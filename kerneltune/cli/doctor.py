"""``kerneltune doctor``: what works on this machine, and what to do about the rest."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.exceptions import Exit

from kerneltune.cli.failures import print_json
from kerneltune.cli.options import HELP, json_option
from kerneltune.errors import KernelTuneError, MissingExtraError, RunError, how_to_install

if TYPE_CHECKING:
    from kerneltune.tiling.space import TilingSpace

OK, ABSENT, BROKEN = "ok", "absent", "broken"
EXTRAS = {
    "compile": ("cuda-core", "cuda-bindings", "nvidia-cuda-nvrtc", "nvidia-cuda-cccl", "nvidia-cuda-crt"),
    "gpu": ("pycuda",),
    "torch": ("torch", "numba"),
    "jax": ("jax", "flax"),
    "fit": ("scipy",),
    "tune": ("optuna", "scikit-learn"),
    "nvml": ("nvidia-ml-py",),
}
OTHERS = {"Triton": ("triton",)}  # packages that users install themselves


@dataclass(frozen=True)
class Finding:
    """One check and its result.

    Attributes:
        what: The thing, such as ``extra compile``.
        state: ``ok``; ``absent`` for what a machine may lack; ``broken`` for what should work and does not.
        detail: Versions, names or the error.
        fix: What to do, if anything.
    """

    what: str
    state: str
    detail: str
    fix: str = ""


@click.command(context_settings=HELP)
@json_option
def doctor(as_json: bool) -> None:
    """Look at what this machine has and what works. Exit code 1 if something is broken."""
    found = list(_findings())
    broken = any(finding.state == BROKEN for finding in found)
    if as_json:
        print_json({"status": BROKEN if broken else OK, "findings": [asdict(finding) for finding in found]})
    else:
        from kerneltune.cli.tables import show_findings

        show_findings(found)
    if broken:
        raise Exit(1)


def _findings() -> Iterator[Finding]:
    import platform

    yield Finding("Python", OK, f"{platform.python_version()} on {platform.platform()} ({sys.executable})")
    yield Finding("package", *_versions(("constrint",))[:2])
    for extra, packages in EXTRAS.items():
        state, detail, missing = _versions(packages)
        yield Finding(f"extra {extra}", state, detail, how_to_install(extra) if missing else "")
    for name, packages in OTHERS.items():
        state, detail, missing = _versions(packages)
        fix = f"for Triton functions: pip install {' '.join(packages)}" if missing else ""
        yield Finding(name, state, detail, fix)
    yield _tried("cache", _cache, "make the folder writable, or set KERNELTUNE_CACHE_DIR to one that is")
    yield _tried("profiles and kernels", _data, "reinstall the package")
    yield _tried("prebuilt kernels", _bundle, "install its version of constrint, or build it again")
    yield _tried("a tiling solved", _solved, "please report this")
    yield _tried("a kernel compiled", _compiled, "reinstall the extra: pip install -U 'constrint[compile]'")
    yield _tried("GPU", _gpu, "look at nvidia-smi; the driver must support CUDA 13")


def _versions(packages: tuple[str, ...]) -> tuple[str, str, bool]:
    """State, versions, and whether any of the packages is missing."""
    from importlib.metadata import PackageNotFoundError, version

    found, missing = [], []
    for name in packages:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            missing.append(name)
    detail = ", ".join([*found, *(f"{name} is not installed" for name in missing)])
    return (ABSENT if missing else OK), detail, bool(missing)


def _tried(what: str, check: Callable[[], str], fix: str) -> Finding:
    """The result of ``check``, or why it failed."""
    try:
        return Finding(what, OK, check())
    except MissingExtraError as error:
        return Finding(what, ABSENT, "not tried: an extra is missing", str(error))
    except RunError as error:
        return Finding(what, ABSENT, str(error), fix)
    except (KernelTuneError, OSError) as error:
        return Finding(what, BROKEN, str(error), fix)


def _cache() -> str:
    from kerneltune.compiling.cubin_cache import CubinCache

    folder = CubinCache().folder
    folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK):
        raise OSError(f"{folder} cannot be written")
    held = [path.stat().st_size for path in Path(folder).rglob("*") if path.is_file()]
    return f"{folder}: {len(held)} files, {sum(held) / 2**20:.1f} MiB"


def _data() -> str:
    from kerneltune.inputs.descriptions import discover
    from kerneltune.inputs.hardware import load_profile, profile_names
    from kerneltune.inputs.scan_descriptions import discover_scans

    profiles = [load_profile(name) for name in profile_names()]
    layers, scans = discover(), discover_scans()
    cells = len(layers.cells) + len(scans.cells)
    strategies = len(layers.strategies) + len(scans.strategies)
    return f"{len(profiles)} profiles, {cells} cells, {strategies} strategies"


def _bundle() -> str:
    from kerneltune.compiling.bundle import installed_bundle
    from kerneltune.compiling.ready import sources_digest
    from kerneltune.inputs.descriptions import discover

    bundle = installed_bundle(sources_digest(discover().root))
    if bundle is None:
        return "none are installed: kernels are compiled at the first call"
    held = ", ".join(f"{count} for {gpu}" for gpu, count in bundle.contents())
    return f"{bundle.path}: {held}"


def _solved() -> str:
    best = _small().best()
    return f"{best.problem.label}: {best.strategy}, {best.registers} registers a thread"


def _compiled() -> str:
    import tempfile

    from kerneltune.compiling.compile import Compiler
    from kerneltune.compiling.cubin_cache import CubinCache

    space = _small()
    with tempfile.TemporaryDirectory() as folder:  # the compiler itself, not what it left in the cache
        compiler = Compiler(space.kernels, space.profile, cache=CubinCache(Path(folder)))
        report = compiler.compile(space.best()).report
    broken = report.broken_promises()
    if broken:
        raise KernelTuneError("; ".join(broken))
    return f"{report.compiler} in {report.seconds:.1f} s, promised resources kept"


def _gpu() -> str:
    from kerneltune.running.detect import detect

    return detect().sentence


def _small() -> TilingSpace:
    from kerneltune.inputs.descriptions import discover
    from kerneltune.inputs.hardware import load_profile
    from kerneltune.inputs.problem import Problem
    from kerneltune.tiling.space import TilingSpace

    return TilingSpace(Problem("lstm", 1, 16, 1, "fp16"), load_profile("a100_sxm_80gb"), discover())
