"""The process that measures: one request on each line of standard input, one answer on each line of output.

The first line is the set-up: the case, the kind of kernels and the plan. It lives until a candidate makes it
unusable or its parent ends.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from kerneltune.errors import KernelTuneError, MissingExtraError, RunError
from kerneltune.measuring.case import Case
from kerneltune.measuring.loaded import Backend
from kerneltune.measuring.measure import Plan
from kerneltune.measuring.nvml import Gauge
from kerneltune.measuring.serving import Server
from kerneltune.running.child_output import private_stdout, say
from kerneltune.running.lifeline import follow_parent
from kerneltune.sources.references import CHILD_VARIABLE, resolved


def main() -> None:
    """Answer every request; stop after an answer that says the process is lost."""
    follow_parent()
    answers = private_stdout()
    os.environ[CHILD_VARIABLE] = "1"
    first = sys.stdin.readline()
    if not first:
        return
    try:
        set_up = json.loads(first)
        sys.path += [folder for folder in set_up.get("path", []) if folder not in sys.path]
        server, facts = _served(set_up)
    except KernelTuneError as error:
        say(answers, {"failure": str(error), "exit_code": error.exit_code})
        return
    say(answers, facts)
    for line in sys.stdin:
        answer = server.answer(json.loads(line))
        say(answers, answer)
        if answer.get("lost"):
            return


def _served(set_up: dict[str, Any]) -> tuple[Server, dict[str, Any]]:
    started = time.perf_counter()
    case = Case.load(Path(set_up["case"]))
    backend = backend_of(set_up["kind"], case)
    gauge = Gauge(getattr(backend, "bus", None)) if set_up["kind"] != "callable" else None
    observers = [_made(reference) for reference in set_up.get("observers", [])]
    facts = backend.facts
    told = {"device": facts.device, "compute_capability": facts.compute_capability}
    seconds = round(time.perf_counter() - started, 4)
    return Server(backend, Plan(**set_up["plan"]), observers, gauge), {**told, "seconds": seconds}


def backend_of(kind: str, case: Case) -> Backend:
    """The backend for a kind of kernels.

    Raises:
        MissingExtraError: Its package is not installed.
        RunError: There is no GPU.
    """
    if kind == "callable":
        from kerneltune.measuring.callable_backend import CallableBackend

        return CallableBackend(case)
    if kind == "triton":
        try:
            from kerneltune.measuring.triton_backend import TritonBackend
        except ImportError:
            raise MissingExtraError("running Triton functions", "torch") from None
        return TritonBackend(case)
    try:
        from kerneltune.measuring.driver_backend import DriverBackend
    except ImportError as error:
        if isinstance(error, ModuleNotFoundError):
            raise MissingExtraError("running kernels", "compile") from None
        raise RunError(f"the CUDA driver's bindings cannot be loaded: {error}") from None
    return DriverBackend(case)


def _made(reference: str) -> Any:
    found = resolved(reference)
    return found() if isinstance(found, type) else found


if __name__ == "__main__":
    main()
