"""The docstrings of the packages, by the names of what they document."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SECTION = re.compile(r"(Args|Attributes|Raises|Returns|Yields):")
ENTRY = re.compile(r"    [\w*.]+: ")


def docstrings(package: str) -> Iterator[tuple[str, str]]:
    """The docstrings of a package: of modules, classes, functions, attributes and constants."""
    for path in sorted((ROOT / package).rglob("*.py")):
        module = path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".").removesuffix(".__init__")
        tree = ast.parse(path.read_text(encoding="utf-8"))
        yield module, ast.get_docstring(tree) or ""
        yield from _inside(tree, module)


def _inside(tree: ast.Module | ast.ClassDef, prefix: str) -> Iterator[tuple[str, str]]:
    for node, following in zip(tree.body, [*tree.body[1:], None], strict=True):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield f"{prefix}.{node.name}", ast.get_docstring(node) or ""
        if isinstance(node, ast.ClassDef):
            yield from _inside(node, f"{prefix}.{node.name}")
        targets = [node.target] if isinstance(node, ast.AnnAssign) else getattr(node, "targets", [])
        match targets, following:
            case [ast.Name(name)], ast.Expr(ast.Constant(str(documented))):
                yield f"{prefix}.{name}", documented


def lines_as_shown(documented: str) -> Iterator[str]:
    """The lines of a docstring, without the headings of sections and the names of their entries."""
    in_entries = False
    for line in documented.splitlines():
        if SECTION.fullmatch(line):
            in_entries = not line.startswith(("Returns", "Yields"))
        elif line:
            in_entries = in_entries and line.startswith(" ")
            yield ENTRY.sub("", line, count=1) if in_entries else line
