"""A child process that fails on request: ``plan.timed`` is the number of a mode in `MODES`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

GOOD = {
    "device": "pretended",
    "seed": 0,
    "relative_error": 1e-3,
    "right": True,
    "verdict": "",
    "runs": 2,
    "runs_with_same_bits": 2,
    "milliseconds": 2.0,
    "ratio": 1.5,
}
STARTED = b'{"message": "Started", "trial": 0}\n'
KEEPS_OPEN = "import time; time.sleep(60)"


def write(data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(1, view) :]


def measured(**changes: Any) -> bytes:
    return json.dumps({"message": "Measured", "measurement": {**GOOD, **changes}}).encode() + b"\n"


def without(name: str) -> bytes:
    kept = {k: v for k, v in GOOD.items() if k != name}
    return json.dumps({"message": "Measured", "measurement": kept}).encode() + b"\n"


def killed(number: int) -> Callable[[], None]:
    def by_signal() -> None:
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        os._exit(0)  # the default of some is to do nothing

    return by_signal


def says(data: bytes, code: int | None = 0) -> Callable[[], None]:
    """Writes that, and goes on, or ends."""

    def talk() -> None:
        write(data)
        if code is not None:
            os._exit(code)

    return talk


def grandchild(answer: bytes, detached: bool, code: int | None) -> Callable[[], None]:
    def leave_one() -> None:
        subprocess.Popen([sys.executable, "-c", KEEPS_OPEN], start_new_session=detached)
        says(answer, code)()

    return leave_one


def closed(*descriptors: int) -> Callable[[], None]:
    def close() -> None:
        for descriptor in descriptors:
            os.close(descriptor)
        os._exit(4)

    return close


def noise() -> None:
    for _ in range(300):
        os.write(2, b"x" * 99_999 + b"\n")
    os._exit(1)


def endless_line() -> None:
    while True:
        os.write(1, b"y" * 65536)


def endless_lines() -> None:
    while True:
        os.write(1, b"{}\n" * 10_000)


def exception() -> None:
    raise ZeroDivisionError("in the child")


STOPS = {signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU}
RESERVED = {32, 33}  # the C library's own
SIGNALS = [n for n in range(1, signal.NSIG) if n not in STOPS | RESERVED]
BAD_LINES = {
    "an empty object": b"{}\n",
    "a list": b"[]\n",
    "null": b"null\n",
    "a number": b"1\n",
    "a text": b'"measurement"\n',
    "an empty line": b"\n",
    "garbage": bytes(range(128, 256)) + b"\n",
    "zeros": b"\0" * 1000 + b"\n",
    "half a line": measured()[:40] + b"\n",
    "half a surrogate": measured(verdict="\ud800"),
    "a byte order mark": b"\xef\xbb\xbf" + measured(),
    "no UTF-8": b'{"message": "Failed", "failure": "\xff"}\n',
    "brackets": b"[" * 100_000 + b"\n",
    "objects": b'{"measurement":' * 100_000 + b"\n",
    "a long number": b'{"message": "Measured", "measurement": ' + b"9" * 5000 + b"}\n",
    "two answers on a line": measured()[:-1] + measured(),
    "a device": b'{"message": "Facts", "device": "x", "compute_capability": "9.0"}\n',
    "another trial": b'{"message": "Failed", "failure": "x", "trial": 99}\n',
    "a trial that is none": b'{"message": "Failed", "failure": "x", "trial": "0"}\n',
    "a start that is none": STARTED.replace(b"0", b"99") + measured(),
    "two starts": 2 * STARTED,
    "a failure that is none": b'{"message": "Failed", "failure": 3}\n',
    "a measurement that is none": b'{"message": "Measured", "measurement": null}\n',
    "a measurement of a list": b'{"message": "Measured", "measurement": []}\n',
    "NaN relative error": measured(relative_error=float("nan")),
    "negative relative error": measured(relative_error=-1),
    "a text for a number": measured(milliseconds="2.0"),
    "true for a number": measured(milliseconds=True),
    "a number for a text": measured(device=7),
    "a number for a truth": measured(right=1),
    "a fraction of runs": measured(runs=2.5),
    "more bits than runs": measured(runs_with_same_bits=3),
    "negative runs": measured(runs=-1, runs_with_same_bits=-1),
    "an unknown key": measured(colour="red"),
    "a ratio that is none": measured(ratio=float("nan")),
    **{f"{time} milliseconds": measured(milliseconds=float(time)) for time in ("nan", "inf", "-inf", "-1")},
    "no milliseconds": measured(milliseconds=0),
    "1e400 milliseconds": measured().replace(b"2.0", b"1e400"),
    "a fastest that is none": measured(fastest=float("nan")),
    "a step that is none": measured(microseconds_per_step=-2.0),
    **{f"nothing for {name}": without(name) for name in GOOD if name not in ("milliseconds", "ratio")},
}
MODES: dict[str, Callable[[], None]] = {
    "good": says(measured(), None),
    **{f"signal {number}": killed(number) for number in SIGNALS},
    **{name: says(line) for name, line in BAD_LINES.items()},
    **{f"{name}, and stays": says(line, None) for name, line in BAD_LINES.items()},
    "nothing": says(b""),
    "exit code 1": says(b"", 1),
    "exit code 255": says(b"", 255),
    "an answer without its end": says(measured()[:-1]),
    "half an answer": says(measured()[:50]),
    "half an answer and a crash": says(measured()[:50], 139),
    "a long line": says(b"x" * (3 << 20) + b"\n"),
    "an endless line": endless_line,
    "endless lines": endless_lines,
    "noise": noise,
    "an exception": exception,
    "closed output": closed(1),
    "closed input": closed(0),
    "closed everything": closed(0, 1, 2),
    "a grandchild": grandchild(b"", False, 0),
    "a grandchild of its own": grandchild(b"", True, 0),
    "a grandchild after half an answer": grandchild(measured()[:50], False, 0),
    "a lost context": says(b'{"message": "Failed", "failure": "illegal address", "lost": true}\n'),
    "a refusal": says(b'{"message": "Failed", "failure": "not this GPU"}\n', None),
}


def sleeps(data: bytes = b"", close: bool = False) -> Callable[[], None]:
    def hang() -> None:
        write(data)
        if close:
            os.close(1)
        time.sleep(600)

    return hang


def drip() -> None:
    for byte in measured():
        os.write(1, bytes([byte]))
        time.sleep(0.5)


def deaf() -> None:
    for number in SIGNALS:
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_IGN)
    time.sleep(600)


HANGS: dict[str, Callable[[], None]] = {
    "silence": sleeps(),
    "half an answer and silence": sleeps(measured()[:50]),
    "a start and silence": sleeps(STARTED),
    "a drip": drip,
    "deafness": deaf,
    **{f"stop {signal.Signals(number).name}": killed(number) for number in sorted(STOPS)},
}
NAMES = [*MODES, *HANGS]


def main() -> None:
    for line in sys.stdin:
        name = NAMES[json.loads(line)["plan"]["timed"]]
        {**MODES, **HANGS}[name]()


if __name__ == "__main__":
    main()
