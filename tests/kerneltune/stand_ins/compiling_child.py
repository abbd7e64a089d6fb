"""A compiling process without a compiler: takes KERNELTUNE_TEST_COMPILE seconds, and fails on request."""

from __future__ import annotations

import os
import sys
import time

from meeting import met

from kerneltune.messages import Built, Failed, Order, required
from kerneltune.running.child_output import private_stdout, say
from kerneltune.running.lifeline import follow_parent


def main() -> None:
    follow_parent()
    answers = private_stdout()
    seconds = float(os.environ.get("KERNELTUNE_TEST_COMPILE", "0"))
    for number, line in enumerate(sys.stdin):
        configuration = required(line, Order).configuration
        time.sleep(seconds)
        fault = configuration.get("fault")
        if number and not met("compiling"):
            say(answers, Failed(failure="nothing was measured meanwhile"))
        elif fault == "compile":
            say(answers, Failed(failure="NVRTC refused the kernel: error: x is undefined"))
        elif fault == "compiler_dies":
            os._exit(3)
        else:
            registers = 3000 if fault == "registers" else 32
            say(answers, Built(registers=registers, seconds=seconds))


if __name__ == "__main__":
    main()
