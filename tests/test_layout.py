"""The layout: files and functions of bounded length, and a folder of tests for each layer."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OTHER = {
    "constrint": {"model", "oracles", "fuzz"},
    "kerneltune": {"layers", "stand_ins", "benchmarks"},
}
"""Folders of tests that have no folder of code with their name."""
SOURCES = ("constrint", "kerneltune", "kernels", "tests", "benchmarks", "examples", "docs")
ENDINGS = {".py", ".cu", ".cuh", ".cpp", ".h", ".lark", ".js"}
LONGEST_FILE = 400
LONGEST_FUNCTION = 60
MOST_POSITIONAL = 8  # arguments of a call: beyond, nobody sees which is which
MOST_PARAMETERS = 10
VARIADIC = {"with_parts", "changed_by", "_table", "add_row"}
"""Functions of any number of like things: classes, names, columns, cells."""
FLAT_CALLS = {
    "kerneltune/running/scan_cpu.py _numbers()",  # machine code takes arrays and numbers, no records
}
FLAT_FUNCTIONS = {
    "constrint/model.py solve",  # public: a keyword for each option
    "constrint/answers/search_arguments.py options_of",  # its keywords made a record
    "constrint/cli/main.py solve",  # click gives an argument for each option
    "constrint/cli/main.py space",  # likewise
    "kerneltune/cli/replay.py replay",  # likewise
    "kerneltune/cli/tune.py tune",  # likewise
    "kerneltune/kernel_tuner/interface.py tune_kernel",  # Kernel Tuner's own
    "kerneltune/kernel_tuner/running.py run_kernel",  # likewise
    "kerneltune/torch/rnn.py recurrence",  # public: a keyword for each option
}


def test_files_are_short() -> None:
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in _sources()}
    assert len(lengths) > 600
    assert [path.relative_to(ROOT) for path, length in lengths.items() if length > LONGEST_FILE] == []


def test_functions_are_short() -> None:
    found = [place for path in _sources() if path.suffix == ".py" for place in _long_functions(path)]
    assert found == []


def _sources() -> Iterator[Path]:
    """The files that people write; not what they are made into."""
    for folder in SOURCES:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in ENDINGS and "_build" not in path.parts:
                yield path


def _long_functions(path: Path) -> Iterator[str]:
    """Functions of too many lines, without their docstrings."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0]
            is_doc = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
            doc = (first.end_lineno or 0) - first.lineno + 1 if is_doc else 0
            length = (node.end_lineno or 0) - node.lineno + 1 - doc
            if length > LONGEST_FUNCTION:
                yield f"{path.relative_to(ROOT)}:{node.lineno} {node.name}: {length} lines"


def test_long_lists_of_arguments_are_records_or_keywords() -> None:
    calls, functions = set(), set()
    for path in _sources():
        if path.suffix == ".py" and path.relative_to(ROOT).parts[0] in OTHER:
            name = path.relative_to(ROOT).as_posix()
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and _positional(node) > MOST_POSITIONAL:
                    called = ast.unparse(node.func)
                    if called.rpartition(".")[2] not in VARIADIC:
                        calls.add(f"{name} {called}")
                elif isinstance(node, ast.FunctionDef) and _parameters(node) > MOST_PARAMETERS:
                    functions.add(f"{name} {node.name}")
    assert calls == FLAT_CALLS
    assert functions == FLAT_FUNCTIONS


def _positional(call: ast.Call) -> int:
    """Positional arguments of a call, those of starred tuples included."""
    return sum(
        len(one.value.elts) if isinstance(one, ast.Starred) and isinstance(one.value, ast.Tuple) else 1
        for one in call.args
    )


def _parameters(function: ast.FunctionDef) -> int:
    """Parameters of a function without the object that it is called on."""
    found = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return sum(one.arg not in ("self", "cls") for one in found)


@pytest.mark.parametrize("package", sorted(OTHER))
def test_every_folder_of_tests_has_its_layer(package: str) -> None:
    folders = {path.parent.relative_to(ROOT / "tests" / package) for path in _tests(package)}
    layers = {path.parent.relative_to(ROOT / package) for path in (ROOT / package).rglob("*.py")}
    assert Path() not in folders  # a test stands in the folder of its layer
    assert folders - layers <= {Path(name) for name in OTHER[package]}


def test_no_two_files_of_tests_have_one_name() -> None:
    names = [path.name for package in OTHER for path in _tests(package)]
    assert sorted(names) == sorted(set(names))


def _tests(package: str) -> list[Path]:
    return [*(ROOT / "tests" / package).rglob("test_*.py")]


