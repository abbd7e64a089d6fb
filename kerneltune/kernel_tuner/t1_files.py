"""`tune_kernel_T1`: a call of Kernel Tuner that a T1 file describes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from constrint.errors import ConstrintError
from constrint.tuning.spaces import from_json
from kerneltune.errors import InputError
from kerneltune.inputs.files import json_text_of
from kerneltune.kernel_tuner.interface import tune_kernel
from kerneltune.kernel_tuner.launches import expression
from kerneltune.searching.protocol import Outcome
from kerneltune.tuning.cache_files import outcome_of
from kerneltune.tuning.recorded import Recording

BUDGETS = {"ConfigurationCount": "max_fevals", "TuningDuration": "time_limit"}
DIVISORS = {"GridDivX": "grid_div_x", "GridDivY": "grid_div_y", "GridDivZ": "grid_div_z"}
SCALARS = {"float": np.float32, "int32": np.int32}
MOST_ELEMENTS = 1 << 32


def tune_kernel_T1(  # noqa: N802
    input_filepath: str | Path,
    cache_filepath: str | Path | None = None,
    objective: str = "time",
    objective_higher_is_better: bool = False,
    simulation_mode: bool = False,
    output_T4: bool = True,  # noqa: N803
    iterations: int = 7,
    device: object = None,
    strategy: str | None = None,
    strategy_options: Mapping[str, object] | None = None,
) -> tuple[Any, Any]:
    """Tune a kernel that a T1 file describes, with the arguments of Kernel Tuner 1.5.

    Args:
        input_filepath: The T1 file.
        cache_filepath: The cache; by default the file's `SimulationInput`.
        objective: What is optimised.
        objective_higher_is_better: Whether the greatest value is the best.
        simulation_mode: Whether all results are taken from the cache.
        output_T4: Whether T4's metadata and results are returned, in place of rows and facts.
        iterations: Runs that are timed.
        device: Not used: the first GPU is.
        strategy: The search, in place of the file's.
        strategy_options: Its options, in place of the file's.

    Raises:
        InputError: The file is wrong; the message names the place.
    """
    path = Path(input_filepath)
    data = _object(json_text_of(path, "the T1 file"), str(path))
    try:
        space = from_json(path)
    except (ConstrintError, OSError) as error:
        raise InputError(f"{path}: {error}") from None
    kernel = _part(data, "KernelSpecification", path)
    name, options = _searched(data, strategy, dict(strategy_options or {}))
    size = kernel.get("ProblemSize", 1)
    arguments = _arguments(kernel.get("Arguments") or [], size, path)
    constant = {
        str(one["Name"]): value
        for one, value in zip(kernel.get("Arguments") or [], arguments, strict=True)
        if one.get("MemType") == "Constant"
    }
    cache = cache_filepath or kernel.get("SimulationInput")
    rows, facts = tune_kernel(
        str(kernel.get("KernelName")),
        ""
        if simulation_mode and "KernelFile" not in kernel
        else _source(path, str(kernel.get("KernelFile"))),
        size,
        arguments,
        space.tune_params,
        restrictions=list(space.restrictions),
        lang=kernel.get("Language"),
        cmem_args=constant or None,
        cache=cache,
        simulation_mode=simulation_mode,
        iterations=iterations,
        strategy=name,
        strategy_options=options,
        objective=objective,
        objective_higher_is_better=objective_higher_is_better,
        **{mine: kernel[theirs] for theirs, mine in DIVISORS.items() if kernel.get(theirs)},
    )
    if not output_T4:
        return rows, facts
    return {"hardware": {"device_name": facts["device_name"]}}, _results(rows, kernel, space.tune_params)


def _results(
    rows: Sequence[Mapping[str, Any]], kernel: Mapping[str, Any], params: Mapping[str, Any]
) -> dict[str, object]:
    names = list(params)
    outcomes: list[Outcome] = [
        outcome_of({k: v for k, v in row.items() if k not in ("times", "timestamp", "__error__")}, names)
        for row in rows
    ]
    recording = Recording(str(kernel.get("KernelName")), "", dict(params), tuple(outcomes))
    return recording.results_file()


def _object(text: str, where: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where} is no JSON: {error}") from None
    if not isinstance(found, dict):
        raise InputError(f"{where} is no T1 file: an object is expected")
    return found


def _part(data: Mapping[str, Any], name: str, path: Path) -> dict[str, Any]:
    found = data.get(name)
    if not isinstance(found, dict):
        raise InputError(f"{path}: there is no {name}")
    return found


def _searched(
    data: Mapping[str, Any], strategy: str | None, options: dict[str, Any]
) -> tuple[str | None, dict[str, Any]]:
    """The search and its options, with the file's budget."""
    search = data.get("Search") if isinstance(data.get("Search"), dict) else {}
    if strategy is None and search:
        strategy = search.get("Name")
        given = {str(one["Name"]): one["Value"] for one in search.get("Attributes") or []}
        options = {**given, **options}
    for budget in (data.get("Budget") or [])[:1]:
        name = BUDGETS.get(str(budget.get("Type")))
        if name is None:
            raise InputError(f"Budget: the Type is one of {', '.join(BUDGETS)}, not {budget.get('Type')!r}")
        options.setdefault(name, budget.get("BudgetValue"))
    return strategy, options


def _source(path: Path, name: str) -> str:
    tried = [Path(name), path.parent / name, path.parent.parent / name]
    found = next((one for one in tried if one.is_file()), None)
    if found is None:
        raise InputError(f"{path}: KernelFile: there is no file {tried[1]}")
    return str(found)


def _arguments(listed: Sequence[Any], size: object, path: Path) -> list[Any]:
    draw = np.random.default_rng(0)
    found: list[Any] = []
    for one in listed:
        name = one.get("Name") if isinstance(one, dict) else one
        where = f"{path}: Arguments: {name}"
        if not isinstance(one, dict) or one.get("MemoryType") not in ("Vector", "Scalar"):
            raise InputError(f"{where}: the MemoryType is Vector or Scalar")
        kind = SCALARS.get(str(one.get("Type")))
        if kind is None or (one["MemoryType"] == "Vector" and kind is not np.float32):
            raise InputError(f"{where}: a Vector is of float, a Scalar of float or int32")
        if one["MemoryType"] == "Scalar":
            found.append(kind(one.get("FillValue", 0)))
            continue
        count = _count(one.get("Size"), size, where)
        if one.get("FillType") == "Constant":
            found.append(np.full(count, one.get("FillValue", 0), np.float32))
        elif one.get("FillType") == "Random":
            found.append(draw.standard_normal(count, np.float32))
        else:
            raise InputError(f"{where}: the FillType is Constant or Random, not {one.get('FillType')!r}")
    return found


def _count(given: object, size: object, where: str) -> int:
    """Elements of a vector: a number, or an expression over ProblemSize."""
    if isinstance(given, str):
        values = {"ProblemSize": size}
        given = int(expression(given, where)(values, {}))
    if not isinstance(given, int) or not 0 <= given <= MOST_ELEMENTS:
        raise InputError(f"{where}: the Size is {given!r}, which is no number of elements")
    return given
