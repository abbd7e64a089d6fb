"""The language reference in docs/: its models are valid and its commands print what it shows."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from constrint.cli.main import app
from constrint.frontends.text.format import format_text

REFERENCE = Path(__file__).parents[3] / "docs" / "constrint-text.md"
TEXT = REFERENCE.read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(constrint|console)\n(.*?)^```$", TEXT, re.M | re.S)
DATA = dict(re.findall(r"^`(\w+\.\w+)`:\n\n```\w+\n(.*?)^```$", TEXT, re.M | re.S))
MODELS = [text for kind, text in BLOCKS if kind == "constrint"]
CONSOLES = [text for kind, text in BLOCKS if kind == "console"]
SESSIONS = [one for text in CONSOLES for one in re.split(r"^(?=\$ )", text, flags=re.M) if one]


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The models of the reference that begin with a file name, in the working directory."""
    monkeypatch.chdir(tmp_path)
    for text in MODELS:
        if named := re.match(r"# (\w+\.constrint)\n", text):
            Path(named[1]).write_text(text, encoding="utf-8")
    for name, text in DATA.items():
        Path(name).write_text(text, encoding="utf-8")


@pytest.mark.usefixtures("models")
@pytest.mark.parametrize("text", MODELS)
def test_models_are_valid_and_formatted(text: str) -> None:
    Path("model.constrint").write_text(text, encoding="utf-8")
    given = ["-D", "hidden=64", "-D", "tiles=16,32"] if "hidden" in text else []
    named = re.match(r"# (\w+)\.constrint\n", text)
    given += [name for name in DATA if named is not None and Path(name).stem == named[1]]
    result = CliRunner().invoke(app, ["check", "model.constrint", *given])
    assert result.exit_code == 0, result.output
    assert format_text(text) == text


@pytest.mark.usefixtures("models")
@pytest.mark.parametrize("session", SESSIONS)
def test_commands_print_what_the_reference_says(session: str) -> None:
    command, _, expected = session.partition("\n")
    words = shlex.split(command.removeprefix("$ "))
    text = None
    if words[0] == "echo":
        text, words = words[1] + "\n", words[3:]
    assert words[0] == "constrint"
    assert CliRunner().invoke(app, words[1:], input=text).output == expected


def test_the_reference_has_examples_of_both_kinds() -> None:
    assert len(MODELS) >= 5
    assert len(SESSIONS) >= 5
