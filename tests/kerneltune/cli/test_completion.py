"""Shells complete the names of cells, profiles, dtypes, passes and strategies."""

from __future__ import annotations

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from kerneltune.cli.main import app
from kerneltune.inputs.descriptions import discover
from kerneltune.inputs.dtypes import DTYPES
from kerneltune.inputs.hardware import profile_names


def completed(words: str, begun: str = "") -> list[str]:
    found = ShellComplete(app, {}, "kerneltune", "_KERNELTUNE_COMPLETE").get_completions(words.split(), begun)
    return [one.value for one in found if one.type == "plain"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_ask_this_command(shell: str) -> None:
    done = CliRunner().invoke(app, ["completion", shell])
    assert done.exit_code == 0
    assert "_KERNELTUNE_COMPLETE" in done.stdout


def test_names_are_completed() -> None:
    assert set(discover().cells) | {"scan", "mingru"} <= set(completed("tile"))
    assert completed("tile", "ls") == ["lstm"]
    assert completed("compile lstm --gpu") == sorted(profile_names())
    assert completed("tune lstm --dtype") == sorted(DTYPES)
    assert completed("run lstm --pass", "b") == ["backward"]
    assert set(discover().strategies) <= set(completed("tile lstm --strategy"))
    assert "tile" in completed("", "ti")
