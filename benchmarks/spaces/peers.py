"""The same spaces in other packages; of each result the size and a digest are recorded."""

from __future__ import annotations

import importlib.util
import re
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from time import process_time
from typing import Any

Timed = tuple[float, dict[str, Any]]
"""Seconds, and facts about the answer: its size, and a digest if there is a list."""

WORD = re.compile(r"[A-Za-z_]\w*")
MOST_COMBINATIONS = 300_000  # rows of a table for CP-SAT


def digest(configurations: Iterable[tuple[Any, ...]]) -> list[int]:
    """A digest that is equal for equal sets in any order, and different for others except by rare chance."""
    size = first = second = 0
    for configuration in configurations:
        code = hash(configuration)
        size += 1
        first += code
        second += code * code % ((1 << 61) - 1)
    return [size, first % (1 << 64), second % (1 << 64)]


def kernel_tuner(data: dict[str, Any]) -> Timed:
    """Kernel Tuner's own search space object: tuples, and a dict from each to its place."""
    from kernel_tuner.searchspace import Searchspace

    begun = process_time()
    space = Searchspace(dict(data["tune_params"]), list(data["restrictions"]), 1024)
    return process_time() - begun, {"valid": space.size, "list": space.list}


def kernel_tuner_bridged(data: dict[str, Any]) -> Timed:
    """The same object, built by constrint."""
    from constrint.integrations import kernel_tuner as bridge

    bridge.install()
    return kernel_tuner(data)


def python_constraint(data: dict[str, Any]) -> Timed:
    """python-constraint2 with restrictions as strings, and the solver that Kernel Tuner takes."""
    from constraint import OptimizedBacktrackingSolver, Problem

    begun = process_time()
    problem = Problem(OptimizedBacktrackingSolver(forwardcheck=False))
    for name, values in data["tune_params"].items():
        problem.addVariable(name, values)
    for text in data["restrictions"]:
        problem.addConstraint(text)
    names = list(data["tune_params"])
    found, _, size = problem.getSolutionsAsListDict(order=names)
    return process_time() - begun, {"valid": size, "list": found}


def pyatf(data: dict[str, Any]) -> Timed:
    """pyATF's chain of trees: no list, and coordinates instead of numbers."""
    from pyatf import TP, Set
    from pyatf.search_space import SearchSpace

    functions = _functions_of_last(data)
    begun = process_time()
    parameters = [TP(name, Set(*values), functions.get(name)) for name, values in data["tune_params"].items()]
    space = SearchSpace(*parameters, verbosity=0)
    return process_time() - begun, {"valid": space.constrained_size}


def _functions_of_last(data: dict[str, Any]) -> dict[str, Callable[..., bool]]:
    """For the last parameter of each restriction a function of all it speaks of, from a generated module."""
    names = list(data["tune_params"])
    texts: dict[str, list[str]] = {}
    scopes: dict[str, set[str]] = {}
    for text in data["restrictions"]:
        scope = [name for name in names if name in WORD.findall(text)]
        texts.setdefault(scope[-1], []).append(f"({text})")
        scopes.setdefault(scope[-1], set()).update(scope)
    lines = []
    for last, parts in texts.items():
        arguments = [name for name in names if name in scopes[last]]
        lines.append(f"def allows_{last}({', '.join(arguments)}):\n    return bool({' and '.join(parts)})\n")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "restrictions.py"
        path.write_text("\n".join(lines), encoding="utf-8")
        spec = importlib.util.spec_from_file_location("restrictions", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return {last: getattr(module, f"allows_{last}") for last in texts}


def ortools(data: dict[str, Any]) -> Timed:
    """CP-SAT, one worker, all solutions; each restriction as a precomputed table of what it allows."""
    from ortools.sat.python import cp_model

    from constrint.tuning.spaces import from_tune_params

    params = data["tune_params"]
    tables = []
    for text in data["restrictions"]:
        scope = {name: values for name, values in params.items() if name in WORD.findall(text)}
        rows = from_tune_params(scope, [text])
        if rows.size > MOST_COMBINATIONS:
            raise NotImplementedError(f"{rows.size:,} combinations for {text!r} are too many for a table")
        tables.append((list(scope), rows.to_tuples()))
    begun = process_time()
    model = cp_model.CpModel()
    variables = {
        name: model.new_int_var_from_domain(cp_model.Domain.from_values(values), name)
        for name, values in params.items()
    }
    for scope, allowed in tables:
        model.add_allowed_assignments([variables[name] for name in scope], allowed)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.enumerate_all_solutions = True

    class Counter(cp_model.CpSolverSolutionCallback):
        def __init__(self) -> None:
            super().__init__()
            self.count = 0

        def on_solution_callback(self) -> None:
            self.count += 1

    counter = Counter()
    status = solver.solve(model, counter)
    assert status == cp_model.OPTIMAL, solver.status_name(status)
    return process_time() - begun, {"valid": counter.count}


PEERS: dict[str, Callable[[dict[str, Any]], Timed]] = {
    "kernel_tuner": kernel_tuner,
    "kernel_tuner_bridged": kernel_tuner_bridged,
    "python_constraint2": python_constraint,
    "pyatf": pyatf,
    "ortools": ortools,
}

if __name__ == "__main__":
    sys.exit("peers are measured by spaces.py")
