"""The process that compiles: one order on each line of standard input, one kernel on each line of output."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from kerneltune.errors import KernelTuneError
from kerneltune.running.child_output import private_stdout, say


def main() -> None:
    """Answer every order."""
    from kerneltune.running.lifeline import follow_parent

    follow_parent()
    answers = private_stdout()
    os.environ["KERNELTUNE_CHILD"] = "1"
    for line in sys.stdin:
        say(answers, _answer(json.loads(line)))


def _answer(order: dict[str, Any]) -> dict[str, Any]:
    try:
        return _built(order)
    except KernelTuneError as error:
        return {"failure": str(error), "exit_code": error.exit_code}
    except Exception as error:  # a compiler's own classes
        lines = str(error).strip().splitlines() or [""]
        return {"failure": f"{type(error).__name__}: {lines[0][:500]}"}


def _built(order: dict[str, Any]) -> dict[str, Any]:
    if order["kind"] == "triton":
        return _warmed_up(order)
    from kerneltune.compiling.cubin_cache import CubinCache
    from kerneltune.compiling.nvrtc import Job, compile_job

    names = (order["entry"], *(f"&{name}" for name in order["symbols"]))
    job = Job(order["source"], order["target"], names, tuple(order["options"]), order["registers"])
    return compile_job(job, CubinCache() if order["cache"] else None).to_json()


def _warmed_up(order: dict[str, Any]) -> dict[str, Any]:
    import time

    from kerneltune.measuring.triton_backend import warmed_up

    sys.path += [folder for folder in order.get("path", []) if folder not in sys.path]
    started = time.perf_counter()
    return {**warmed_up(order), "seconds": time.perf_counter() - started}


if __name__ == "__main__":
    main()
