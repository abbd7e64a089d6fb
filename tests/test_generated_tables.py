"""The tables of the manual that the code determines, and what they are made of."""

from __future__ import annotations

import ast
import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

from constrint.frontends.constraint_names import NAMES, Format, signatures
from constrint.frontends.flatzinc.library import GLOBALS as FLATZINC
from constrint.frontends.plain_form import KINDS
from constrint.frontends.xcsp3.accepted import PARTS
from constrint.globals import GLOBALS
from constrint.integrations.cpmpy_functions import NUMBERS, RELATIONS
from constrint.propagators import REGISTRY

ROOT = Path(__file__).parents[1]
TABLES = runpy.run_path(str(ROOT / "docs" / "generated_tables.py"))
MOST_ASKED = 9


@pytest.mark.parametrize("page", list(TABLES["pages"]()), ids=lambda page: page.name)
def test_tables_are_up_to_date(page: Any) -> None:
    text = page.read_text(encoding="utf-8")
    assert text == TABLES["current"](text), "run python docs/generated_tables.py"


def test_every_layer_has_a_cell_for_every_propagator() -> None:
    layers = [one for some in TABLES["layers"]().values() for one in some]
    text = (ROOT / "docs" / "constrint-propagators.md").read_text(encoding="utf-8")
    heads = {
        head
        for line in re.findall(r"^\| propagator \|(.*)\|$", text, re.MULTILINE)
        for head in line.split("|")
    }
    assert {one.layer for one in layers} == {head.strip() for head in heads}
    assert [one.layer for one in layers if not one.rest and not one.own.issuperset(REGISTRY)] == []
    assert {one.layer: one.own for one in layers if one.rest == "plain form"} == dict.fromkeys(
        ("CP-SAT's model", "CPMpy", "FlatZinc", "XCSP3"), frozenset(KINDS)
    )


def test_propagators_are_told_apart_in_registries() -> None:
    """A module that asks for the classes of many propagators has them in a registry."""
    told_apart = {}
    for path in sorted((ROOT / "constrint").rglob("*.py")):
        if "propagators" not in path.parts:
            tree = ast.parse(path.read_text(encoding="utf-8"))
            asked = [one.args[1] for one in ast.walk(tree) if isinstance(one, ast.Call) and is_instance(one)]
            names = {name for one in asked for name in names_in(one)} & {kind.__name__ for kind in REGISTRY}
            told_apart[path.relative_to(ROOT).as_posix()] = len(names)
    assert len(told_apart) > 300
    assert {path: number for path, number in told_apart.items() if number > MOST_ASKED} == {}


def is_instance(call: Any) -> Any:
    return isinstance(call.func, ast.Name) and call.func.id == "isinstance"


def names_in(tree: Any) -> Iterator[object]:
    for one in ast.walk(tree):
        yield getattr(one, "id", getattr(one, "attr", ""))


def test_every_global_constraint_has_a_row_without_empty_cells() -> None:
    assert set(NAMES) == {*GLOBALS, "table"}
    empty = [
        (name, column) for name, row in NAMES.items() for column in row._fields if not getattr(row, column)
    ]
    assert empty == []


def test_every_name_has_its_reader() -> None:
    names = {source: {one.name for one in signatures(source)} for source in get_args(Format)}
    assert names["flatzinc"] == set(FLATZINC)
    assert names["cpmpy"] <= {*RELATIONS, *NUMBERS}
    assert names["xcsp3"] <= {part.partition("@")[0] for part in PARTS}
    for source, files in (
        ("cp_sat", [*(ROOT / "constrint/backends").glob("cp_sat*.py")]),
        ("python_constraint", [ROOT / "constrint/frontends/python_constraint.py"]),
    ):
        called = "".join(file.read_text(encoding="utf-8") for file in files)
        assert [one for one in names[source] if f".{one}(" not in called] == []


@pytest.mark.parametrize("source", ["flatzinc", "cpmpy"])
def test_signatures_take_the_fields_of_definitions(source: Any) -> None:
    for one in signatures(source):
        definition = GLOBALS.get(one.constraint)
        if one.arguments and definition is not None:
            words = {word for field in definition.fields for word in field.words}
            fields = sorted(field.name for field in definition.fields if field.kind != "word")
            given = sorted(argument.strip("*{}") for argument in one.arguments)
            assert [name for name in given if name != "=" and name not in words] == fields
