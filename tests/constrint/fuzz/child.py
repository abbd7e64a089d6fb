"""The process that runs inputs: it writes one line of JSON for each to standard output.

A timer of processor time ends the process for an input that takes too long. Memory is limited by the address
space and by the growth of the process.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from fuzz.harness import NAME, Format, format_of


def answer(fmt: Format, data: bytes) -> dict[str, Any]:
    """What becomes of an input."""
    from constrint.errors import ConstrintError, InternalError

    try:
        read = fmt.read(data)
    except InternalError:
        return {"kind": "traceback", "detail": traceback.format_exc()[-3000:]}
    except (ConstrintError, *fmt.refusals) as error:  # type: ignore[misc]
        return refusal(fmt, error)
    except MemoryError:
        return {"kind": "memory", "detail": traceback.format_exc()[-3000:]}
    except Exception:
        return {"kind": "traceback", "detail": traceback.format_exc()[-3000:]}
    try:
        fmt.use(read)
    except InternalError:
        return {"kind": "traceback", "detail": traceback.format_exc()[-3000:]}
    except (ConstrintError, *fmt.refusals):  # type: ignore[misc]
        pass  # no bounds, no time, no memory: an answer
    except MemoryError:
        return {"kind": "memory", "detail": traceback.format_exc()[-3000:]}
    except Exception:
        return {"kind": "traceback", "detail": traceback.format_exc()[-3000:]}
    return {"kind": "accepted"}


def refusal(fmt: Format, error: Exception) -> dict[str, Any]:
    """A refusal must be printable, of a sane length, and name its place."""
    from constrint.errors import LimitError

    message = str(error)
    try:
        message.encode("utf-8")
    except UnicodeEncodeError:
        return {"kind": "traceback", "detail": f"the message cannot be printed: {ascii(message)[:500]}"}
    if isinstance(error, LimitError):
        return {"kind": "time", "detail": message}
    if len(message) > 5000:
        return {"kind": "no place", "detail": f"a message of {len(message)} characters: {message[:500]}"}
    if NAME not in message or not (fmt.path_like or f"{NAME}:" in message):
        return {"kind": "no place", "detail": f"{type(error).__name__}: {message[:500]}"}
    return {"kind": "refused"}


def megabytes() -> float:
    """What the process has at most had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def main() -> None:
    """Run the inputs of a file."""
    name, place, seconds, most = sys.argv[1:5]
    fmt = format_of(name)
    raw = Path(place).read_bytes()
    answer(fmt, b"")  # what is imported and made at the first input is not its fault
    pages = int(Path("/proc/self/statm").read_bytes().split()[0]) if os.path.exists("/proc/self/statm") else 0
    if pages:
        space = pages * resource.getpagesize() + int(most) * 1_000_000
        resource.setrlimit(resource.RLIMIT_AS, (space, space))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    sys.stdout.write("begun\n")
    start = 0
    while start < len(raw):
        length = int.from_bytes(raw[start : start + 8], "little")
        data = raw[start + 8 : start + 8 + length]
        start += 8 + length
        before, begun = megabytes(), time.process_time()
        signal.setitimer(signal.ITIMER_PROF, float(seconds))
        found = answer(fmt, data)
        signal.setitimer(signal.ITIMER_PROF, 0)
        found |= {"seconds": time.process_time() - begun, "megabytes": megabytes() - before}
        sys.stdout.write(json.dumps(found) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
