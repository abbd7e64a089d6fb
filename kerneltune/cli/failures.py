"""Failures of a command: a line for people, JSON if requested, and an exit code."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import click
from click.exceptions import Exit

from constrint.errors import printable
from constrint.support.command import interrupted, output_failed
from kerneltune.errors import InfeasibleError, InputError, KernelTuneError, MissingExtraError

BAD_INPUT = KernelTuneError.exit_code
SHOWN_CHARACTERS = 200  # most characters of a file's name in a message


def configuration_words(configuration: Mapping[str, object]) -> str:
    """A configuration in one line."""
    return ", ".join(f"{name}={value}" for name, value in configuration.items())


def print_json(data: object) -> None:
    """Print JSON to standard output."""
    click.echo(json.dumps(data, indent=2, ensure_ascii=False))


@contextmanager
def reporting(as_json: bool) -> Iterator[None]:
    """Turn this package's errors into a message on standard error and their exit code."""
    try:
        yield
    except KernelTuneError as error:
        if as_json:
            _print_failure(_status(error), error)
        click.echo(printable(str(error), "\n\t"), err=True)
        raise Exit(error.exit_code) from None


def run_app(app: click.Command, arguments: list[str]) -> int:
    """Run a command line and return its exit code; failures never show a traceback.

    Errors in the command line itself come before options are parsed, so ``--json`` is searched in the
    arguments.
    """
    as_json = "--json" in arguments
    try:
        code = app.main(arguments, standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        return _usage_error(error, as_json)
    except click.Abort:
        return interrupted()
    except Exception as error:  # last resort
        code = output_failed(error) if isinstance(error, OSError) else 0
        if code:
            return code
        if isinstance(error, OSError) and error.filename is not None:
            wrong = InputError(f"{_short(str(error.filename))}: {(error.strerror or str(error)).lower()}")
            if as_json:
                _print_failure("bad input", wrong)
            click.echo(str(wrong), err=True)
            return BAD_INPUT
        if os.environ.get("KERNELTUNE_TRACEBACK"):
            raise
        if as_json:
            _print_failure("internal error", error)
        click.echo(f"internal error: {type(error).__name__}: {error}", err=True)
        click.echo("KERNELTUNE_TRACEBACK=1 shows where", err=True)
        return BAD_INPUT
    return code if isinstance(code, int) else 0


def _short(name: str) -> str:
    return name if len(name) <= SHOWN_CHARACTERS else f"{name[:SHOWN_CHARACTERS]}…"


def _usage_error(error: click.ClickException, as_json: bool) -> int:
    if as_json:
        _print_json_failure("bad input", type(error).__name__, error.format_message())
    error.show()
    return error.exit_code


def _status(error: KernelTuneError) -> str:
    if isinstance(error, InfeasibleError):
        return "infeasible"
    if isinstance(error, MissingExtraError):
        return "missing extra"
    return "bad input" if error.exit_code == BAD_INPUT else "failed"


def _print_failure(status: str, error: Exception) -> None:
    _print_json_failure(status, type(error).__name__, str(error))


def _print_json_failure(status: str, error: str, reason: str) -> None:
    print_json({"status": status, "error": error, "reason": reason})
