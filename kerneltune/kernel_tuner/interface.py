"""`tune_kernel` with Kernel Tuner's arguments, for its users: they change one import.

Searches are kerneltune's, by the nearest kind. Languages and strategy objects that kerneltune does not know
are left to Kernel Tuner where it is installed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from constrint.errors import ConstrintError
from constrint.tuning.spaces import Space, from_tune_params
from kerneltune.errors import InputError
from kerneltune.kernel_tuner.elsewhere import by_kernel_tuner, needs_kernel_tuner
from kerneltune.kernel_tuner.judging import judge_of, observed
from kerneltune.kernel_tuner.launches import description_of, expression
from kerneltune.kernel_tuner.replay import Simulated, simulated
from kerneltune.kernel_tuner.results import Clock, environment_of, rows_of, with_best
from kerneltune.kernel_tuner.strategies import STRATEGIES, check_strategy
from kerneltune.kernel_tuner.util import get_objective_defaults
from kerneltune.pipeline.run import Budget
from kerneltune.tuning.cache_files import cache_path, write_cache
from kerneltune.tuning.searches import search
from kerneltune.tuning.tune import options_of, prepared, tuned

MAX_THREADS = 1024
FORBIDDEN = ("grid_size_x", "grid_size_y", "grid_size_z", "time")
BLOCKS = ("block_size_x", "block_size_y", "block_size_z")


def tune_kernel(
    kernel_name: str,
    kernel_source: object,
    problem_size: object,
    arguments: Sequence[object],
    tune_params: Mapping[str, Sequence[object]],
    grid_div_x: object = None,
    grid_div_y: object = None,
    grid_div_z: object = None,
    restrictions: object = None,
    answer: Sequence[object] | None = None,
    atol: float = 1e-6,
    verify: Callable[..., object] | None = None,
    verbose: bool = False,
    lang: str | None = None,
    device: int = 0,
    platform: int = 0,
    smem_args: Mapping[str, object] | None = None,
    cmem_args: Mapping[str, object] | None = None,
    texmem_args: Mapping[str, object] | None = None,
    compiler: str | None = None,
    compiler_options: Sequence[str] | None = None,
    defines: Mapping[str, object] | None = None,
    log: object = None,
    iterations: int = 7,
    block_size_names: Sequence[str] | None = None,
    quiet: bool = False,
    strategy: object = None,
    strategy_options: Mapping[str, object] | None = None,
    cache: str | Path | None = None,
    metrics: Mapping[str, object] | None = None,
    simulation_mode: bool | None = None,
    parallel: object = None,
    observers: Sequence[object] | None = None,
    objective: str | None = None,
    objective_higher_is_better: bool | None = None,
    objectives: Mapping[str, bool] | None = None,
    seed: int | None = None,
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Tune a kernel with the arguments of Kernel Tuner 1.5.

    Args:
        kernel_name: The kernel's name.
        kernel_source: Its file, text, or a function of the parameters that gives a text.
        problem_size: Elements along each axis: numbers, expressions, or a function of the parameters.
        arguments: numpy arrays and numbers in the kernel's order.
        tune_params: The values of each parameter.
        grid_div_x: What divides the problem's size along x.
        grid_div_y: The same along y.
        grid_div_z: The same along z.
        restrictions: Expressions and functions that valid configurations satisfy.
        answer: The expected array for each argument, or None.
        atol: What `verify` gets; without it, outputs are compared by relative error.
        verify: A function of the expected and the found arrays, and `atol`, that says whether they are right.
        verbose: Whether each configuration and the best one are printed.
        lang: The language; other languages than CUDA are left to Kernel Tuner.
        device: The GPU's number; others than 0 are left to Kernel Tuner.
        platform: The OpenCL platform; others than 0 are left to Kernel Tuner.
        smem_args: The bytes of dynamic shared memory, as `size`.
        cmem_args: Constant arrays by name.
        texmem_args: Textures, which are left to Kernel Tuner.
        compiler: A compiler, which is left to Kernel Tuner.
        compiler_options: Options of the compiler.
        defines: Preprocessor definitions by name.
        log: Not used: nothing is logged.
        iterations: Runs of each configuration that are timed.
        block_size_names: The parameters that are the block's size along each axis.
        quiet: Whether nothing is printed even if `verbose` is given.
        strategy: The name of a strategy; strategy objects are left to Kernel Tuner.
        strategy_options: `max_fevals`, `time_limit`, `fraction` and `x0`; others of the strategy have no
            counterpart.
        cache: The file of results.
        metrics: Expressions or functions of parameters and measured values, by name.
        simulation_mode: Whether all results are taken from the cache.
        parallel: Kernel Tuner's parallel runner, which is left to it.
        observers: Observers, which measure more values.
        objective: What to optimise: "time", or the name of a metric or of an observer's value.
        objective_higher_is_better: Whether the greatest value is the best; it must be given where Kernel
            Tuner does not know the objective.
        objectives: Objectives with their direction; several are left to Kernel Tuner.
        seed: Seed of the search.

    Returns:
        A row for each configuration that was tried, and facts of the run, both as Kernel Tuner has them.

    Raises:
        ValueError: A strategy or its option is unknown, or the direction of an objective, as in Kernel Tuner.
        InputError: Something is wrong; the message names it.
    """
    return tuned_as_asked(dict(locals()), {})


