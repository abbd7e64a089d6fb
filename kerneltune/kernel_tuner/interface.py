"""`tune_kernel` with Kernel Tuner's arguments, for its users: they change one import.

Searches are kerneltune's, by the nearest kind. Languages and strategy objects that kerneltune does not know
are left to Kernel Tuner where it is installed.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from constrint.errors import ConstrintError
from constrint.tuning.spaces import Space, from_tune_params
from kerneltune.errors import InputError, MissingExtraError
from kerneltune.kernel_tuner.launches import description_of, expression
from kerneltune.kernel_tuner.replay import Simulated, simulated
from kerneltune.kernel_tuner.results import Clock, environment_of, rows_of
from kerneltune.pipeline.run import Budget
from kerneltune.tuning.cache_files import cache_path, write_cache
from kerneltune.tuning.searches import search
from kerneltune.tuning.tune import options_of, prepared, tuned

# Kernel Tuner's strategies, and the kind of search that stands for each.
STRATEGIES = {
    "brute_force": "exhaustive",
    "random_sample": "random",
    "minimize": "neighbours",
    "basinhopping": "neighbours",
    "diff_evo": "evolution",
    "genetic_algorithm": "evolution",
    "greedy_mls": "neighbours",
    "ordered_greedy_mls": "neighbours",
    "greedy_ils": "neighbours",
    "mls": "neighbours",
    "dual_annealing": "annealing",
    "simulated_annealing": "annealing",
    "pso": "evolution",
    "firefly_algorithm": "evolution",
    "skopt": "gaussian",
    "bayes_opt": "gaussian",
    "pyatf_strategies": "auto",
    "hybrid_vndx": "auto",
    "adaptive_tabu_greywolf": "auto",
    "nsga2": "evolution",
    "nsga3": "evolution",
}
WITHOUT_START = {
    *("brute_force", "random_sample", "bayes_opt", "pyatf_strategies", "adaptive_tabu_greywolf"),
    *("hybrid_vndx", "nsga2", "nsga3"),
}
MAX_THREADS = 1024
BLOCKS = ("block_size_x", "block_size_y", "block_size_z")
CUDA = {None, "cuda", "cupy", "nvcuda"}


def tune_kernel(
    kernel_name: str,
    kernel_source: Any,
    problem_size: Any,
    arguments: Sequence[Any],
    tune_params: Mapping[str, Sequence[Any]],
    grid_div_x: Any = None,
    grid_div_y: Any = None,
    grid_div_z: Any = None,
    restrictions: Any = None,
    answer: Sequence[Any] | None = None,
    atol: float = 1e-6,
    verify: Callable[..., Any] | None = None,
    **more: Any,
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Tune a kernel with Kernel Tuner's arguments.

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
        atol: Not used: outputs are compared by relative error.
        verify: Not supported.
        more: Kernel Tuner's further arguments by name: `strategy`, `strategy_options`, `cache`,
            `simulation_mode`, `iterations`, `metrics`, `objective`, `observers`, `smem_args`, `cmem_args`,
            `defines`, `compiler_options`, `block_size_names`, `lang`, `seed` and others.

    Returns:
        A row for each configuration that was tried, and facts of the run, both as Kernel Tuner has them.

    Raises:
        ValueError: A strategy or its option is unknown, as in Kernel Tuner.
        InputError: Something is wrong; the message names it.
    """
    clock = Clock()
    given = {
        "kernel_name": kernel_name,
        "kernel_source": kernel_source,
        "problem_size": problem_size,
        "arguments": arguments,
        "tune_params": tune_params,
        "restrictions": restrictions,
        "grid_div_x": grid_div_x,
        "grid_div_y": grid_div_y,
        "grid_div_z": grid_div_z,
        "answer": answer,
        "atol": atol,
        "verify": verify,
    }
    strategy = more.get("strategy") or "brute_force"
    if not isinstance(strategy, str) or _language(kernel_source, more.get("lang")) not in CUDA:
        return _by_kernel_tuner({**given, **more})
    options = dict(more.get("strategy_options") or {})
    _check(strategy, options)
    if verify is not None:
        raise InputError("verify is not supported: give answer, or use kerneltune.tune with reference")
    space = _space(tune_params, restrictions, more.get("block_size_names"))
    names = list(tune_params)
    metrics = {name: _metric(name, one) for name, one in (more.get("metrics") or {}).items()}
    budget = _budget(options, space)
    objective, higher = _objective(more)
    asked = {"objective": objective, "maximise": higher}
    run = options_of({**asked, "metrics": metrics})
    start = dict(zip(names, options["x0"], strict=True)) if "x0" in options else None
    clock.searched(
        search(STRATEGIES[strategy], space, _with(run, budget), int(more.get("seed") or 0)),
        start,
    )
    if more.get("simulation_mode"):
        if more.get("cache") is None:
            raise InputError("simulation_mode needs cache, the file to take results from")
        replayed = Simulated(Path(str(more["cache"])), names, metrics)
        trials = simulated(replayed, clock.strategy, budget, objective, higher)
        entries = replayed.entries
        return rows_of(trials, entries, names), environment_of(clock, trials, entries, names)
    return _measured(clock, {**given, **more}, space, {"metrics": metrics, **asked}, budget)


