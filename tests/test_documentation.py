"""Every example of the manual and the README runs and prints what it shows; the manual builds cleanly."""

from __future__ import annotations

import ast
import doctest
import json
import re
import subprocess
import sys
import zlib
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from chromium import chromium, needs_chromium
from documented import docstrings, lines_as_shown
from test_public_names import objects

import constrint
import kerneltune

ROOT = Path(__file__).parents[1]
PAGES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))
WITH_EXAMPLES = [page for page in PAGES if ">>> " in (ROOT / page).read_text(encoding="utf-8")]


def test_there_are_examples() -> None:
    assert len(WITH_EXAMPLES) >= 12


class Unechoed(ast.NodeTransformer):
    """Assigns what `add` and `assume` return, which a session would show: pages leave that out."""

    def visit_Expr(self, statement: Any) -> Any:
        call = statement.value
        if isinstance(call, ast.Call) and getattr(call.func, "attr", "") in ("add", "assume"):
            return ast.Assign([ast.Name("_", ast.Store())], call)
        return statement


class PageParser(doctest.DocTestParser):
    def get_examples(self, string: Any, name: str = "<string>") -> Any:
        examples = super().get_examples(string, name)
        for example in examples:
            if not (example.want and example.source.count("\n") == 1):
                tree = Unechoed().visit(ast.parse(example.source))
                example.source = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
        return examples


@pytest.mark.parametrize("page", WITH_EXAMPLES)
def test_the_examples_of_a_page(page: Any) -> None:
    result = doctest.testfile(
        str(ROOT / page),
        module_relative=False,
        optionflags=doctest.IGNORE_EXCEPTION_DETAIL | doctest.ELLIPSIS,
        encoding="utf-8",
        parser=PageParser(),
    )
    assert result.attempted > 0
    assert result.failed == 0


PROGRAM = re.compile(r"```python\n(.*?)```\n(?:\n```output\n(.*?)```\n)?", re.DOTALL)
RUNNER = """
import contextlib, io, json, sys
variables, printed = {"__name__": "page"}, []
for program in json.load(sys.stdin):
    written = io.StringIO()
    with contextlib.redirect_stdout(written):
        exec(compile(program, "page", "exec"), variables)
    printed.append(written.getvalue())
print(json.dumps(printed))
"""
NARROW = 400
WIDER = """
[...document.querySelectorAll('article *')]
  .filter((one) => one.getBoundingClientRect().right > innerWidth + 1 && !one.closest(
    'pre, .table-wrapper, .math, .gallery, svg, .headerlink'))
  .map((one) => `${one.tagName}.${one.className}: ${one.textContent.slice(0, 60)}`).slice(0, 5)
"""


def timeless(text: str) -> str:
    """The lines of an output without the times of a log."""
    return re.sub(r"^ +\d+\.\d\d s  ", "", text, flags=re.MULTILINE)


def blocks(page: Any) -> Any:
    """The programs of a page, which are no sessions, each with the output that is stated below it."""
    found = PROGRAM.findall((ROOT / page).read_text(encoding="utf-8"))
    return [(program, output) for program, output in found if ">>>" not in program]


