"""A Triton function, its decorator and a CuPy kernel, played by numpy."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, ClassVar


class Jit:
    """What `triton.jit` makes: a function that is launched with a grid."""

    def __init__(self, fn: Callable[..., None]) -> None:
        self.fn = fn
        self.arg_names = list(inspect.signature(fn).parameters)
        self.cache_key = f"key of {fn.__name__}"
        self.launches: list[dict[str, Any]] = []

    def __getitem__(self, grid: Any) -> Callable[..., None]:
        def launch(*positional: Any, num_warps: int = 4, num_stages: int = 3, **keywords: Any) -> None:
            meta = {**dict(zip(self.arg_names, positional, strict=False)), **keywords}
            blocks = grid(meta) if callable(grid) else grid
            self.launches.append({"grid": blocks, "num_warps": num_warps, **keywords})
            self.fn(*positional, **keywords)

        return launch


class Config:
    """`triton.Config`."""

    def __init__(
        self, kwargs: dict[str, Any], num_warps: int = 4, num_stages: int = 3, pre_hook: Any = None
    ) -> None:
        self.kwargs, self.num_warps, self.num_stages, self.pre_hook = kwargs, num_warps, num_stages, pre_hook

    def all_kwargs(self) -> dict[str, Any]:
        return {**self.kwargs, "num_warps": self.num_warps, "num_stages": self.num_stages}


class Autotuner:
    """What `triton.autotune` makes."""

    def __init__(self, fn: Jit, configs: Sequence[Config], key: Sequence[str], **more: Any) -> None:
        self.fn, self.configs, self.keys = fn, list(configs), list(key)
        self.arg_names = fn.arg_names
        self.reset_to_zero = list(more.get("reset_to_zero", []))
        self.restore_value = list(more.get("restore_value", []))
        self.early_config_prune = more.get("early_config_prune")
        self.perf_model = None
        self.user_defined_pre_hook = "pre_hook" in more
        self.user_defined_post_hook = False

    def __getitem__(self, grid: Any) -> Any:
        raise AssertionError("Triton's own tuner ran")


class RawKernel:
    """A kernel of CuPy."""

    compiled: ClassVar[list[str]] = []

    def __init__(self, code: str, name: str, options: tuple[str, ...] = ()) -> None:
        self.code, self.name, self.options = code, name, options

    def __call__(self, grid: Any, block: Any, args: Any, **more: Any) -> None:
        RawKernel.compiled.append(self.code)
        macros = dict(line.split()[1:3] for line in self.code.splitlines() if line.startswith("#define"))
        given, result, n = args
        assert grid == (-(-n // int(macros["BLOCK"])),)
        assert block == (int(macros["BLOCK"]),)
        result[...] = 2 * given
