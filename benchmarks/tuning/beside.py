"""The same kernels and spaces tuned by Kernel Tuner and by Triton's autotune, with moments of evaluations."""

from __future__ import annotations

import argparse
import sys
import time
import types
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from kerneltune.compiling.nvrtc import header_options
from kerneltune.inputs.hardware import load_profile
from kerneltune.running.detect import detect
from kerneltune.sources.arguments import NUMBER
from kerneltune.sources.folder import read_folder
from kerneltune.sources.numbers import Numbers

Configuration = dict[str, Any]
Times = list[tuple[float, float | None, Configuration]]


class _Anything(types.ModuleType):
    """A package that Kernel Tuner imports for strategies that are not used here."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


class _Finder:
    """Stands for absent packages."""

    names = ("pymoo", "jsonschema", "xmltodict")

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        import importlib.machinery

        if name.split(".")[0] not in self.names:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: Any) -> Any:
        return _Anything(spec.name)

    def exec_module(self, module: Any) -> None:
        """Nothing."""


def tuned_by_kernel_tuner(
    folder: Path, options: argparse.Namespace, seed: int, is_good: Callable[[Configuration], bool]
) -> Times:
    """Kernel Tuner over the same space, verified by the same reference; NVRTC through CuPy.

    It ends after the first configuration that is good. Macros are parameters of one value, since Kernel Tuner
    writes those into the text: as options they would change the headers that NVRTC includes first.
    """
    sys.meta_path.append(_Finder())  # after the real ones
    import kernel_tuner

    read = read_folder(folder)
    found = detect()
    kernel = read.description.kernel(load_profile(found.profile or "h100_sxm"))
    space, names = kernel.space, list(kernel.space.names)
    arguments = [one.value if one.kind == NUMBER else np.array(one.value) for one in kernel.arguments]
    expected = read.reference(*arguments)
    answer = [expected if one.kind == "out" else None for one in kernel.arguments]
    if kernel.name == "reduction":
        answer = [None if one is None else np.asarray(one, np.float32) for one in answer]
    shapes = Shapes(kernel.numbers, space)
    started = time.time()
    params = {name: sorted({row[name] for row in space}) for name in names}
    params |= {f"block_size_{axis}": shapes.blocks(i) for i, axis in enumerate("xyz")}
    sample = kernel.numbers.of(next(iter(space)))
    params |= {name: [sample[f"define_{name}"]] for name in kernel.defines}
    _end_when(lambda: shapes.last is not None and is_good(shapes.last))
    results, _ = kernel_tuner.tune_kernel(
        kernel.entry,
        kernel.source,
        shapes.problem_size,
        arguments,
        params,
        grid_div_x=[],
        grid_div_y=[],
        restrictions=shapes.is_valid,
        answer=answer,
        verify=_verified,
        lang="CUPY",
        compiler_options=["-std=c++17", *header_options()],
        iterations=7,
        strategy=options.strategy if options.strategy != "auto" else "adaptive_tabu_greywolf",
        strategy_options={"max_fevals": options.evaluations or 1000, "time_limit": options.seconds or 60},
        quiet=True,
        seed=seed,
    )
    times: Times = []
    for one in sorted(results, key=lambda one: str(one["timestamp"])):
        value, configuration = one["time"], {name: one[name] for name in names}
        if all(configuration != other for _, _, other in times):  # others are from its cache
            moment = datetime.fromisoformat(one["timestamp"]).timestamp() - started
            times.append((moment, float(value) if isinstance(value, int | float) else None, configuration))
    return times


def _end_when(reached: Callable[[], bool]) -> None:
    """Let Kernel Tuner's budgets end once something is reached."""
    from kernel_tuner import util

    class Until(util.TuningBudget):  # type: ignore[misc]
        def is_done(self) -> bool:
            return reached() or bool(super().is_done())

    util.TuningBudget = Until


def _verified(answer: Any, result: Any, atol: float | None = None) -> bool:
    """Kernel Tuner's check by relative L2 error, as ours, on the host."""
    for wanted, got in zip(answer, result, strict=True):
        if wanted is not None:
            norm = max(float(np.linalg.norm(wanted.ravel())), 1e-30)
            if not float(np.linalg.norm((got - wanted).ravel())) / norm <= 1e-4:
                return False
    return True


class Shapes:
    """Launches as Kernel Tuner takes them: block sizes as parameters, the grid by a function.

    All are computed before its clock starts.
    """

    def __init__(self, numbers: Numbers, space: Any) -> None:
        self._names = list(space.names)
        self.last: Configuration | None = None  # the configuration that is being tried
        self._of: dict[tuple[Any, ...], tuple[tuple[int, ...], tuple[int, ...]]] = {}
        for row in space:
            found = numbers.of(row)
            grid, block = (tuple(found.get(f"{what}_{a}", 1) for a in "xyz") for what in ("grid", "block"))
            self._of[self._key(row)] = grid, block

    def _key(self, row: Configuration) -> tuple[Any, ...]:
        return tuple(row[name] for name in self._names)

    def blocks(self, axis: int) -> list[int]:
        """The block's sizes along an axis."""
        return sorted({block[axis] for _, block in self._of.values()})

    def problem_size(self, row: Configuration) -> tuple[int, ...]:
        """The grid, which Kernel Tuner takes undivided."""
        self.last = {name: row[name] for name in self._names}
        return self._of[self._key(row)][0]

    def is_valid(self, p: Configuration) -> bool:
        """A restriction: the configuration is in the space, and the block is its own."""
        found = self._of.get(self._key(p))
        return found is not None and found[1] == tuple(p[f"block_size_{axis}"] for axis in "xyz")


def tuned_by_triton(module: Any, started: float) -> Times:
    """Triton's autotune over the same configurations."""
    import itertools

    import torch
    import triton

    function = getattr(module, module.__name__)
    special = ("num_warps", "num_stages")
    names = list(module.PARAMS)
    configs, rows = [], {}
    for values in itertools.product(*module.PARAMS.values()):
        row = dict(zip(names, values, strict=True))
        own = {k: v for k, v in row.items() if k not in special or k in function.arg_names}
        configs.append(triton.Config(own, **{k: row[k] for k in special if k not in own}))
        rows[id(configs[-1])] = row
    tuner = triton.autotune(configs=configs, key=[])(function)
    arrays = [
        torch.from_numpy(np.array(one.value)).cuda() if hasattr(one, "value") else one
        for one in module.arguments()
    ]
    found: Times = []
    bench = tuner._bench

    def noted(*args: Any, config: Any, **meta: Any) -> Any:
        times = bench(*args, config=config, **meta)
        first = float(times if isinstance(times, float) else times[0])
        found.append((time.perf_counter() - started, first if first < 1e9 else None, rows[id(config)]))
        return times

    tuner._bench = noted
    sizes = {"softmax": lambda meta: (meta["PROGRAMS"],)}
    grid = sizes.get(module.__name__) or getattr(module, "grid", None)
    grid = grid or (lambda meta: (module.STEPS // meta["BLOCK_M"], module.HEADS))
    tuner[grid](*arrays)
    torch.cuda.synchronize()
    return found
