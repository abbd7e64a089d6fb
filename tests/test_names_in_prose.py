"""Names of code in prose name something: files, modules, attributes, options and identifiers in backticks.

Prose is the pages, the READMEs, and the docstrings and comments of the packages.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from constrint import Limits

ROOT = Path(__file__).parents[1]
PACKAGES = ("constrint", "kerneltune")
FOLDERS = (*PACKAGES, "kernels", "hardware_profiles", "tests", "benchmarks", "examples", "docs", "editors")
PAGES = [
    *("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "examples/README.md"),
    *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")),
]
SOURCES = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
CODE = {".py", ".toml", ".yaml", ".cu", ".cuh", ".cpp", ".hpp", ".lark", ".j2", ".constrint", ""}
FOREIGN = {  # names of other projects, and the one that this one does without
    *("CpModelProto", "sufficient_assumptions_for_infeasibility", "RawKernel", "ninja"),
    *("Stream_Get", "XLA_FFI_CallFrame", "util.py", "json.py", "c_api.h"),
}
SPAN = re.compile(r"(?<!`)(`{1,2})([^`\n]+?)\1(?!`)")
IDENTIFIER = re.compile(r"@?([A-Za-z_]\w*)(\(.*\))?")
DOTTED = re.compile(r"([A-Za-z_]\w*)((?:\.[A-Za-z_]\w*)+)(\(.*\))?")
SOURCE_FILE = re.compile(r"[\w/-]+\.(?:py|cuh?|cpp|hpp|lark|j2)|[a-z]\w+(?:/\w+)+/?")
ANYWHERE = re.compile(rf"(?<![\w./-])((?:{'|'.join(FOLDERS)})/[\w./-]*\.(?:py|md|cuh?|lark|yaml|j2|svg))\b")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")


@cache
def files() -> list[Path]:
    """All files of the repository."""
    found = [path for folder in (*FOLDERS, ".ci") for path in (ROOT / folder).rglob("*")]
    found += ROOT.glob("*")
    return [path for path in found if path.is_file() and "_build" not in path.parts]


@cache
def paths() -> set[str]:
    """The ends of all paths, of files and folders, and of Python files also without their ending."""
    full = {path.relative_to(ROOT) for path in files()}
    full |= {parent for path in full for parent in path.parents}
    full |= {path.with_suffix("") for path in full if path.suffix == ".py"}
    return {"/".join(path.parts[-n:]) for path in full for n in range(1, len(path.parts) + 1)}


@cache
def code() -> str:
    """All code that is no prose: of the packages without comments and docstrings."""
    parts = []
    for path in files():
        if path == Path(__file__):
            continue  # it has names of nothing
        if path.suffix == ".py" and path.relative_to(ROOT).parts[0] in PACKAGES:
            parts.append(without_prose(path.read_text(encoding="utf-8")))
        elif path.suffix in CODE or path.is_relative_to(ROOT / "editors"):
            parts.append(path.read_text(encoding="utf-8", errors="replace"))
    return "\n".join(parts)


@cache
def words() -> set[str]:
    return {*re.findall(r"[A-Za-z_]\w*", code())}


def without_prose(source: str) -> str:
    alone = {(statement.lineno, statement.col_offset) for statement, _ in strings_alone(ast.parse(source))}
    return " ".join(
        token.string
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type != tokenize.COMMENT and token.start not in alone
    )


def strings_alone(tree: ast.Module) -> Iterator[tuple[ast.Expr, str]]:
    """The statements that are nothing but a string: docstrings, also those below attributes."""
    for node in ast.walk(tree):
        match node:
            case ast.Expr(ast.Constant(str(text))):
                yield node, text


@cache
def classes() -> dict[str, tuple[set[str], set[str]]]:
    """Of each class in the packages its attributes and its bases, by name."""
    found: dict[str, tuple[set[str], set[str]]] = {}
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                names, bases = found.setdefault(node.name, (set(), set()))
                bases.update(ast.unparse(base).split("[")[0].rpartition(".")[2] for base in node.bases)
                names.update(defined(node))
                names.update(
                    one.attr
                    for one in ast.walk(node)
                    if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store)
                )
    return found


def defined(tree: ast.Module | ast.ClassDef) -> Iterator[str]:
    """The names that the body of a module or class defines or imports."""
    for node in ast.walk(tree) if isinstance(tree, ast.Module) else tree.body:
        match node:
            case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
                yield name
            case ast.ImportFrom(module="constrint.public", names=[ast.alias(name="*")]):
                yield from defined(ast.parse((ROOT / "constrint" / "public.py").read_text(encoding="utf-8")))
            case ast.ImportFrom(names=names):
                yield from (one.asname or one.name for one in names)
            case ast.Assign(targets=targets):
                yield from (one.id for one in map_walk(targets) if isinstance(one, ast.Name))
            case ast.AnnAssign(target=ast.Name(name)):
                yield name


def map_walk(nodes: list[Any]) -> Iterator[ast.AST]:
    for node in nodes:
        yield from ast.walk(node)


def has(name: str, attribute: str) -> bool:
    """Whether a class, or a base of it, has an attribute; a base of another project may have any."""
    if name not in classes():
        return name not in ("object", "Enum", "Exception", "NamedTuple", "Protocol")
    names, bases = classes()[name]
    return attribute in names or any(has(base, attribute) for base in bases)


def resolves(dotted: list[str]) -> bool:
    """Whether a name that begins with a package names a module, or what one defines."""
    for n in range(len(dotted), 0, -1):
        place = ROOT.joinpath(*dotted[:n])
        path = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
        if path.is_file():
            known = {*defined(ast.parse(path.read_text(encoding="utf-8")))}
            known |= {"__version__"}
            return n == len(dotted) or dotted[n] in known
    return False


def goes_wrong(span: str) -> bool:
    """Whether what stands in backticks is a name that names nothing."""
    if any(name in span for name in FOREIGN):
        return False
    if not options_of(span) <= options():
        return True
    if found := IDENTIFIER.fullmatch(span):
        name = found[1]
        return not {name, re.sub(r"(_?\d+)+$", "", name)} & words() and name not in paths()
    if SOURCE_FILE.fullmatch(span):
        return span.rstrip("/") not in paths()
    if found := DOTTED.fullmatch(span):
        first, *rest = (found[1] + found[2]).split(".")
        if first in PACKAGES:
            return not resolves([first, *rest]) and f'"{span}"' not in code()  # a setting of an editor
        if first in classes():
            return not has(first, rest[0])
        return first in words() and not {*rest} <= words()
    return False


def options_of(span: str) -> set[str]:
    ours = re.match(r"(--|constrint |kerneltune |fzn-constrint )", span)
    return {*OPTION.findall(span)} if ours else set()


@cache
def options() -> set[str]:
    """The options of commands; `--max-{name}` stands for those of all limits."""
    limits = [f"--max-{name}" for name in Limits.__annotations__]
    assert re.search(r"--max- ?\{", code())
    return {*OPTION.findall(code()), *limits}


def spans(line: str) -> list[str]:
    return [found[2] for found in SPAN.finditer(line)]


def prose_of(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a Python file's comments, docstrings and the strings below attributes."""
    source = path.read_text(encoding="utf-8")
    for statement, text in strings_alone(ast.parse(source)):
        yield from enumerate(text.splitlines(), statement.lineno)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


