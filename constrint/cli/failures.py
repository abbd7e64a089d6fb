"""Failures of a command: a message on standard error, and an exit code; never a traceback."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeAlias

import click

from constrint.cli.inputs import BadInputError
from constrint.errors import ConstrintError, ParseError
from constrint.support.limits import ReadingStopped

Command: TypeAlias = Callable[..., None]

BAD_INPUT, STOPPED = 2, 3


def reporting(command: Command) -> Command:
    """A command whose errors are reported, those in the values of its options too."""

    @wraps(command)
    def run(**given: Any) -> None:
        with reported():
            command(**given)

    return run


@contextmanager
def reported() -> Iterator[None]:
    """Turn errors of the user's input, Ctrl-C and closed pipes into messages and exit codes."""
    try:
        yield
        sys.stdout.flush()
    except ReadingStopped as error:
        raise _failed(f"unknown: {error}", STOPPED) from None
    except (ConstrintError, BadInputError) as error:
        message = str(error) if isinstance(error, ParseError) else f"error: {error}"
        raise _failed(message, BAD_INPUT) from None
    except RecursionError:
        message = "error: an expression is nested too deeply\nhint: name inner parts: y := …"
        raise _failed(message, BAD_INPUT) from None
    except BrokenPipeError:
        # The reader has closed the pipe, as in `constrint solve --all … | head`: nothing more can be written.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise click.exceptions.Exit(128 + signal.SIGPIPE) from None
    except OSError as error:
        # Reading files reports its own errors, so this is about the output, for example a full disk. Drop the
        # buffer.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        reason = (error.strerror or str(error)).lower()
        raise _failed(f"error: cannot write the answer: {reason}", BAD_INPUT) from None
    except KeyboardInterrupt:
        raise _failed("interrupted", 128 + signal.SIGINT) from None


def _failed(message: str, code: int) -> click.exceptions.Exit:
    click.echo(message, err=True)
    return click.exceptions.Exit(code)
