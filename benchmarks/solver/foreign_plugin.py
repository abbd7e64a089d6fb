"""A pytest plugin for `foreign_suites.py`: installs a drop-in and records each test's outcome.

Environment variables: FOREIGN_DROP_IN names the drop-in, FOREIGN_OUT the JSON file to write, FOREIGN_STUBS
modules that tests import and need not exist.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

_outcomes: dict[str, dict[str, str]] = {}


def _python_constraint() -> None:
    """Replace `constraint` and its modules by constrint's."""
    package = "constrint.integrations.python_constraint"
    sys.modules["constraint"] = importlib.import_module(package)
    for name, place in {
        "problem": "problem",
        "solvers": "solvers",
        "domain": "domains",
        "constraints": "constraints",
    }.items():
        sys.modules[f"constraint.{name}"] = importlib.import_module(f"{package}.{place}")
        setattr(sys.modules["constraint"], name, sys.modules[f"constraint.{name}"])


def _kernel_tuner() -> None:
    """Make Kernel Tuner build its search spaces with constrint."""
    importlib.import_module("constrint.integrations.kernel_tuner").install()


def _kernel_tuner_call() -> None:
    """The same, and kerneltune's `tune_kernel` in place of Kernel Tuner's."""
    _kernel_tuner()
    package: Any = importlib.import_module("kernel_tuner")
    package.tune_kernel = importlib.import_module("kerneltune.kernel_tuner").tune_kernel


def _cpmpy() -> None:
    """Register constrint with CPMpy, as the default solver."""
    importlib.import_module("constrint.integrations.cpmpy")
    lookup: Any = importlib.import_module("cpmpy.solvers.utils").SolverLookup
    every = lookup.base_solvers()
    first = [one for one in every if one[0] == "constrint"] + [one for one in every if one[0] != "constrint"]
    lookup.base_solvers = classmethod(lambda cls: first)


def pytest_configure(config: Any) -> None:
    """Install the drop-in before any test is imported."""
    if os.environ.get("FOREIGN_SOLVER"):
        helpers = importlib.import_module("foreign_cpmpy")
        helpers.install_helpers()
        config.pluginmanager.register(helpers)
    for stub in os.environ.get("FOREIGN_STUBS", "").split():
        module, _, name = stub.partition(":")
        sys.modules[module] = ModuleType(module)
        setattr(sys.modules[module], name or "__path__", None)
    which = os.environ.get("FOREIGN_DROP_IN", "")
    if which:
        drop_ins = {
            "python-constraint": _python_constraint,
            "kernel-tuner": _kernel_tuner,
            "kernel-tuner-call": _kernel_tuner_call,
            "cpmpy": _cpmpy,
        }
        drop_ins[which]()


def _keep(report: Any, outcome: str) -> None:
    crash = getattr(getattr(report, "longrepr", None), "reprcrash", None)
    why = crash.message if crash is not None else str(report.longrepr or "")
    _outcomes[report.nodeid] = {"outcome": outcome, "why": " ".join(why.split())[-200:]}


def pytest_runtest_logreport(report: Any) -> None:
    """Record a test's outcome; a failed setup is a failure."""
    if report.when == "call" or report.outcome != "passed":
        expected = hasattr(report, "wasxfail")
        _keep(report, "xfail" if expected else report.outcome)


def pytest_collectreport(report: Any) -> None:
    """Record a file that cannot be imported as one failure."""
    if report.outcome != "passed":
        _keep(report, report.outcome)


def pytest_sessionfinish() -> None:
    """Write all outcomes."""
    Path(os.environ["FOREIGN_OUT"]).write_text(json.dumps(_outcomes), encoding="utf-8")
