"""The process that compiles: one order on each line of standard input, one kernel on each line of output."""

from __future__ import annotations

import os
import sys

from kerneltune.errors import KernelTuneError
from kerneltune.messages import Built, Failed, Order, required
from kerneltune.running.child_output import private_stdout, say


def main() -> None:
    """Answer every order."""
    from kerneltune.running.lifeline import follow_parent

    follow_parent()
    answers = private_stdout()
    os.environ["KERNELTUNE_CHILD"] = "1"
    for line in sys.stdin:
        say(answers, _answer(required(line, Order)))


def _answer(order: Order) -> Built | Failed:
    try:
        return _built(order)
    except KernelTuneError as error:
        return Failed(failure=str(error), exit_code=error.exit_code)
    except Exception as error:  # a compiler's own classes
        lines = str(error).strip().splitlines() or [""]
        return Failed(failure=f"{type(error).__name__}: {lines[0][:500]}")


def _built(order: Order) -> Built:
    if order.kind == "triton":
        return _warmed_up(order)
    from kerneltune.compiling.cubin_cache import CubinCache
    from kerneltune.compiling.nvrtc import compile_job, job_of

    return compile_job(job_of(order), CubinCache() if order.cache else None)


def _warmed_up(order: Order) -> Built:
    import time

    from kerneltune.measuring.triton_backend import warmed_up

    sys.path += [folder for folder in order.path if folder not in sys.path]
    started = time.perf_counter()
    shared = warmed_up(order)
    return Built(shared_memory=shared, seconds=time.perf_counter() - started)


if __name__ == "__main__":
    main()
