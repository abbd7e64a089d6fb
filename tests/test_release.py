"""One version everywhere, a section for it in the changelog, and fragments that its builder understands."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import constrint

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
VERSION = PROJECT["project"]["version"]
KINDS = [kind["directory"] for kind in PROJECT["tool"]["towncrier"]["type"]]
FRAGMENT = re.compile(rf"(\d+|\+[\w-]+)\.({'|'.join(KINDS)})(\.\d+)?\.md")


def fragments() -> list[Path]:
    return [path for path in sorted((ROOT / "changelog.d").iterdir()) if path.name != "README.md"]


def test_one_version_is_named_everywhere() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## (\S+) \((\d{4}-\d\d-\d\d)\)$", changelog, re.MULTILINE)
    assert newest
    assert VERSION == constrint.__version__ == cited["version"] == newest[1]
    assert str(cited["date-released"]) == newest[2]


def test_the_notes_of_a_release_are_those_of_its_tag() -> None:
    command = [sys.executable, str(ROOT / ".ci" / "notes.py")]
    done = subprocess.run([*command, f"v{VERSION}"], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout.startswith("The first version." if VERSION == "0.1.0" else "### ")
    assert "\n## " not in done.stdout
    other = subprocess.run([*command, "v99.0"], capture_output=True, encoding="utf-8", check=False)
    assert other.returncode == 1
    assert f"the tag v99.0 is not v{VERSION}" in other.stderr


def test_names_of_fragments_say_their_kind() -> None:
    assert [path.name for path in fragments() if not FRAGMENT.fullmatch(path.name)] == []


@pytest.mark.parametrize("name", ["12.added.md", "+windows.fixed.md", "12.fixed.2.md"])
def test_such_names_are_taken(name: str) -> None:
    assert FRAGMENT.fullmatch(name)
    assert not FRAGMENT.fullmatch(name.replace(".md", ".txt"))
    assert not FRAGMENT.fullmatch(name.replace("added", "feature").replace("fixed", "feature"))


def test_fragments_are_short_lines_without_a_bullet() -> None:
    for path in fragments():
        lines = path.read_text(encoding="utf-8").splitlines()
        assert 1 <= len(lines) <= 3, path.name
        assert all(0 < len(line) <= 110 and not line.startswith(("-", "#")) for line in lines), path.name


def test_the_lock_holds_what_the_tests_need_and_no_pytorch() -> None:
    lock = (ROOT / "requirements" / "ci.txt").read_text(encoding="utf-8")
    locked = {line.partition("==")[0] for line in lock.splitlines() if "==" in line and line[0] not in " #"}
    asked = [*PROJECT["project"]["dependencies"], *PROJECT["project"]["optional-dependencies"]["test"]]
    names = {re.split(r"[\[<>=;~! ]", one)[0].replace("_", "-").lower() for one in asked} - {"constrint"}
    assert names - locked == set(), "make lock"
    assert "torch" not in locked
