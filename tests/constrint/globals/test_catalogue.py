"""The catalogue of the manual: its Python runs, and is written in the text language as it says."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import pytest

import constrint.globals
from constrint import Model

PAGE = (Path(__file__).parents[3] / "docs" / "constrint-globals.md").read_text("utf-8")
CATALOGUE = PAGE.partition("## Catalogue")[2].partition("\n## ")[0]
ROWS = [re.split(r"(?<!\\)\|", line)[1:-1] for line in CATALOGUE.splitlines() if line.startswith("| `")]
CODES = [(code, row[1]) for row in ROWS for code in re.findall(r"`([^`]+)`", row[0])]


@pytest.mark.parametrize(("code", "text"), CODES)
def test_the_python_of_the_catalogue_is_the_text_beside_it(code: str, text: str) -> None:
    m = Model()
    names: dict[str, Any] = {**vars(constrint)}
    names["x"], names["y"] = m.int_vars("x", 3, 0, 2), m.int_vars("y", 3, 0, 9)
    names["bs"] = m.bool_vars("b", 3)
    names |= {name: m.int_var(name, 0, 60) for name in "cdijv"}
    made = eval(code, names)  # noqa: S307 - the page of this repository
    m.add(made >= 0 if isinstance(made, constrint.IntExpr) else made)
    m.solve(time_limit=20)
    (written,) = (line for line in m.to_text().splitlines() if "(" in line)
    called = {name for name in re.findall(r"(\w+)\(", written) if hasattr(constrint, name) or "_" in name}
    assert called & {*re.findall(r"(\w+)\(", text), "short_table"}, written


def test_every_function_is_in_the_catalogue_or_has_an_example_below_it() -> None:
    found = iter_modules(constrint.globals.__path__)
    modules = [import_module(f"constrint.globals.{module.name}") for module in found]
    functions = {name for module in modules for name in getattr(module, "__all__", ())}
    assert {"all_different", "knapsack"} <= functions
    assert [name for name in functions if not re.search(rf"\b{name}\(", CATALOGUE)] == []
