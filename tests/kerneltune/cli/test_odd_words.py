"""Every text option and argument of every command, with words that no file and no name has."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import kerneltune.cli.failures as failures
from constrint.cli.flatzinc import app as flatzinc
from constrint.cli.main import app as constrint
from kerneltune.cli.main import app as kerneltune

ODD = ["x" * 5000, "a/" * 3000, "new\nline", "🎉", "", "-", "/", "/dev/null/x", "%s{0}"]
LEAST = ["--gpu", "h100_sxm", "--batch", "1", "--dtype", "bf16"]
REQUEST = ["elman", *LEAST, "--heads", "1", "--head-dim", "16"]
SMALL = ["out", *LEAST, "--cell", "elman", "--shape", "1x16"]
BASES = {"tile": REQUEST, "compile": REQUEST, "run": REQUEST, "tune": REQUEST, "build": SMALL}


def leaves(app: click.Command, words: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], click.Command]]:
    if isinstance(app, click.Group):
        return [one for name, sub in sorted(app.commands.items()) for one in leaves(sub, (*words, name))]
    return [(words, app)]


def texts(command: click.Command) -> list[click.Parameter]:
    """The parameters whose values are texts."""
    return [
        one
        for one in command.params
        if not getattr(one, "is_flag", False)
        and not isinstance(one.type, click.types.IntParamType | click.Choice)
    ]


def lines(
    app: click.Command, words: tuple[str, ...], command: click.Command, odd: str, folder: Path
) -> Iterator[list[str]]:
    """Command lines in which one parameter is odd."""
    model = folder / "model.constrint"
    model.write_text("x in 1..3\n", encoding="utf-8")
    base = BASES.get(words[-1] if words else "", [])
    arguments = [one for one in command.params if isinstance(one, click.Argument)]
    given = base if base else [str(model)] * sum(one.required for one in arguments)
    for one in texts(command):
        if isinstance(one, click.Option):
            yield [*words, *given, one.opts[0], odd] if odd else [*words, *given, f"{one.opts[0]}="]
        elif base:
            yield [*words, odd, *base[1:]]
        else:
            yield [*words, *(odd if other is one else str(model) for other in arguments if other.required)]


CASES = [
    pytest.param(app, words, command, id=f"{name} {' '.join(words)}".strip())
    for name, app in (("constrint", constrint), ("kerneltune", kerneltune), ("fzn-constrint", flatzinc))
    for words, command in leaves(app)
    if words not in {("lsp",), ("bench",), ("doctor",), ("compile-ahead",)}  # these wait, or take long
]


@pytest.mark.parametrize(("app", "words", "command"), CASES)
def test_odd_words_are_bad_input_or_names(
    app: click.Command,
    words: tuple[str, ...],
    command: click.Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("KERNELTUNE_TRACEBACK", "1")
    for odd in ODD:
        for line in lines(app, words, command, odd, tmp_path):
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"x in 1..3\n")))
            if app is kerneltune:
                code = failures.run_app(app, line)  # raises what it would call an internal error
            else:
                done = CliRunner().invoke(app, line, input="x in 1..3\n")
                code = done.exit_code
                if done.exception is not None and not isinstance(done.exception, SystemExit):
                    raise done.exception
            assert code in (0, 1, 2, 3), [word[:30] for word in line]