def _measured(
    clock: Clock, given: dict[str, Any], space: Space, asked: dict[str, Any], budget: Budget
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The rows and facts of a run on this machine's GPU."""
    names = list(given["tune_params"])
    description = description_of(given, given, space)
    kernel, case = prepared(description, given.get("gpu"), _answers(given["answer"]), None)
    options = options_of(
        {
            "timed": int(given.get("iterations", 7)),
            "needs_same_bits": False,
            "patience": 0.0,
            "finalists": 0,
            "observers": tuple(given.get("observers") or ()),
            **budget.__dict__,
            **asked,
            **{name: given[name] for name in ("commands", "store", "workers") if name in given},
            **_kept(given.get("cache")),
        }
    )
    found = tuned(kernel, case, options, clock.strategy)
    rows = rows_of(found.trials, {}, names)
    if given.get("cache") is not None:
        head = {"device_name": found.device, "kernel_name": given["kernel_name"]}
        write_cache(cache_path(given["cache"]), head, given["tune_params"], rows)
    return rows, environment_of(clock, found.trials, {}, names)


def _kept(cache: Any) -> dict[str, Any]:
    """A store beside the cache file, so that a run resumes."""
    return {} if cache is None else {"store": cache_path(cache).with_suffix(".sqlite")}


def _with(run: Any, budget: Budget) -> Any:
    from dataclasses import replace

    return replace(run, budget=budget)


def _language(source: Any, lang: str | None) -> str | None:
    """The language in lower case; None for CUDA that is not named."""
    if lang is not None:
        return str(lang).lower()
    text = source if isinstance(source, str) else ""
    if "\n" not in text and Path(text).is_file():
        text = Path(text).read_text(encoding="utf-8", errors="replace")
    if callable(source) or "__global__" in text:
        return None
    return "opencl" if "__kernel" in text else "c"


def _by_kernel_tuner(given: dict[str, Any]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """What kerneltune does not know, by Kernel Tuner itself."""
    try:
        package: Any = importlib.import_module("kernel_tuner.interface")
    except ImportError:
        raise MissingExtraError.said(
            "kerneltune tunes CUDA kernels by its own searches; other languages and strategy objects need "
            "Kernel Tuner: pip install kernel-tuner"
        ) from None
    found: tuple[list[dict[str, Any]], dict[str, Any]] = package.tune_kernel(**given)
    return found


def _check(strategy: str, options: Mapping[str, Any]) -> None:
    if strategy not in STRATEGIES:
        raise ValueError(f"Unkown strategy {strategy}, must be one of: {', '.join(STRATEGIES)}")
    if "x0" in options and strategy in WITHOUT_START:
        raise ValueError(f"the strategy {strategy} takes no starting point x0")


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


def _metric(name: str, given: Any) -> Callable[[Mapping[str, Any], Mapping[str, float]], float]:
    """A metric of configuration and objectives; an expression is parsed, never evaluated by Python."""
    if callable(given):
        return lambda configuration, objectives: float(given({**configuration, **objectives}))
    return expression(str(given), f"the metric '{name}'")


def _objective(more: Mapping[str, Any]) -> tuple[str, bool | None]:
    objectives = more.get("objectives")
    if objectives:
        name = next(iter(objectives))
        return str(name), bool(objectives[name]) if isinstance(objectives, Mapping) else None
    name = str(more.get("objective") or "time")
    higher = more.get("objective_higher_is_better")
    if higher is None and ("/s" in name or "/J" in name or "/W" in name):
        higher = True
    return name, higher


def _budget(options: Mapping[str, Any], space: Space) -> Budget:
    evaluations = options.get("max_fevals")
    if options.get("fraction") is not None:
        share = math.ceil(space.size * float(options["fraction"]))
        evaluations = share if evaluations is None else min(share, int(evaluations))
    return Budget(None if evaluations is None else int(evaluations), options.get("time_limit"))


def _answers(answer: Sequence[Any] | None) -> Any:
    return None if answer is None or all(one is None for one in answer) else list(answer)