FINISHED = ("enumeration", "learning", "local_search", "preparing", "presolve", "relaxation", "search")
"""Folders of constrint whose thresholds are settings."""
WORDS = {
    "BRIEF", "BRIEFEST", "DEEPEST", "FAILURES", "FEW", "FIRST", "GREATEST", "LARGE", "LARGEST", "LEAST",
    "LONGEST", "MANY", "MOST", "NARROW", "NODES", "PASSES", "PIVOTS", "PROPAGATIONS", "ROUNDS", "SHARE",
    "SHORT", "SLICE", "SMALL", "TURN", "WEIGHT", "WIDE", "WIDEST", "WORK",
}  # fmt: skip
"""Words of thresholds."""
NO_THRESHOLDS = {
    "learning/analyse.py": {"MOST_VISITED"},  # the size of an array, in machine code
    "learning/learner_arrays.py": {"WIDEST_EXPLANATION"},  # likewise
    "learning/clauses.py": {"WORK_OF_WATCH"},  # measured, in machine code
    "learning/decide.py": {"LEAST", "GREATEST"},  # kinds
    "learning/heap.py": {"MOST_ACTIVE", "FIRST_INCREMENT"},  # what fits into 64 bits
    "learning/restarts.py": {"MOST_WITHIN"},  # what fits into 64 bits
    "learning/added_rows.py": {"LARGEST_TOTAL"},  # likewise
    "learning/session.py": {"NARROW", "WIDE"},  # kinds
    "preparing/branching.py": {"MOST_INHERITED"},  # memory of a function that knows of no model
    "preparing/prepared.py": {"WIDEST_BITS"},  # the greatest numbers that there are
    "local_search/annealed_layout.py": {"WORK"},  # a place in an array
    "search/moves_in_slices.py": {"WORK_OF_UNIT"},  # a unit
    "search/sliced.py": {"WORK_OF_NODE"},  # a unit
}


def test_thresholds_are_settings() -> None:
    found = {
        f"{path.parent.name}/{path.name}: {name}"
        for folder in FINISHED
        for path in sorted((ROOT / "constrint" / folder).glob("*.py"))
        if path.name != "layout.py"  # places in arrays
        for name in _numbers(path)
        if WORDS & set(name.split("_")) and name not in NO_THRESHOLDS.get(f"{folder}/{path.name}", ())
    }
    assert found == set(), "a threshold is a field of a record in constrint/settings"


def _numbers(path: Path) -> Iterator[str]:
    """The constants of a module that are numbers, or are made of numbers."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and node.value is not None:
            parts = [part.value for part in ast.walk(node.value) if isinstance(part, ast.Constant)]
            if any(isinstance(part, int | float) and not isinstance(part, bool) for part in parts):
                for target in node.targets:
                    for part in ast.walk(target):
                        if isinstance(part, ast.Name) and part.id.isupper():
                            yield part.id


def test_tests_that_draw_as_many_as_the_environment_says_are_marked() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")}
    number = re.compile(r"int\(os\.environ\.get\(\"CONSTRINT_")
    drawing = {path for path, text in texts.items() if number.search(text)}
    assert drawing
    assert drawing == {path for path, text in texts.items() if "\n@pytest.mark.fuzz\n" in text}


def test_tests_hand_in_settings() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno} {name}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "setattr"
        for name in _constants(node.args[:2])
    ]
    assert found == [], (
        "a test hands in what it changes: settings (settings.using, Model.settings), arguments"
    )


def _constants(arguments: Sequence[ast.expr]) -> Iterator[str]:
    """The names of constants among the first arguments of `setattr`."""
    for one in arguments:
        if isinstance(one, ast.Constant) and isinstance(one.value, str):
            name = one.value.rpartition(".")[2]
            if name.isupper() and len(name) > 2:
                yield name


@pytest.mark.parametrize("package", ["constrint", "kerneltune"])
def test_files_import_each_other_in_no_circle(package: str) -> None:
    """Expressions build each other, so theirs may. Imports within functions and for types do not count."""
    files = {".".join(path.with_suffix("").parts).removesuffix(".__init__"): path for path in _files(package)}
    graph = {}
    for name, path in files.items():
        found = {one if one in files else one.rpartition(".")[0] for one in _imported(path)}
        of_expr = name.startswith("constrint.expr")
        graph[name] = {
            one for one in found & files.keys() - {name} if not (of_expr and one.startswith("constrint.expr"))
        }
    assert len(list(TopologicalSorter(graph).static_order())) == len(graph)  # else a CycleError names it


def _files(package: str) -> list[Path]:
    return [path.relative_to(ROOT) for path in (ROOT / package).rglob("*.py")]


def _imported(path: Path) -> set[str]:
    """The modules, and what may be modules, that a file imports when it is imported."""
    open_nodes = list(ast.parse((ROOT / path).read_text(encoding="utf-8")).body)
    found = set()
    for node in open_nodes:
        if isinstance(node, ast.Import):
            found |= {one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{one.name}" for one in node.names}
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            open_nodes += node.orelse
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            open_nodes += [one for one in ast.iter_child_nodes(node) if isinstance(one, ast.stmt)]
    return found
