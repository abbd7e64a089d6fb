"""The process that compiles: one order on each line of standard input, one kernel on each line of output."""

from __future__ import annotations

import contextlib
import json
import os
import sys

from kerneltune.errors import KernelTuneError
from kerneltune.messages import Built, Failed, Order, required
from kerneltune.running.child_output import private_stdout, say
from kerneltune.running.children import FUNCTION_VARIABLE, KIND_VARIABLE


def main() -> None:
    """Answer every order."""
    from kerneltune.running.lifeline import follow_parent

    follow_parent()
    answers = private_stdout()
    os.environ["KERNELTUNE_CHILD"] = "1"
    _get_ready(os.environ.get(KIND_VARIABLE, ""), os.environ.get(FUNCTION_VARIABLE, ""))
    for line in sys.stdin:
        say(answers, _answer(required(line, Order)))


def _get_ready(kind: str, told: str) -> None:
    """Load the compiler, and the file of a function, while the first order is made; it says what is wrong."""
    with contextlib.suppress(Exception):
        if kind == "triton":
            from kerneltune.sources.references import resolved

            function, *folders = json.loads(told)
            sys.path += [folder for folder in folders if folder not in sys.path]
            resolved(function)
            import triton.compiler  # noqa: F401
        elif kind == "cuda":
            from kerneltune.compiling.nvrtc import compiler_version, header_options

            compiler_version()
            header_options()


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
        from kerneltune.sources.triton_code import compiled_function

        sys.path += [folder for folder in order.path if folder not in sys.path]
        return compiled_function(order)
    from kerneltune.compiling.cubin_cache import CubinCache
    from kerneltune.compiling.nvrtc import compile_job, job_of

    return compile_job(job_of(order), CubinCache() if order.cache else None)


if __name__ == "__main__":
    main()
