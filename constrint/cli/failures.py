"""Failures of a command: a message on standard error, and an exit code; never a traceback."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import TypeAlias

import click

from constrint.cli.inputs import BadInputError
from constrint.errors import ConstrintError, ParseError, printable
from constrint.support.command import interrupted, output_failed
from constrint.support.limits import ReadingStopped

Command: TypeAlias = Callable[..., None]

BAD_INPUT, STOPPED = 2, 3


def reporting(command: Command) -> Command:
    """A command whose errors are reported, those in the values of its options too."""

    @wraps(command)
    def run(**given: object) -> None:
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
    except OSError as error:
        code = output_failed(error)
        if code:
            raise click.exceptions.Exit(code) from None
        place = f"{error.filename}: " if error.filename else ""
        raise _failed(f"error: {place}{(error.strerror or str(error)).lower()}", BAD_INPUT) from None
    except KeyboardInterrupt:
        raise click.exceptions.Exit(interrupted()) from None


def run_app(app: click.Command) -> int:
    """Run a command line and return its exit code; what fails outside of a command is reported, too."""
    try:
        code = app.main(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        return interrupted()
    except (OSError, SystemExit):
        raise  # of standard output: the caller tells which
    except Exception as error:
        if os.environ.get("CONSTRINT_TRACEBACK"):
            raise
        click.echo(f"internal error: {type(error).__name__}: {printable(str(error))}", err=True)
        click.echo("CONSTRINT_TRACEBACK=1 shows where", err=True)
        return BAD_INPUT
    return code if isinstance(code, int) else 0


def _failed(message: str, code: int) -> click.exceptions.Exit:
    click.echo(printable(message, "\n\t"), err=True)
    return click.exceptions.Exit(code)
