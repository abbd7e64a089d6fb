"""Every example of the manual and the README runs and prints what it shows; the manual builds cleanly."""

import ast
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


class Unechoed(ast.NodeTransformer):
    """Assigns what `add` and `assume` return, which a session would show: pages leave that out."""

    def visit_Expr(self, statement):
        call = statement.value
        if isinstance(call, ast.Call) and getattr(call.func, "attr", "") in ("add", "assume"):
            return ast.Assign([ast.Name("_", ast.Store())], call)
        return statement


class PageParser(doctest.DocTestParser):
    def get_examples(self, string, name="<string>"):
        examples = super().get_examples(string, name)
        for example in examples:
            if not (example.want and example.source.count("\n") == 1):
                tree = Unechoed().visit(ast.parse(example.source))
                example.source = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
        return examples


@pytest.mark.parametrize("page", WITH_EXAMPLES)
def test_the_examples_of_a_page(page):
    result = doctest.testfile(
        str(ROOT / page),
        module_relative=False,
        optionflags=doctest.IGNORE_EXCEPTION_DETAIL | doctest.ELLIPSIS,
        encoding="utf-8",
        parser=PageParser(),
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


def lines_outside_code(page):
    """The lines of a page that are neither in fences nor indented code, with their numbers."""
    fenced = False
    for number, line in enumerate((ROOT / page).read_text(encoding="utf-8").splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and not line.startswith("    "):
            yield number, line


def anchors(page):
    """The anchors of a page's headings, as the manual and GitHub make them."""
    headings = [line.lstrip("# ") for _, line in lines_outside_code(page) if line.startswith("#")]
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", *PAGES])
def test_links_lead_to_files_and_headings(page):
    wrong = []
    for number, line in lines_outside_code(page):
        for target in re.findall(r"\]\(([^)\s]+)\)", line):
            if target.startswith("http"):
                continue
            name, _, anchor = target.partition("#")
            path = (ROOT / page).parent / name if name else ROOT / page
            if not path.exists() or (anchor and anchor not in anchors(path)):
                wrong.append(f"{page}:{number}: {target}")
    assert wrong == []


@pytest.mark.parametrize("page", PAGES)
def test_source_files_named_in_a_page_exist(page):
    sources = {
        "/" + path.relative_to(ROOT).as_posix()
        for folder in ("constrint", "kerneltune", "kernels", "tests", "benchmarks", "examples")
        for path in (ROOT / folder).rglob("*.*")
    }
    text = (ROOT / page).read_text(encoding="utf-8")
    named = set(re.findall(r"`([\w/]+\.(?:py|cuh|cu|cpp|hpp|lark|j2))`", text))
    assert [name for name in sorted(named) if not any(path.endswith("/" + name) for path in sources)] == []


@pytest.mark.parametrize("page", PAGES)
def test_prose_wraps_at_110_columns(page):
    long = [
        f"{page}:{number}"
        for number, line in lines_outside_code(page)
        if len(line) > 110 and not line.lstrip().startswith("|") and " " in line.strip()
    ]
    assert long == []


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
