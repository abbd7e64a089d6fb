"""The same kernels and spaces tuned by Kernel Tuner and by Triton's autotune, with moments of evaluations."""

from __future__ import annotations

import argparse
import sys
import time
import types
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from kerneltune.inputs.hardware import load_profile
from kerneltune.running.detect import detect
from kerneltune.sources.arguments import NUMBER
from kerneltune.sources.folder import read_folder
from kerneltune.sources.numbers import Numbers

Times = list[tuple[float, float | None]]


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


def tuned_by_kernel_tuner(folder: Path, options: argparse.Namespace, seed: int) -> Times:
    """Kernel Tuner over the same space, verified by the same reference; NVRTC through CuPy."""
    sys.meta_path.append(_Finder())  # after the real ones
    import kernel_tuner

    read = read_folder(folder)
    found = detect()
    kernel = read.description.kernel(load_profile(found.profile or "h100_sxm"))
    space = kernel.space
    arguments = [one.value if one.kind == NUMBER else np.array(one.value) for one in kernel.arguments]
    expected = read.reference(*arguments)
    answer = [expected if one.kind == "out" else None for one in kernel.arguments]
    if kernel.name == "reduction":
        answer = [None if one is None else np.asarray(one, np.float32) for one in answer]
    numbers = kernel.numbers
    sample = next(iter(space))
    params = {name: sorted({row[name] for row in space}) for name in space.names}
    shapes = Shapes(numbers, list(params))
    for axis in "xyz":
        params[f"block_size_{axis}"] = sorted({shapes.of(row)[f"block_{axis}"] for row in space})
    defines = {name: str(numbers.of(sample)[f"define_{name}"]) for name in kernel.defines}
    started = time.time()
    results, _ = kernel_tuner.tune_kernel(
        kernel.entry,
        kernel.source,
        shapes.problem_size,
        arguments,
        params,
        grid_div_x=[],
        grid_div_y=[],
        restrictions=shapes.valid(space),
        answer=answer,
        verify=_verified,
        lang="CUPY",
        compiler_options=[f"-D{k}={v}" for k, v in defines.items()] + ["-std=c++17"],
        iterations=7,
        strategy=options.strategy if options.strategy != "auto" else "greedy_ils",
        strategy_options={"max_fevals": options.evaluations or 100, "time_limit": options.seconds or 60},
        quiet=True,
        seed=seed,
    )
    times: Times = []
    for one in results:
        value = one["time"]
        moment = datetime.fromisoformat(one["timestamp"]).timestamp() - started
        times.append((moment, float(value) if isinstance(value, int | float) else None))
    return sorted(times, key=lambda pair: pair[0])


def _verified(answer: Any, result: Any, atol: float | None = None) -> bool:
    """Kernel Tuner's check by relative L2 error, as ours, on the host."""
    for wanted, got in zip(answer, result, strict=True):
        if wanted is not None:
            norm = max(float(np.linalg.norm(wanted.ravel())), 1e-30)
            if not float(np.linalg.norm((got - wanted).ravel())) / norm <= 1e-4:
                return False
    return True


class Shapes:
    """Launches as Kernel Tuner takes them: block sizes as parameters, the grid by a function."""

    def __init__(self, numbers: Numbers, names: list[str]) -> None:
        self._numbers, self._names = numbers, names

    def of(self, row: dict[str, Any]) -> dict[str, int]:
        """Grid and block of a configuration."""
        found = self._numbers.of({name: row[name] for name in self._names})
        axes = [f"{what}_{axis}" for what in ("grid", "block") for axis in "xyz"]
        return {name: found.get(name, 1) for name in axes}

    def problem_size(self, row: dict[str, Any]) -> tuple[int, ...]:
        """The grid, which Kernel Tuner takes undivided."""
        found = self.of(row)
        return tuple(found[f"grid_{axis}"] for axis in "xyz")

    def valid(self, space: Any) -> Any:
        """A restriction: the configuration is in the space, and the block is its own."""

        def is_valid(p: dict[str, Any]) -> bool:
            own = {name: p[name] for name in self._names}
            if own not in space:
                return False
            found = self.of(own)
            return all(p[f"block_size_{axis}"] == found[f"block_{axis}"] for axis in "xyz")

        return is_valid


def tuned_by_triton(module: Any) -> Times:
    """Triton's autotune over the same configurations; moments are not told, so all have the end's."""
    import itertools

    import torch
    import triton

    function = getattr(module, module.__name__)
    special = ("num_warps", "num_stages")
    names = list(module.PARAMS)
    configs = []
    for values in itertools.product(*module.PARAMS.values()):
        row = dict(zip(names, values, strict=True))
        own = {k: v for k, v in row.items() if k not in special or k in function.arg_names}
        kinds = {k: row[k] for k in special if k not in own}
        configs.append(triton.Config(own, **kinds))
    tuner = triton.autotune(configs=configs, key=[])(function)
    arrays = [
        torch.from_numpy(np.array(one.value)).cuda() if hasattr(one, "value") else one
        for one in module.arguments()
    ]
    started = time.perf_counter()
    sizes = {"softmax": lambda meta: (meta["PROGRAMS"],)}
    grid = sizes.get(module.__name__) or (lambda meta: (module.STEPS // meta["BLOCK_M"], module.HEADS))
    tuner[grid](*arrays)
    torch.cuda.synchronize()
    took = time.perf_counter() - started
    found = [times if isinstance(times, float) else times[0] for times in tuner.configs_timings.values()]
    return [(took, float(value)) for value in found]
