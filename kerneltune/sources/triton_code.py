"""Triton functions compiled for a named GPU: without one, and without torch."""

from __future__ import annotations

import contextlib
import inspect
import math
import re
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from kerneltune.compiling.machine_code import instructions, registers_and_frame
from kerneltune.errors import CompilationError, InputError, MissingExtraError, nearest
from kerneltune.messages import Built, Order, OwnLaunch
from kerneltune.sources.arguments import NUMBER
from kerneltune.sources.references import resolved
from kerneltune.sources.targets import without_autotuner

SPECIAL = ("num_warps", "num_stages", "num_ctas", "maxnreg")  # parameters of a launch, not of the function
TARGET = re.compile(r"sm_(\d+)[af]?")
WARP = 32
POINTER = "*"
NUMBERS = {"i1", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "fp32", "fp64"}  # as they are passed
MOST_SCRATCH = 2  # pointers to scratch memory that Triton adds behind the arguments
_ENTRY = re.compile(r"\.entry\s+[\w$]+\s*\((.*?)\)", re.DOTALL)
_THREADS = re.compile(r"\.reqntid\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?")


def keywords(function: Any, configuration: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that a Triton function takes by name, and those of its launch."""
    return {k: v for k, v in configuration.items() if k in function.arg_names or k in SPECIAL}


def check_parameters(function: Any, given: int, names: Iterable[str], also: Iterable[str]) -> None:
    """Compare the parameters of a space with those of a Triton function.

    Args:
        function: The function.
        given: How many of its first arguments are arrays and numbers; 0: they are not known.
        names: The parameters.
        also: Those that the launch's expressions use.

    Raises:
        InputError: A parameter changes nothing, or the function's own has no value.
    """
    named, used = list(names), set(also)
    known = [*function.arg_names, *SPECIAL]
    for name in named:
        if name not in known and name not in used:
            raise InputError(
                f"the Triton function has no parameter '{name}', and no expression of its launch names it: "
                f"{nearest(name, known)}"
            )
    signature = inspect.signature(_plain(function)).parameters
    for name in list(function.arg_names)[given:] if given else ():
        if name not in named and name in signature and signature[name].default is inspect.Parameter.empty:
            raise InputError(f"the Triton function's '{name}' has no value: {nearest(name, named)}")


def _plain(function: Any) -> Any:
    """The Python function below Triton's decorators."""
    while hasattr(function, "fn"):
        function = function.fn
    return function


def compiled_function(order: Order) -> Built:
    """The machine code of a configuration, which is in Triton's cache as well.

    Raises:
        CompilationError: Triton refuses it.
        MissingExtraError: Triton is not installed.
    """
    function = without_autotuner(resolved(order.source))
    _aim_at(order.target)
    from triton.runtime.jit import MockTensor

    # Triton reads nothing of an array but its type, and takes addresses to be multiples of 16.
    values = [value if kind == NUMBER else MockTensor(dtype) for kind, dtype, value in order.signature]
    started = time.perf_counter()
    taken = keywords(function, order.configuration)
    try:
        made = _without_torch(lambda: function.warmup(*values, grid=(1,), **taken))
    except Exception as error:  # Triton's own classes
        raise CompilationError(f"Triton refused the function: {_words(error)}") from None
    seconds = round(time.perf_counter() - started, 4)
    return _built(made, function, len(values), seconds)


def _without_torch(compile_it: Callable[[], Any]) -> Any:
    """A compilation in which torch is not imported, unless it needs it.

    Triton 3.5 to 3.8 look for torch's class of tensors, and importing torch takes seconds.
    """
    if "torch" in sys.modules:
        return compile_it()
    sys.modules["torch"] = None  # type: ignore[assignment]  # as `import` defines it: there is none
    with contextlib.suppress(Exception):
        return compile_it()
    del sys.modules["torch"]
    return compile_it()  # it may have failed for want of torch


def _words(error: Exception) -> str:
    """The cause of an error of Triton, with the user's line."""
    lines = [line.rstrip() for line in str(error).strip().splitlines()] or [""]
    cause = error.__cause__
    more = f": {cause}" if cause is not None and str(cause) not in str(error) else ""
    return f"{type(error).__name__}: {' / '.join(lines[:6])}{more}"[:1000]


def _built(made: Any, function: Any, given: int, seconds: float) -> Built:
    import triton

    metadata = made.metadata
    shared = int(getattr(metadata, "shared", 0) or 0)
    told: dict[str, Any] = {
        "shared_memory": shared,
        "seconds": seconds,
        "compiler": f"triton {triton.__version__}",
    }
    cubin = made.asm.get("cubin") if hasattr(made.asm, "get") else None
    if not isinstance(cubin, bytes):
        return Built(**told)
    name = str(metadata.name)
    registers, frame = registers_and_frame(cubin)
    told |= {"registers": registers, "spills": frame, "instructions": instructions(cubin, name)}
    launch = _launch(made, function, given)
    if launch is None:
        return Built(**told)
    return Built(cubin=cubin, lowered=(name,), launch=launch, **told)


def _launch(made: Any, function: Any, given: int) -> OwnLaunch | None:
    """How the driver launches a compiled function; None: only Triton can.

    Only Triton launches clusters, cooperative grids and descriptors of arrays, and gives scratch memory.
    """
    metadata, text = made.metadata, str(made.asm.get("ptx") or "")
    entry, threads = _ENTRY.search(text), _THREADS.search(text)
    signature = getattr(made.src, "signature", None)
    if entry is None or not isinstance(signature, dict):
        return None
    if int(getattr(metadata, "num_ctas", 1) or 1) != 1 or getattr(metadata, "launch_cooperative_grid", False):
        return None
    if getattr(metadata, "global_scratch_size", 0) or getattr(metadata, "profile_scratch_size", 0):
        return None
    types = [signature.get(name, "constexpr") for name in function.arg_names]
    passed = ["" if one == "constexpr" else str(one) for one in types]
    if any(passed[given:]) or not all(one in NUMBERS or _is_pointer(one) for one in passed if one):
        return None
    scratch = entry[1].count(".param") - sum(1 for one in passed if one)
    if not 0 <= scratch <= MOST_SCRATCH:
        return None
    warps = int(metadata.num_warps) * WARP
    block = warps if threads is None else math.prod(int(one) for one in threads.groups() if one)
    shared = int(getattr(metadata, "shared", 0) or 0)
    return OwnLaunch((block, 1, 1), shared, tuple(passed[:given]), scratch)


def _is_pointer(kind: str) -> bool:
    return kind.startswith(POINTER)


class _NamedTarget:
    """A GPU that is not here, in the place of Triton's driver while it compiles."""

    def __init__(self, capability: int) -> None:
        from triton.backends.compiler import GPUTarget

        self._capability, self._target = capability, GPUTarget("cuda", capability, WARP)

    def get_current_target(self) -> Any:
        """The GPU."""
        return self._target

    def get_current_device(self) -> int:
        """A number of the device, by which Triton keeps what it compiled for it."""
        return self._capability

    def get_current_stream(self, device: object = None) -> int:
        """The default stream, on which nothing runs."""
        return 0


def _aim_at(target: str) -> None:
    """Let Triton compile for a target, such as `sm_90a`."""
    found = TARGET.fullmatch(target)
    if found is None:
        raise InputError(f"Triton compiles for no target '{target}': sm_ and a number is expected")
    try:
        from triton.runtime.driver import driver

        driver.set_active(_NamedTarget(int(found[1])))
    except ImportError:
        raise MissingExtraError("compiling Triton functions", "torch") from None
