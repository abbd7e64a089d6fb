"""Other projects' own tests with our drop-in installed, from their unpacked source archives.

    pip download --no-deps --no-binary :all: python-constraint2==2.9.0   # and unpack it
    python benchmarks/solver/foreign_suites.py python-constraint DIR [--out FILE] [--only]
    python benchmarks/solver/foreign_suites.py kernel-tuner DIR …
    python benchmarks/solver/foreign_suites.py kernel-tuner-call DIR …    # kerneltune's tune_kernel, too
    python benchmarks/solver/foreign_suites.py cpmpy DIR …

Nothing is downloaded. Each test runs twice, with the drop-in and, unless `--only` is given, without it. The
table lists every test that does not pass with the drop-in, its outcome without it, and the reason if the
failure is expected. For python-constraint, the examples in its documentation are run with our names, too.
Exit code 1: a test that passes without the drop-in fails with it unexpectedly.
"""

from __future__ import annotations

import argparse
import ast
import doctest
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from environment import environment

HERE = Path(__file__).resolve().parent
_GLOBALS = "tests/test_globalconstraints.py::TestGlobal"
_NO_PARSER = "about the classes that python-constraint makes of strings; the drop-in has conditions"

_ORDER = "prints the order in which python-constraint's search finds solutions"
_ANSWERED = "wants an error where python-constraint's solver class has no such answer; the drop-in has one"


@dataclass(frozen=True)
class Suite:
    """Test files of a project.

    Attributes:
        package: Its name on PyPI.
        files: The files, relative to the archive's folder.
        ignored: Files that are not run, with the reason.
        expected: Prefixes of tests that fail with the drop-in by its nature, with the reason.
        options: More arguments for pytest.
        solvers: For CPMpy, the tested solver with the drop-in, and without it.
        stubs: Modules that tests import and the archive lacks, each with the imported name.
    """

    package: str
    files: list[str]
    ignored: dict[str, str] = field(default_factory=dict)
    expected: dict[str, str] = field(default_factory=dict)
    options: list[str] = field(default_factory=list)
    stubs: str = ""
    solvers: tuple[str, str] = ("", "")


SUITES = {
    "python-constraint": Suite(
        "python-constraint2",
        ["tests"],
        {
            "tests/test_constraint.py, its first six": "about a folder of examples that the archive lacks",
            "tests/test_examples.py": "imports a folder of examples that the archive lacks",
            "tests/test_toml_file.py": "about the archive's own pyproject.toml",
            "tests/test_doctests.py": "needs the archive's modules; the examples are run one by one instead",
            "tests/test_util_benchmark.py": "times of python-constraint on its authors' machine",
        },
        {
            "tests/test_parser.py": _NO_PARSER,
            "README.rst line 60": _ORDER,
            "README.rst line 81": _ORDER,
            "solvers.py:MinConflictsSolver": _ANSWERED,
            "solvers.py:ParallelSolver": _ANSWERED,
            "tests/test_solvers.py::test_parallel_solver": _ANSWERED,
            "tests/test_compilation.py": "asks whether C extensions of python-constraint are in use",
        },
        ["-k", "not (abc or coins or einstein or queens or rooks or studentdesks)"],
        "examples examples.abc:abc examples.coins:coins examples.einstein:einstein examples.queens:queens "
        "examples.rooks:rooks examples.studentdesks:studentdesks",
    ),
    "kernel-tuner": Suite(
        "kernel_tuner",
        [
            "test/test_searchspace.py",
            "test/strategies",
            "test/test_runners.py",
            "test/test_time_budgets.py",
            "test/test_custom_optimizer.py",
            "test/test_hyper.py",
            "test/test_util_functions.py",
        ],
    ),
    "kernel-tuner-call": Suite(
        "kernel_tuner",
        [
            "test/test_searchspace.py",
            "test/strategies",
            "test/test_runners.py",
            "test/test_time_budgets.py",
            "test/test_custom_optimizer.py",
            "test/test_file_utils.py",
        ],
    ),
    "cpmpy": Suite(
        "cpmpy",
        [
            "tests/test_constraints.py",
            "tests/test_globalconstraints.py",
            "tests/test_builtins.py",
            "tests/test_solverinterface.py",
            "tests/test_solvers.py",
            "tests/test_solveAll.py",
            "tests/test_tools_mus.py",
            "tests/test_trans_safen.py",
            "tests/test_model.py",
        ],
        expected={
            f"{_GLOBALS}::test_ite_with_constants": "wants one of several solutions",
        },
        solvers=("constrint", "ortools"),
    ),
}
Outcomes = dict[str, dict[str, str]]


