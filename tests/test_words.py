"""Words: the glossary's places exist, names are said once, docstrings begin with the term."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("constrint", "kerneltune")
ROW = re.compile(r"\| (?P<term>[^|]+) \| (?P<field>[^|]*)\| (?P<meaning>[^|]+) \| `(?P<place>[^`|]+)` \|")
REPEATED_MODULES = {
    "writer": "a format's folder has its writer",
    "replay": "the command, Kernel Tuner's simulation, and CUDA graphs; the last is public",
}
"""Module names of more than two packages, with the reason."""
PROPAGATORS = {"Divides", "Element", "Gcd", "Lcm", "Member", "Selection", "Table"}
"""Classes of propagators that have the names of the expressions they stand for: proofs name them so."""
REPEATED_CLASSES = {
    "constrint": {
        **dict.fromkeys(PROPAGATORS, "an expression and its propagator, as proofs name it"),
        **dict.fromkeys(("Constraint", "Domain", "Problem", "Solver"), "python-constraint's public names"),
    },
    "kerneltune": {
        **dict.fromkeys(
            (
                "GRU",
                "LSTM",
                "sLSTM",
                "MinGRU",
                "MinLSTM",
                "LinearRecurrence",
                "DiagonalGRU",
                "DiagonalLSTM",
                "DiagonalSLSTM",
            ),
            "the public layers of PyTorch and of JAX",
        ),
        "_Loaded": "a kernel loaded for JAX, for recurrent layers, and for scans",
    },
}
"""Classes of one name in several modules of a package, with the reason."""


def _entries() -> list[dict[str, str]]:
    lines = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line.startswith("| ") and not line.startswith("| term |")]
    found = [ROW.fullmatch(row) for row in rows]
    assert [row for row, match in zip(rows, found, strict=True) if match is None] == []
    return [match.groupdict() for match in found if match is not None]


def _sources(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


def test_places_of_the_glossary_exist() -> None:
    entries = _entries()
    assert len(entries) > 120
    assert [one["term"] for one in entries if not (ROOT / one["place"]).is_file()] == []


def test_the_glossary_has_each_term_once() -> None:
    terms = [term.strip() for one in _entries() for term in one["term"].split(",")]
    assert sorted(terms) == sorted(set(terms))


def test_the_glossary_knows_every_layer() -> None:
    known = {Path(one["place"]).parts[1] for one in _entries()}
    layers = {path.parts[-2] for path in (ROOT / "constrint").glob("*/__init__.py")}
    plain = {"cli", "frontends", "globals", "integrations", "number_theory", "pictures", "support"}
    assert layers - plain - known == set()


@pytest.mark.parametrize("package", PACKAGES)
def test_module_names_are_in_two_packages_at_most(package: str) -> None:
    places = defaultdict(set)
    for path in _sources(package):
        if not path.stem.startswith("__"):
            places[path.stem].add(path.parent)
    found = {name for name, folders in places.items() if len(folders) > 2}
    assert found - set(REPEATED_MODULES) == set(), "a module is named by what it holds"


@pytest.mark.parametrize("package", PACKAGES)
def test_class_names_are_said_once(package: str) -> None:
    places = defaultdict(list)
    for path in _sources(package):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(f"{path.relative_to(ROOT)}:{node.lineno}")
    repeated = {name: found for name, found in places.items() if len(found) > 1}
    reasons = REPEATED_CLASSES[package]
    assert {name: found for name, found in repeated.items() if name not in reasons} == {}
    assert set(reasons) - set(repeated) == set(), "these are said once by now"


BARE = {
    "DEEPEST", "FAR", "FEW", "FIRST", "GREATEST", "LARGE", "LARGEST", "LEAST", "LONG", "LONGEST", "MANY",
    "MOST", "NEAR", "SHORT", "SHOWN", "SMALL", "SMALLEST", "TINY", "WIDE", "WIDEST",
}  # fmt: skip
"""Words that say how much, but not of what."""
KINDS = {"constrint/engine/select.py", "constrint/learning/decide.py", "constrint/learning/session.py"}
"""Modules in which such words are kinds of a choice, as in `LEAST` value, and no quantities."""


@pytest.mark.parametrize("package", PACKAGES)
def test_constants_say_of_what_they_are_the_most(package: str) -> None:
    found = [
        f"{name}:{part.lineno} {part.id}"
        for path in _sources(package)
        if (name := path.relative_to(ROOT).as_posix()) not in KINDS
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        for part in ast.walk(target)
        if isinstance(part, ast.Name) and part.id in BARE
    ]
    assert found == []


def _docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """Strings that stand by themselves, docstrings of constants and fields included, with their lines."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            text = node.value.value
            if isinstance(text, str):
                yield node.lineno, text


@pytest.mark.parametrize("package", PACKAGES)
def test_docstrings_begin_with_the_term(package: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {text.splitlines()[0]}"
        for path in _sources(package)
        for line, text in _docstrings(path)
        if text.startswith("What ")
    ]
    assert found == [], "a docstring says the term, not `What …`"
