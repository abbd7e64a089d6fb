"""Where the lines of a call's log go: to a text stream, to Python's `logging`, or to standard output."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any, TextIO, TypeAlias

from constrint.errors import ModelError

Log: TypeAlias = bool | TextIO
"""Whether a call has a log, which goes to `logging` or standard output; or the stream for it."""

LOGGER = "constrint"
"""The name of the logger."""


def log_target(log: object) -> Callable[[str], object] | None:
    """The function that takes a line of a call's log; None where nobody reads it.

    It is one: the stream of the call; or `logging`, if a handler takes the lines, and the call asks for a log
    or the logger has a level of its own; or standard output, if the call asks for a log. The level of the
    root logger alone asks for nothing: some libraries set it to INFO when they are imported.
    """
    if not isinstance(log, bool):
        if not callable(getattr(log, "write", None)):
            raise ModelError(f"log is True, False or a text stream such as sys.stderr, not {log!r}")
        return partial(_write, log)
    logging = sys.modules.get("logging")  # set up by nobody where nobody has imported it
    if logging is not None:
        logger = logging.getLogger(LOGGER)
        if (log or logger.level != logging.NOTSET) and _takes_lines(logging, logger):
            return partial(logger.info, "%s")
    return partial(_write, sys.stdout) if log else None


def _takes_lines(logging: ModuleType, logger: Any) -> bool:
    """Whether a handler takes messages of a logger at level INFO."""
    if not logger.isEnabledFor(logging.INFO):
        return False
    while logger is not None:
        for handler in logger.handlers:
            if handler.level <= logging.INFO and not isinstance(handler, logging.NullHandler):
                return True
        logger = logger.parent if logger.propagate else None
    return False


def _write(stream: Any, line: str) -> None:
    if stream is None:  # a process without standard output
        return
    try:
        stream.write(f"{line}\n")
    except UnicodeEncodeError:  # of a name in the model
        stream.write(line.encode("ascii", "backslashreplace").decode() + "\n")
    if hasattr(stream, "flush"):
        stream.flush()