def tuned_as_asked(
    given: dict[str, Any], own: Mapping[str, Any]
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The rows and facts of a run.

    Args:
        given: All arguments of `tune_kernel`.
        own: Options of kerneltune: `gpu`, `commands`, `store` and `workers`.
    """
    clock = Clock()
    strategy = given["strategy"] or "brute_force"
    if needs_kernel_tuner(given):
        found: tuple[list[dict[str, Any]], dict[str, Any]] = by_kernel_tuner("tune_kernel", given)
        return found
    tune_params, options = given["tune_params"], dict(given["strategy_options"] or {})
    check_strategy(strategy, options)
    _check(given)
    objective, higher = _objective(given)
    space = _space(tune_params, given["restrictions"], given["block_size_names"])
    names = list(tune_params)
    metrics = {name: _metric(name, one) for name, one in (given["metrics"] or {}).items()}
    budget = _budget(options, space)
    asked = {"objective": objective, "maximise": higher}
    run = options_of({**asked, "metrics": metrics})
    start = dict(zip(names, options["x0"], strict=True)) if "x0" in options else None
    clock.searched(
        search(STRATEGIES[strategy].kind, space, _with(run, budget), int(given["seed"] or 0)),
        start,
    )
    if given["simulation_mode"]:
        replayed = Simulated(Path(str(given["cache"])), names, metrics, objective)
        trials = simulated(replayed, clock.strategy, budget, objective, higher)
        rows = rows_of(trials, replayed.entries, names)
        facts = environment_of(clock, trials, replayed.entries, names)
    else:
        rows, facts = _measured(clock, {**given, **own}, space, {"metrics": metrics, **asked}, budget)
    return rows, with_best(rows, facts, objective, higher, names if _is_told(given) else None)


def _is_told(given: Mapping[str, object]) -> bool:
    return bool(given["verbose"]) and not given["quiet"]


def _check(given: Mapping[str, Any]) -> None:
    """Refuse what contradicts itself, or is not supported."""
    for name in FORBIDDEN:
        if name in given["tune_params"]:
            raise ValueError(f"tune_params: no parameter can be called {name!r}")
    if given["simulation_mode"] and given["parallel"]:
        raise ValueError("parallel does not go with simulation_mode")
    if given["simulation_mode"] and given["cache"] is None:
        raise InputError("simulation_mode needs cache, the file to take results from")


def _measured(
    clock: Clock, given: dict[str, Any], space: Space, asked: dict[str, Any], budget: Budget
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The rows and facts of a run on this machine's GPU."""
    names = list(given["tune_params"])
    judge = judge_of(given)
    answers = _answers(given["answer"]) if judge is None else None
    kernel, case = prepared(description_of(given, space), given.get("gpu"), answers, None)
    options = options_of(
        {
            "timed": int(given.get("iterations", 7)),
            "needs_same_bits": False,
            "patience": 0.0,
            "finalists": 0,
            "judge": judge,
            "again": judge is not None and given.get("cache") is None,
            **observed(given, asked["metrics"]),
            **budget.__dict__,
            "objective": asked["objective"],
            "maximise": asked["maximise"],
            **{name: given[name] for name in ("commands", "store", "workers") if name in given},
            **_kept(given.get("cache")),
        }
    )
    found = tuned(kernel, case, options, clock.strategy)
    for trial in found.trials:
        if trial.failure is None and asked["objective"] not in trial.objectives:
            has = ", ".join(trial.objectives)
            raise InputError(f"objective: nothing measured '{asked['objective']}', only: {has}")
    rows = rows_of(found.trials, {}, names)
    if given.get("cache") is not None:
        head = {"device_name": found.device, "kernel_name": given["kernel_name"]}
        write_cache(cache_path(given["cache"]), head, given["tune_params"], rows)
    return rows, environment_of(clock, found.trials, {}, names)


def _kept(cache: Any) -> dict[str, Any]:
    """A store beside the cache file, so that a run resumes."""
    return {} if cache is None else {"store": cache_path(cache).with_suffix(".sqlite")}


def _with(run: Any, budget: Budget) -> Any:
    return replace(run, budget=budget)


def _space(
    tune_params: Mapping[str, Sequence[Any]], restrictions: Any, blocks: Sequence[str] | None
) -> Space:
    listed = [] if restrictions is None else restrictions
    listed = list(listed) if isinstance(listed, list | tuple) else [listed]
    names = [name for name in (blocks or BLOCKS) if name in tune_params]
    if names:
        listed.append(f"{' * '.join(names)} <= {MAX_THREADS}")
    # Values that equal each other, such as 1 and True, are one in a cache's keys and to every restriction.
    params = {
        name: [v for i, v in enumerate(one) if v not in list(one)[:i]] for name, one in tune_params.items()
    }
    try:
        space = from_tune_params(params, listed)
    except ConstrintError as error:
        raise InputError(f"restrictions: {error}") from None
    if not space.size:
        raise ValueError(space.notes[-1])
    return space


def _metric(name: str, given: object) -> Callable[[Mapping[str, object], Mapping[str, float]], float]:
    """A metric of configuration and objectives; an expression is parsed, never evaluated by Python."""
    if callable(given):
        return lambda configuration, objectives: float(given({**configuration, **objectives}))
    return expression(str(given), f"the metric '{name}'")


def _objective(given: Mapping[str, Any]) -> tuple[str, bool]:
    """The objective, and whether the greatest value is the best."""
    objectives = given["objectives"]
    if objectives:
        if not isinstance(objectives, Mapping):
            raise ValueError('objectives are given with their direction: objectives={"time": False}')
        ((name, higher),) = objectives.items()
        return str(name), bool(higher)
    return get_objective_defaults(given["objective"], given["objective_higher_is_better"])


def _budget(options: Mapping[str, Any], space: Space) -> Budget:
    evaluations = options.get("max_fevals")
    if options.get("fraction") is not None:
        share = math.ceil(space.size * float(options["fraction"]))
        evaluations = share if evaluations is None else min(share, int(evaluations))
    return Budget(None if evaluations is None else int(evaluations), options.get("time_limit"))


def _answers(answer: Sequence[object] | None) -> Any:
    return None if answer is None or all(one is None for one in answer) else list(answer)