@pytest.mark.parametrize("page", PAGES)
def test_names_in_a_page(page: str) -> None:
    fenced, wrong = False, []
    for number, line in enumerate((ROOT / page).read_text(encoding="utf-8").splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            wrong += [f"{page}:{number}: `{span}`" for span in spans(line) if goes_wrong(span)]
    assert wrong == []


@pytest.mark.parametrize("package", PACKAGES)
def test_names_in_docstrings_and_comments(package: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{number}: `{span}`"
        for path in SOURCES
        if path.is_relative_to(ROOT / package)
        for number, line in prose_of(path)
        for span in spans(line)
        if goes_wrong(span)
    ]
    assert wrong == []


def test_paths_from_the_root_exist_wherever_they_are_written() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{number}: {named}"
        for path in files()
        if path.suffix in CODE | {".md"} and path.name not in ("CHANGELOG.md", "NOTES.md")
        if not path.is_relative_to(ROOT / "tests")
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1)
        for named in ANYWHERE.findall(line)
        if named not in paths() and named.partition("/")[0] not in ("tests", "examples")
    ]
    assert wrong == []


@pytest.mark.parametrize(
    "span",
    [
        *("zebra_stripe", "zebra_stripe(x)", "constrint.zebra", "constrint.model.zebra", "Model.zebra"),
        *("zebra.py", "search/zebra.py", "search/zebra", "constrint solve --zebra"),
    ],
)
def test_a_name_of_nothing_is_found(span: str) -> None:
    assert goes_wrong(span)


@pytest.mark.parametrize(
    "span",
    [
        *("int_var", "divides(2, x)", "constrint.engine", "constrint.model.Model", "Model.solve", "x <= 9"),
        *(
            "store/state.py",
            "search/choose",
            "propagators/",
            "constrint solve --json",
            "np.sum",
            "pip install .",
        ),
    ],
)
def test_a_name_of_something_is_none(span: str) -> None:
    assert not goes_wrong(span)