@pytest.mark.parametrize("page", [page for page in ["README.md", *PAGES] if blocks(page)])
def test_the_programs_of_a_page_print_what_it_states(page: Any, tmp_path: Path) -> None:
    programs, stated = zip(*blocks(page), strict=True)
    answer = subprocess.run(
        [sys.executable, "-c", RUNNER],
        input=json.dumps(programs),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert answer.returncode == 0, answer.stderr
    assert [timeless(text) for text in json.loads(answer.stdout)] == [timeless(text) for text in stated]


def test_every_program_prints_something() -> None:
    """What prints nothing, or an empty answer, shows nothing."""
    empty = [
        page
        for page in PAGES
        for program, output in blocks(page)
        if output.strip() in ("", "{}", "[]", "None", "0")
    ]
    assert empty == []


def lines_outside_code(page: Any) -> Any:
    """The lines of a page that are neither in fences nor indented code, with their numbers."""
    fenced = False
    for number, line in enumerate((ROOT / page).read_text(encoding="utf-8").splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and not line.startswith("    "):
            yield number, line


def anchors(page: Any) -> Any:
    """The anchors of a page's headings, as the manual and GitHub make them."""
    headings = [line.lstrip("# ") for _, line in lines_outside_code(page) if line.startswith("#")]
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


OTHERS = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"]


@pytest.mark.parametrize("page", [*OTHERS, "changelog.d/README.md", *PAGES])
def test_links_lead_to_files_and_headings(page: Any) -> None:
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
def test_source_files_named_in_a_page_exist(page: Any) -> None:
    sources = {
        "/" + path.relative_to(ROOT).as_posix()
        for folder in ("constrint", "kerneltune", "kernels", "tests", "benchmarks", "examples")
        for path in (ROOT / folder).rglob("*.*")
    }
    text = (ROOT / page).read_text(encoding="utf-8")
    named = set(re.findall(r"`([\w/]+\.(?:py|cuh|cu|cpp|hpp|lark|j2))`", text))
    assert [name for name in sorted(named) if not any(path.endswith("/" + name) for path in sources)] == []


@pytest.mark.parametrize("page", PAGES)
def test_prose_wraps_at_110_columns(page: Any) -> None:
    long = [
        f"{page}:{number}"
        for number, line in lines_outside_code(page)
        if len(line) > 110 and not line.lstrip().startswith("|") and " " in line.strip()
    ]
    assert long == []


@pytest.fixture(scope="module")
def manual(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The built manual, without the pages of source code, which take as long as all others."""
    folder = tmp_path_factory.mktemp("manual")
    extensions = "myst_parser,sphinx.ext.autodoc,sphinx.ext.napoleon,sphinx_copybutton"
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html"]
    command += ["-D", f"extensions={extensions}"]
    answer = subprocess.run(
        [*command, "-d", str(folder / "trees"), str(ROOT / "docs"), str(folder / "html")],
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert answer.returncode == 0, answer.stderr
    return folder / "html"


def test_the_manual_builds_without_a_warning(manual: Any) -> None:
    assert (manual / "tutorial.html").is_file()
    assert len(list((manual / "_images").glob("*.svg"))) >= 20


def names_in(manual: Any) -> Any:
    """The names that the reference documents, without modules."""
    lines = zlib.decompress((manual / "objects.inv").read_bytes().split(b"\n", 4)[4]).decode().splitlines()
    return {line.split(" ")[0] for line in lines if " py:" in line and " py:module " not in line}


def letters(text: str) -> Any:
    """A text without white space and markup, with straight quotation marks."""
    return re.sub(r"[\s`*\\]+", "", text.translate(str.maketrans("“”‘’", "\"\"''")))


def test_docstrings_are_shown_as_written(manual: Any) -> None:
    """Each line of a docstring is in the reference: no part of it is taken for a type, or for markup."""
    pages = [path.read_text(encoding="utf-8") for path in (manual / "reference").glob("*.html")]
    shown = "".join(letters(unescape(re.sub(r"<[^>]*>", "", page))) for page in pages)
    known = names_in(manual)
    checked = [
        (name, line)
        for package in ("constrint", "kerneltune")
        for name, documented in docstrings(package)
        if name in known
        for line in lines_as_shown(documented)
    ]
    assert len(checked) > 1000
    assert [f"{name}: {line}" for name, line in checked if letters(line) not in shown] == []


def test_every_public_name_is_in_the_reference(manual: Any) -> None:
    """And so is what completion offers for an object; what it leaves out is left out there, too."""
    known = names_in(manual)
    last = {name.rpartition(".")[2] for name in known}
    public = {name for package in (constrint, kerneltune) for name in package.__all__}
    assert public - last == set()
    for one in objects():
        names = [f"{cls.__module__}.{cls.__qualname__}." for cls in type(one).__mro__]
        for cls in type(one).__mro__:
            for name in vars(cls).get("_internal", ()):
                assert f"{cls.__module__}.{cls.__qualname__}.{name}" not in known
        for name in dir(one):
            if not (name.startswith("_") or hasattr(tuple, name)):
                assert any(f"{prefix}{name}" in known for prefix in names), f"{type(one)}: {name}"


ENDS = """
[...document.querySelectorAll('.gallery')].flatMap((one) => {
  const right = one.getBoundingClientRect().right;
  const rows = Map.groupBy([...one.children], (card) => Math.round(card.getBoundingClientRect().top));
  return [...rows.values()].map((row) => right - row.at(-1).getBoundingClientRect().right);
})
"""


@needs_chromium
@pytest.mark.parametrize("width", [NARROW, 800, 1400, 1900])
def test_rows_of_the_gallery_are_full(manual: Any, width: int) -> None:
    with chromium() as browser:
        browser.open(manual / "gallery" / "index.html", width=width)
        ends = browser.value(ENDS)
    assert len(ends) >= 4
    assert max(map(abs, ends)) < 2


@needs_chromium
def test_headings_have_two_sizes_and_pictures_suit_the_night(manual: Any) -> None:
    with chromium() as browser:
        browser.open(manual / "index.html", dark=True)
        sizes = [
            browser.value(f"parseFloat(getComputedStyle(document.querySelector('article {tag}')).fontSize)")
            for tag in ("h1", "h2", "p")
        ]
        look = "getComputedStyle(document.querySelector('.cards img')).filter"
        assert browser.value(look).startswith("invert")
        browser.open(manual / "index.html")
        assert browser.value(look) == "none"
    assert sizes[0] > 1.25 * sizes[1] > 1.5 * sizes[2]


def test_numbers_in_tables_stay_whole(manual: Any) -> None:
    page = (manual / "benchmarks.html").read_text(encoding="utf-8")
    assert 'class="number"' in page
    assert re.search(r"<td>[^<]*\d (s|ms|GB)\b", page) is None


@needs_chromium
def test_pages_at_400_pixels(manual: Any) -> None:
    pages = sorted(manual.rglob("*.html"))
    assert len(pages) > 40
    wide = {}
    with chromium() as browser:
        for page in pages:
            browser.open(page, width=NARROW, height=800)
            browser.until("document.querySelector('article') || document.title")
            found = browser.value(WIDER)
            if found:
                wide[page.relative_to(manual).as_posix()] = found
        browser.value(
            "document.querySelector('article').append(Object.assign(document.createElement('div'),"
            "{style: 'width: 600px'})); 0"
        )
        assert browser.value(WIDER), "the check finds what is too wide"
        browser.open(manual / "coming-from.html", width=1400)
        programs = browser.value("document.querySelectorAll('article .highlight pre').length")
        assert (
            browser.value("document.querySelectorAll('article .highlight button.copybtn').length") == programs
        )
        assert programs > 3
        browser.open(manual / "gallery" / "index.html", width=1400)
        browser.until("[...document.images].every((one) => one.complete)")
        pictures = "[...document.querySelectorAll('.gallery img')].map((one) => one.naturalWidth)"
        browser.value(
            "document.querySelectorAll('.gallery img').forEach((one) => (one.loading = 'eager')); 0"
        )
        browser.until(f"{pictures}.every((width) => width > 0)")
        assert len(browser.value(pictures)) == 21
        anchors = browser.value(
            "[...document.querySelectorAll('.gallery a')].map((one) => one.getAttribute('href'))"
        )
    assert wide == {}
    for anchor in anchors:
        page, _, name = anchor.partition("#")
        assert f'id="{name}"' in (manual / "gallery" / page).read_text(encoding="utf-8"), anchor