def outcomes(suite: Suite, folder: Path, drop_in: str) -> Outcomes:
    """Each test's outcome, in a separate process, with or without a drop-in."""
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "outcomes.json"
        paths = [str(HERE), str(HERE.parents[1])]
        env = {**os.environ, "FOREIGN_OUT": str(out), "FOREIGN_DROP_IN": drop_in}
        env |= {"FOREIGN_STUBS": suite.stubs, "FOREIGN_SOLVER": suite.solvers[0 if drop_in else 1]}
        env["PYTHONPATH"] = os.pathsep.join([*paths, env.get("PYTHONPATH", "")])
        ignored = [f"--ignore={name}" for name in suite.ignored]
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "foreign_plugin",
            "-p",
            "no:cacheprovider",
            "-c",
            os.devnull,
            "--continue-on-collection-errors",
        ]
        command += [f"--rootdir={folder}", "--timeout=120", "--tb=native", *ignored, *suite.options]
        command += [name for name in suite.files if (folder / name).exists()]
        ran = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
        if not out.exists():
            raise SystemExit(ran.stdout[-3000:] + ran.stderr[-3000:])
        found: Outcomes = json.loads(out.read_text(encoding="utf-8"))
        return found


def examples(folder: Path, drop_in: bool) -> Outcomes:
    """The examples in the documentation of python-constraint's modules, run with our names or its own."""
    if drop_in:
        from constrint.integrations import python_constraint as package
    else:
        import constraint as package  # type: ignore[import-not-found,no-redef]
    found: Outcomes = {}
    own = package.__name__
    for place in sorted((folder / "constraint").glob("*.py")):
        if place.stem == "parser":
            continue
        tree = ast.parse(place.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.Module):
                continue
            text = ast.get_docstring(node)
            names = {name: getattr(package, name) for name in dir(package) if not name.startswith("_")}
            title = f"{place.name}:{getattr(node, 'name', '')}:{getattr(node, 'lineno', 1)}"
            if text and ">>>" in text:
                _run(doctest.DocTestParser().get_doctest(text, names, title, place.name, 0), found)
    readme = (folder / "README.rst").read_text(encoding="utf-8").replace("from constraint ", f"from {own} ")
    _run(doctest.DocTestParser().get_doctest(readme, {}, "README.rst", "README.rst", 0), found)
    return found


class _Runner(doctest.DocTestRunner):
    """Records the outcome of each example."""

    def __init__(self, found: Outcomes) -> None:
        super().__init__(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
        self.found = found

    def _note(self, test: Any, example: Any, outcome: str, why: str) -> None:
        place = f"{test.name} line {example.lineno}: {example.source.strip()}"
        self.found[place] = {"outcome": outcome, "why": " ".join(why.split())[-200:]}

    def report_success(self, out: Any, test: Any, example: Any, got: str) -> None:
        self._note(test, example, "passed", "")

    def report_failure(self, out: Any, test: Any, example: Any, got: str) -> None:
        self._note(test, example, "failed", f"wanted {example.want} got {got}")

    def report_unexpected_exception(self, out: Any, test: Any, example: Any, exc_info: Any) -> None:
        self._note(test, example, "failed", repr(exc_info[1]))


def _run(test: doctest.DocTest, found: Outcomes) -> None:
    _Runner(found).run(test, out=lambda _: None)


def table(suite: Suite, ours: Outcomes, own: Outcomes) -> list[dict[str, str]]:
    """The tests that do not pass with the drop-in."""
    rows = []
    for name, result in sorted(ours.items()):
        if result["outcome"] == "failed":
            expected = next((why for start, why in suite.expected.items() if name.startswith(start)), "")
            without = own.get(name, {}).get("outcome", "not run")
            why = result["why"].replace(f"{HERE.parents[1]}/", "")
            rows.append({"test": name, "without": without, "why": why, "expected": expected})
    return rows


def main() -> None:
    """Run a suite and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("suite", choices=SUITES)
    parser.add_argument("folder", type=Path, help="where the source archive was unpacked")
    parser.add_argument("--only", action="store_true", help="with the drop-in only")
    parser.add_argument("--out", type=Path, help="JSON file to write")
    parser.add_argument("--files", nargs="*", help="test files, in place of all of the suite")
    arguments = parser.parse_args()
    suite, folder = SUITES[arguments.suite], arguments.folder.resolve()
    suite = replace(suite, files=arguments.files or suite.files)
    ours = outcomes(suite, folder, arguments.suite)
    own = {} if arguments.only else outcomes(suite, folder, "")
    document: dict[str, Any] = {"suite": arguments.suite, "environment": environment(suite.package)}
    rows = table(suite, ours, own)
    document["tests"] = _counts(ours, own)
    if arguments.suite == "python-constraint":
        shown = examples(folder, True)
        shown_own = {} if arguments.only else examples(folder, False)
        document["examples"] = _counts(shown, shown_own)
        rows += table(suite, shown, shown_own)
    document["files"] = suite.files
    document |= {"failing": rows, "not run": suite.ignored}
    for row in rows:
        print(f"{row['test']}\n    without: {row['without']}; {row['expected'] or row['why']}")
    print({key: document[key] for key in ("tests", "examples") if key in document})
    if arguments.out:
        arguments.out.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    sys.exit(any(row["without"] == "passed" and not row["expected"] for row in rows))


def _counts(ours: Outcomes, own: Outcomes) -> dict[str, dict[str, int]]:
    found = {"with": dict(Counter(one["outcome"] for one in ours.values()))}
    return found | ({"without": dict(Counter(one["outcome"] for one in own.values()))} if own else {})


if __name__ == "__main__":
    main()
