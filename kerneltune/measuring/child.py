"""The process that measures: one request on each line of standard input, one answer on each line of output.

The first line is the set-up: the case, the kind of kernels and the plan. It lives until a candidate makes it
unusable or its parent ends.
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import Any, TextIO

from kerneltune.errors import InputError, KernelTuneError, MissingExtraError, RunError
from kerneltune.inputs.descriptions import discover
from kerneltune.measuring.case import Case
from kerneltune.measuring.loaded import Backend
from kerneltune.measuring.measure import MeasuringPlan
from kerneltune.measuring.nvml import Gauge
from kerneltune.measuring.serving import Server
from kerneltune.messages import REQUESTS, Facts, Failed, Finals, Request, SetUp, Watcher, required
from kerneltune.running.child_output import private_stdout, say
from kerneltune.running.children import KIND_VARIABLE
from kerneltune.running.lifeline import follow_parent
from kerneltune.sources.references import CHILD_VARIABLE, resolved


def main() -> None:
    """Answer every request; stop after an answer that says the process is lost."""
    follow_parent()
    answers = private_stdout()
    os.environ[CHILD_VARIABLE] = "1"
    _get_ready(os.environ.get(KIND_VARIABLE, ""))
    first = sys.stdin.readline()
    if not first:
        return
    try:
        server, facts = _served(required(first, SetUp))
    except KernelTuneError as error:
        say(answers, Failed(failure=str(error), exit_code=error.exit_code))
        return
    except Exception as error:  # pycuda's and torch's own, such as no memory for the arguments
        failure = f"no kernel can be run: {type(error).__name__}: {error}"
        say(answers, Failed(failure=failure, exit_code=RunError.exit_code))
        return
    say(answers, facts)
    serve(server, answers)


def _get_ready(kind: str) -> None:
    """Make the GPU's context and compile the checks, while the set-up is made; it says what is wrong."""
    if kind not in ("cuda", "ptx", "triton"):
        return
    with contextlib.suppress(Exception):
        from kerneltune.measuring.device_checks import compiled_checks
        from kerneltune.measuring.gpu import target_here

        compiled_checks(target_here())


def serve(server: Server, answers: TextIO) -> None:
    """Answer the requests of standard input, up to the one that the process does not survive."""
    for line in sys.stdin:
        request: Request | Finals = required(line, REQUESTS)
        answer = server.answer(request)
        say(answers, answer)
        if isinstance(answer, Failed) and answer.lost:
            return


def _served(set_up: SetUp) -> tuple[Server, Facts]:
    sys.path += [folder for folder in set_up.path if folder not in sys.path]
    backend = backend_of(set_up)
    gauge = Gauge(getattr(backend, "bus", None)) if set_up.kind != "callable" else None
    observers = [made(watcher) for watcher in set_up.observers]
    plan: dict[str, Any] = set_up.plan
    outputs = Path(set_up.outputs) if set_up.outputs else None
    return Server(backend, MeasuringPlan(**plan), observers, gauge, outputs), backend.facts


def backend_of(set_up: SetUp) -> Backend:
    """The backend for a kind of kernels.

    Raises:
        MissingExtraError: Its package is not installed.
        RunError: There is no GPU.
    """
    if set_up.kind == "callable":
        from kerneltune.measuring.callable_backend import CallableBackend

        return CallableBackend(Case.load(Path(set_up.case)))
    try:
        import kerneltune.measuring.gpu  # noqa: F401
    except ModuleNotFoundError:
        if set_up.kind == "triton":  # which launches by itself, with torch
            from kerneltune.measuring.own_launches import launched_by_triton

            return launched_by_triton(Case.load(Path(set_up.case)))
        raise MissingExtraError("running kernels", "gpu") from None
    except ImportError as error:
        raise RunError(f"pycuda cannot be loaded, is there a GPU driver? {error}") from None
    except Exception as error:  # pycuda raises its own classes while it initialises the driver
        raise RunError(f"no GPU can be used: {error}") from None
    if set_up.kind == "tiling":
        from kerneltune.measuring.tiling_backend import TilingBackend

        return TilingBackend(discover(Path(set_up.kernels_root)))
    if set_up.kind == "triton":
        from kerneltune.measuring.triton_driver import TritonByDriver

        return TritonByDriver(Case.load(Path(set_up.case)))
    from kerneltune.measuring.cuda_backend import CudaBackend

    return CudaBackend(Case.load(Path(set_up.case)))


def made(watcher: Watcher) -> object:
    """An observer; raises `InputError` if its class cannot be called."""
    found = resolved(watcher.reference)
    if not isinstance(found, type):
        return found
    try:
        return found(**watcher.given)
    except KernelTuneError:
        raise
    except Exception as error:  # the user's class
        raise InputError(f"the observer {found.__name__} cannot be made: {error!r}") from None


if __name__ == "__main__":
    main()
