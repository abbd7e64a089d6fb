"""Every example of the manual and of the README runs and prints what it says; the manual builds cleanly."""

import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))
WITH_EXAMPLES = [page for page in PAGES if ">>> " in (ROOT / page).read_text(encoding="utf-8")]


def test_there_are_examples():
    assert len(WITH_EXAMPLES) >= 12


@pytest.mark.parametrize("page", WITH_EXAMPLES)
def test_the_examples_of_a_page(page):
    result = doctest.testfile(
        str(ROOT / page),
        module_relative=False,
        optionflags=doctest.IGNORE_EXCEPTION_DETAIL | doctest.ELLIPSIS,
        encoding="utf-8",
    )
    assert result.attempted > 0
    assert result.failed == 0


def blocks(page):
    """The Python of a page that is a program, not a session."""
    found = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)
    return [text for text in found if ">>>" not in text]


@pytest.mark.parametrize("page", [page for page in ["README.md", *PAGES] if blocks(page)])
def test_the_programs_of_a_page(page, tmp_path):
    program = "\n".join(blocks(page))
    answer = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert answer.returncode == 0, answer.stderr


def test_the_manual_builds_without_a_warning(tmp_path):
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html"]
    answer = subprocess.run(
        [*command, "-d", str(tmp_path / "trees"), str(ROOT / "docs"), str(tmp_path / "html")],
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert answer.returncode == 0, answer.stderr
    assert (tmp_path / "html" / "tutorial.html").is_file()
