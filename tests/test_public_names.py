"""`dir`, completion and `help` show what users call and read: nothing else, and all of it documented."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pydoc
import re
from pathlib import Path
from typing import Any

import pytest

import constrint
import kerneltune
from constrint import Model

ROOT = Path(__file__).parents[1]
WITH_EXAMPLES = sorted(
    path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".")
    for package in ("constrint", "kerneltune")
    for path in (ROOT / package).rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)


def objects() -> list[Any]:
    """An object of each class that users meet."""
    m = Model()
    x, y, b = m.int_var("x", 0, 3), m.int_var("y", 0, 3), m.bool_var("b")
    array = m.int_vars("a", 3, 0, 3)
    enum, chosen = m.enum_var("e", ["red", "green"]), m.set_var("s", [1, 2])
    task = m.interval("task", size=2, end=(0, 9))
    handle = m.add(x <= y, name="order", weight=1)
    empty = Model()
    empty.add(empty.int_var("z", 0, 3) > 3)
    result = m.solve()
    return [
        *(m, x, b, x + y, x * y, constrint.max_(x, y), x <= y, b & (x == y), b.implies(x == y)),
        *(constrint.all_different([x, y]), constrint.abs_(x), constrint.element([1, 2, 3, 4], x)),
        *(0.5 * x, array, enum, chosen, chosen | {1}, task, handle, m.disabled[0], x.domain),
        *(result, result.statistics, result.intervals["task"], m.iter_solutions(), m.solutions()),
        *(m.pareto(minimize=x), m.best_solutions(2, minimize=x), m.conflicts(), empty.explain()),
        *(m.plan(), constrint.Brancher(), constrint.Group([x]), constrint.Restarts(), constrint.Limits()),
    ]


def described(cls: type, name: str) -> bool:
    """Whether a class says what an attribute is: in its "Attributes", or by the attribute's own docstring."""
    for base in cls.__mro__:
        documented = inspect.cleandoc(base.__doc__ or "")
        if re.search(rf"^    {name}: ", documented, re.MULTILINE):
            return True
        if name in vars(base) and inspect.getdoc(getattr(base, name)):
            return not inspect.ismemberdescriptor(vars(base)[name])
    return False


def test_dir_of_the_packages() -> None:
    assert dir(constrint) == sorted([*constrint.__all__, "__version__"])  # type: ignore[attr-defined]
    assert dir(kerneltune) == sorted(kerneltune.__all__)
    assert {"In", "Out", "tune"} <= {*dir(kerneltune)}
    for package in (constrint, kerneltune):
        for name in dir(package):
            assert inspect.getdoc(getattr(package, name)), f"{package.__name__}.{name} has no docstring"


def test_all_that_is_offered_is_described() -> None:
    missing = {
        f"{type(one).__qualname__}.{name}"
        for one in objects()
        for name in dir(one)
        if not name.startswith("_") and not described(type(one), name)
    }
    assert missing == set()


def test_names_that_are_not_offered_exist() -> None:
    """A list of names goes wrong silently where one of them is renamed."""
    for one in objects():
        for cls in type(one).__mro__:
            for name in (*vars(cls).get("_internal", ()), *vars(cls).get("_offered", ())):
                assert hasattr(one, name), f"{cls.__qualname__}: {name}"


def test_completion_leaves_internals_out() -> None:
    m = Model()
    x = m.int_var("x", 0, 3)
    assert not {"lock", "owned", "units", "declare_name", "settings"} & {*dir(m)}
    assert {"int_var", "solve", "count", "from_text", "constraints"} <= {*dir(m)}
    assert [name for name in dir(x + 1) if not name.startswith("_")] == [
        *("bits", "children", "evaluate", "is_in", "position", "variables"),
    ]


def test_help_opens_with_an_example() -> None:
    shown = pydoc.render_doc(Model, renderer=pydoc.plaintext)  # type: ignore[attr-defined]
    assert shown.index(">>> m = Model(") < 600
    before, _, chain = shown.partition("Method resolution order:")
    named = re.findall(r"constrint\.[\w.]+\.([A-Z]\w+)", chain.partition("Methods")[0])
    for base in ("Declarations", "Alternatives", "ImportExport"):
        assert base in named
        assert f"`{base}`" in before, "the chain is explained before it is shown"
    for name in re.findall(r"`(\w+)`", inspect.getdoc(Model) or ""):
        assert hasattr(Model, name) or name in ("Model", *named), name


@pytest.mark.parametrize("module", WITH_EXAMPLES)
def test_examples_of_docstrings(module: str) -> None:
    result = doctest.testmod(importlib.import_module(module))
    assert result.attempted > 0
    assert result.failed == 0
