"""A measuring process that fails on request: a candidate's value ``mode`` is the number of one in `NAMES`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

TIMING = {"median": 2.0, "fastest": 1.5, "spread": 0.1, "samples": 3}
FACTS = {"message": "Facts", "device": "pretended", "compute_capability": "9.0"}
KEEPS_OPEN = "import time; time.sleep(60)"


def write(data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(1, view) :]


def line(data: dict[str, Any]) -> bytes:
    return json.dumps(data).encode() + b"\n"


def measured(**changes: Any) -> bytes:
    return line({"message": "Answer", "timing": TIMING, "relative_error": 1e-3, **changes})


def timed(**changes: Any) -> bytes:
    return measured(timing={**TIMING, **changes})


def without(name: str) -> bytes:
    return measured(timing={k: v for k, v in TIMING.items() if k != name})


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
    "a byte order mark": b"\xef\xbb\xbf" + measured(),
    "no UTF-8": b'{"message": "Failed", "failure": "\xff"}\n',
    "brackets": b"[" * 100_000 + b"\n",
    "objects": b'{"timing":' * 100_000 + b"\n",
    "a long number": b'{"message": "Answer", "seconds": ' + b"9" * 5000 + b"}\n",
    "two answers on a line": measured()[:-1] + measured(),
    "a device": line(FACTS),
    "another trial": b'{"message": "Failed", "failure": "x", "trial": 99}\n',
    "a trial that is none": b'{"message": "Failed", "failure": "x", "trial": "0"}\n',
    "a failure that is none": b'{"message": "Failed", "failure": 3}\n',
    "a timing of a list": measured(timing=[]),
    "NaN relative error": measured(relative_error=float("nan")),
    "negative relative error": measured(relative_error=-1),
    "a text for a number": timed(median="2.0"),
    "true for a number": timed(median=True),
    "a number for a text": measured(message=7),
    "a fraction of samples": timed(samples=2.5),
    "no samples": timed(samples=0),
    "an unknown key": measured(colour="red"),
    "an unknown key of a timing": timed(colour="red"),
    **{f"{time} milliseconds": timed(median=float(time)) for time in ("nan", "inf", "-inf", "-1")},
    "no milliseconds": timed(median=0),
    "1e400 milliseconds": measured().replace(b"2.0", b"1e400"),
    "a fastest that is none": timed(fastest=float("nan")),
    "a spread that is none": timed(spread=-2.0),
    **{f"nothing for {name}": without(name) for name in TIMING},
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
    "a drip": drip,
    "deafness": deaf,
    **{f"stop {signal.Signals(number).name}": killed(number) for number in sorted(STOPS)},
}
NAMES = [*MODES, *HANGS]


def main() -> None:
    sys.stdin.readline()  # the set-up
    write(line(FACTS))
    for request in sys.stdin:
        name = NAMES[json.loads(request)["order"]["candidate"]["values"]["mode"]]
        {**MODES, **HANGS}[name]()


if __name__ == "__main__":
    main()
