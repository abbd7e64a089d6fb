"""A compiling process without a compiler: takes KERNELTUNE_TEST_COMPILE seconds, and fails on request."""

from __future__ import annotations

import json
import os
import sys
import time

from meeting import met

from kerneltune.running.child_output import private_stdout, say
from kerneltune.running.lifeline import follow_parent


def main() -> None:
    follow_parent()
    answers = private_stdout()
    seconds = float(os.environ.get("KERNELTUNE_TEST_COMPILE", "0"))
    for number, line in enumerate(sys.stdin):
        configuration = json.loads(line)["configuration"]
        time.sleep(seconds)
        fault = configuration.get("fault")
        if number and not met("compiling"):
            say(answers, {"failure": "nothing was measured meanwhile"})
        elif fault == "compile":
            say(answers, {"failure": "NVRTC refused the kernel: error: x is undefined"})
        elif fault == "compiler_dies":
            os._exit(3)
        else:
            registers = 3000 if fault == "registers" else 32
            built = {"cubin": "", "lowered": [], "registers": registers, "shared_memory": 0, "spills": 0}
            say(answers, {**built, "seconds": seconds})


if __name__ == "__main__":
    main()
