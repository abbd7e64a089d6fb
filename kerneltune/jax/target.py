"""The one target that XLA calls: it launches the kernel that the call's attribute names."""

from __future__ import annotations

import ctypes
import json
from dataclasses import asdict, dataclass, replace
from functools import cache
from threading import Lock
from typing import Any

import jax
import jax.numpy as jnp

from kerneltune.compiling.arguments import packed
from kerneltune.compiling.ready import ReadyKernel, Supply, supply_of
from kerneltune.compiling.scan_arguments import INPUTS, OUTPUTS
from kerneltune.errors import KernelTuneError
from kerneltune.inputs.descriptions import discover
from kerneltune.inputs.request import Request, request_from_json
from kerneltune.inputs.scan_descriptions import discover_scans
from kerneltune.inputs.scan_problem import ScanProblem
from kerneltune.jax.call_frame import (
    EXECUTE,
    CallFrame,
    Handler,
    addresses,
    answers_metadata,
    error,
    stream_of,
    text_attribute,
)
from kerneltune.running import driver
from kerneltune.running.detect import profile_here
from kerneltune.running.launch import ExtendedKernel
from kerneltune.running.scan_arrays import state_width, widths_of
from kerneltune.running.stepwise import kernel_of

TARGET = "kerneltune_launch"


@dataclass(frozen=True)
class KernelCall:
    """The attribute of a call: the request, and the arguments' names in order."""

    problem: Request
    arguments: tuple[str, ...]
    results: tuple[str, ...]

    def text(self) -> str:
        """The attribute; `of` is the inverse."""
        return json.dumps([asdict(self.problem), self.arguments, self.results], sort_keys=True)

    @classmethod
    @cache
    def of(cls, text: str) -> KernelCall:
        """The call that a text describes; raises `ValueError` or `InputError` for any other text."""
        problem, arguments, results = json.loads(text)
        return cls(request_from_json(problem), tuple(arguments), tuple(results))


@cache
def supply(*, of_scans: bool = False) -> Supply:
    """The kernels for this machine's GPU, of recurrent layers or of scans."""
    return supply_of(profile_here(), discover_scans() if of_scans else discover())


def ready(problem: Request) -> ReadyKernel:
    """The kernel of a request."""
    return supply(of_scans=isinstance(problem, ScanProblem)).get(_made_for(problem))


def begin(problem: Request) -> None:
    """Have the kernel of a request solved and compiled meanwhile."""
    supply(of_scans=isinstance(problem, ScanProblem)).begin(_made_for(problem))


def _made_for(problem: Request) -> Request:
    """The request that is solved: a scan's kernel serves fewer steps, too, so powers of two are enough."""
    if not isinstance(problem, ScanProblem):
        return problem
    return replace(problem, steps=1 << (problem.steps - 1).bit_length())


def called(
    problem: Request, given: dict[str, jax.Array], wanted: dict[str, jax.ShapeDtypeStruct]
) -> dict[str, jax.Array]:
    """A call of the target; the workspace is one of its results, so XLA gives its memory."""
    register()
    if problem.direction == "training":
        begin(replace(problem, direction="backward"))
    size = ready(problem).candidate.workspace
    if size:
        wanted = {**wanted, "workspace": jax.ShapeDtypeStruct((size,), jnp.uint8)}
    call = KernelCall(problem, tuple(given), tuple(wanted))
    made = jax.ffi.ffi_call(TARGET, list(wanted.values()))(*given.values(), request=call.text())
    found = dict(zip(wanted, made, strict=True))
    found.pop("workspace", None)
    return found


@dataclass(frozen=True)
class _Loaded:
    ready: ReadyKernel
    kernel: ExtendedKernel


class Launches:
    """Kernels by request and context."""

    def __init__(self) -> None:
        self._loaded: dict[tuple[str, int], _Loaded] = {}
        self._lock = Lock()

    def launch(self, text: str, places: dict[str, int], stream: int) -> None:
        """Queue the work of a call: the initial states, the workspace, the kernel."""
        call = KernelCall.of(text)
        context = ctypes.c_void_p()
        driver.call(
            "asking for the context", "cuStreamGetCtx", ctypes.c_void_p(stream), ctypes.byref(context)
        )
        with self._lock:
            loaded = self._loaded.get((text, context.value or 0))
            if loaded is None:
                driver.call("setting the context", "cuCtxSetCurrent", context)
                found = ready(call.problem)
                kernel = kernel_of(found.cubin, found.candidate, cooperative=found.cooperative)
                loaded = self._loaded[text, context.value or 0] = _Loaded(found, kernel)
            _start(call.problem, places, stream)
            candidate = loaded.ready.candidate
            if candidate.workspace:
                fill = driver.library().cuMemsetD8Async
                status = fill(places["workspace"], candidate.workspace_fill, candidate.workspace, stream)
                driver.check("filling the workspace", status)
            arguments = _packed(call.problem, places)
            ctypes.memmove(loaded.kernel.arguments, arguments, len(arguments))
            loaded.kernel.queue(stream)


def _packed(problem: Request, places: dict[str, int]) -> bytes:
    """The kernel's parameter."""
    if not isinstance(problem, ScanProblem):
        return packed(problem, places)
    cell, channels = discover_scans().cell(problem.cell), problem.channels
    widths = dict(zip(INPUTS, widths_of(cell), strict=False))
    widths |= dict.fromkeys(("hidden", "gradient", "output0"), state_width(cell))
    if problem.direction == "backward":
        widths |= dict(zip(OUTPUTS, widths_of(cell), strict=False))
    strides = {name: (problem.steps * channels * width, channels * width) for name, width in widths.items()}
    return packed(problem, places, strides)


def _start(problem: Request, places: dict[str, int], stream: int) -> None:
    """Copy the initial states of a recurrent layer to index 0 of time."""
    if "initial" not in places or isinstance(problem, ScanProblem):
        return
    cell = discover().cell(problem.cell).spec
    size = problem.batch * problem.heads * problem.head_dim * problem.dtype_bytes
    copy = driver.library().cuMemcpyDtoDAsync_v2
    for state in range(len(cell.states)):
        to = places["states"] + state * (problem.steps + 1) * size
        driver.check("copying the initial states", copy(to, places["initial"] + state * size, size, stream))


@cache
def launches() -> Launches:
    """The launches of this process."""
    return Launches()


def _handle(pointer: Any) -> int | None:
    frame: CallFrame = pointer.contents
    if answers_metadata(frame):
        return None
    try:
        if frame.stage != EXECUTE:
            return None
        text = text_attribute(frame)
        call = KernelCall.of(text)
        places = dict(zip(call.arguments, addresses(frame.arguments), strict=True))
        places |= zip(call.results, addresses(frame.results), strict=True)
        launches().launch(text, places, stream_of(frame))
    except (KernelTuneError, ValueError, KeyError, TypeError) as failure:
        return error(frame, f"kerneltune: {failure}")
    return None


_HANDLER = Handler(_handle)  # XLA keeps its address, so it must live as long as the process


@cache
def register(platform: str = "CUDA") -> None:
    """Make the target known to XLA, once for each platform."""
    address = ctypes.cast(_HANDLER, ctypes.c_void_p)
    jax.ffi.register_ffi_target(TARGET, jax.ffi.pycapsule(address), platform)
