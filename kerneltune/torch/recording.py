"""Records what is queued on a CUDA stream as a graph, so that the host queues all of it at once later.

While a stream is recorded, CUDA refuses some calls of all threads, such as to wait for the device. So nothing
is recorded while there are threads in which such calls could come: any of Python's besides the main one and
those of libraries that are known not to make them. `KERNELTUNE_GRAPHS` set to 1 records all the same, set to
0 never.
"""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Callable, Hashable
from contextlib import suppress
from functools import cache
from threading import RLock, Thread
from typing import TypeVar

import torch

from kerneltune.torch.precision import of_products

SWITCH = "KERNELTUNE_GRAPHS"
QUIET = (  # libraries whose threads leave the GPU alone
    *("multiprocessing", "concurrent.futures.process", "torch.utils.data", "torch._inductor.compile_worker"),
    *("tqdm", "wandb", "tensorboard", "tensorboardX", "IPython", "ipykernel", "zmq", "tornado"),
    *("debugpy", "pydevd", "_pydevd_bundle"),
)
OWN = "kerneltune-compile"  # names of threads that begin so compile
WORKSPACE = 2**25  # bytes that cuBLAS takes for a graph
SHARE = 32  # graphs hold so small a part of a GPU's memory at most
Result = TypeVar("Result")


class CudaGraphs:
    """Graphs of the streams that calls run on."""

    def __init__(self) -> None:
        told = os.environ.get(SWITCH, "")
        self._on, self._always = told != "0", told == "1"
        self._sides: dict[tuple[int, int], torch.cuda.Stream] = {}
        self._held: dict[int, int] = {}
        self._lock = RLock()

    def place(self, data: torch.Tensor) -> Hashable | None:
        """The key of recorded work besides its tensors: GPU, stream, and modes of torch.

        None where nothing is recorded: switched off, not on this thread's GPU, within a recording.
        """
        if not self._on or not data.is_cuda:
            return None
        index = data.get_device()
        if torch._C._cuda_getDevice() != index or torch.cuda.is_current_stream_capturing():
            return None
        return (
            index,
            torch._C._cuda_getCurrentRawStream(index),
            torch.is_inference_mode_enabled(),
            of_products(),
            torch._C._get_deterministic_algorithms(),
        )

    def may(self) -> bool:
        """Whether no other thread could be disturbed by a recording now."""
        return self._always or all(_leaves_gpu_alone(one) for one in threading.enumerate())

    def take(self, size: int) -> Callable[[], None] | None:
        """Set so many bytes of this thread's GPU aside.

        What gives them back is returned, or None where there is no room.
        """
        index = torch.cuda.current_device()
        size += WORKSPACE
        with self._lock:
            held = self._held.get(index, 0)
            if SHARE * (held + size) > torch.cuda.get_device_properties(index).total_memory:
                return None
            self._held[index] = held + size

        def give_back() -> None:
            with self._lock:
                self._held[index] -= size

        return give_back

    def pool(self) -> Hashable:
        """Memory for graphs of which none runs beside another."""
        made: Hashable = torch.cuda.graph_pool_handle()
        return made

    def record(self, pool: object, work: Callable[[], Result]) -> tuple[Callable[[], None], Result]:
        """Record work that only queues on the current stream: what replays it there, and what it gave.

        What it gave keeps its memory as long as it is referred to. What it needed meanwhile may lie where
        other graphs of the pool have what they give or need. Raises RuntimeError where recording fails.
        """
        with self._lock:  # threads record one after another
            return self._record(self._side(), pool, work)

    def _record(
        self, side: torch.cuda.Stream, pool: object, work: Callable[[], Result]
    ) -> tuple[Callable[[], None], Result]:
        side.wait_stream(torch.cuda.current_stream())
        graph, random = torch.cuda.CUDAGraph(), _random_state()
        collects = gc.isenabled()
        gc.disable()  # what it frees might not be allowed in a recording
        torch._C._cuda_clearCublasWorkspaces()  # cuBLAS takes one out of the graph's memory,
        try:
            with torch.cuda.stream(side):
                graph.capture_begin(pool=pool, capture_error_mode="thread_local")
                try:
                    result = work()
                finally:
                    graph.capture_end()
        except RuntimeError:
            _set_random_state(random)
            raise
        finally:
            torch._C._cuda_clearCublasWorkspaces()  # and none else may have it
            if collects:
                gc.enable()
        return graph.replay, result

    def _side(self) -> torch.cuda.Stream:
        """The stream that work is recorded on in place of the current one."""
        index = torch.cuda.current_device()
        key = index, torch._C._cuda_getCurrentRawStream(index)
        if key not in self._sides:
            self._sides[key] = torch.cuda.Stream()
        return self._sides[key]


def _random_state() -> object:
    """A copy of the random state of this thread's GPU; None where torch gives none."""
    with suppress(AttributeError, RuntimeError):
        return torch.cuda.default_generators[torch.cuda.current_device()].clone_state()
    return None


def _set_random_state(state: object) -> None:
    """Take a copy for the state, which a recording that failed leaves as if it still went on."""
    with suppress(AttributeError, RuntimeError):
        if state is not None:
            torch.cuda.default_generators[torch.cuda.current_device()].graphsafe_set_state(state)


def _leaves_gpu_alone(thread: Thread) -> bool:
    """Whether a thread makes no call that a recording would make fail.

    The main thread either records, or waits for the backward pass that does. Threads that are not Python's,
    such as torch's own, are not asked.
    """
    if thread is threading.main_thread() or isinstance(thread, threading._DummyThread):
        return True
    runs = getattr(thread, "_target", None) or type(thread)
    module = getattr(runs, "__module__", None) or ""
    return thread.name.startswith(OWN) or any(f"{module}.".startswith(f"{name}.") for name in QUIET)


@cache
def graphs() -> CudaGraphs:
    """Those of this process."""
    return CudaGraphs()
