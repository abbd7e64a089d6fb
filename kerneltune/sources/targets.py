"""Targets of `kerneltune.autotune`: a Triton function, a CuPy RawKernel, or a function that launches."""

from __future__ import annotations

import hashlib
import inspect
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from kerneltune.errors import InputError

if TYPE_CHECKING:
    from kerneltune.sources.numbers import Configuration

NAME_OF_ARGUMENT = re.compile(r"([A-Za-z_]\w*)\s*(?:\[[^\]]*\])?\s*$")


@dataclass(frozen=True)
class GivenCall:
    """The arguments of one call.

    Attributes:
        positional: By place.
        keywords: By name.
        grid: Blocks of a launch, or a function that gives them; None for plain functions.
        block: Threads of a block, likewise.
        more: What else a launch has, such as shared memory.
    """

    positional: tuple[object, ...]
    keywords: Mapping[str, object] = field(default_factory=dict)
    grid: object = None
    block: object = None
    more: Mapping[str, object] = field(default_factory=dict)


class Target(Protocol):
    """Something that is called with a configuration."""

    name: str
    names: Sequence[str]

    def call(self, given: GivenCall, configuration: Configuration) -> object:
        """Make the call."""

    def content(self) -> str:
        """A text that differs where the code does."""


def is_autotuner(function: object) -> bool:
    """Whether a function is one of `triton.autotune`, which has configurations and keys."""
    return all(hasattr(function, name) for name in ("configs", "keys", "fn"))


def without_autotuner(function: Any) -> Any:
    """A Triton function without `triton.autotune` around it."""
    return function.fn if is_autotuner(function) else function


def target_of(function: object) -> Target:
    """The target for a function.

    Raises:
        InputError: It is none of them.
    """
    if hasattr(function, "arg_names") and hasattr(function, "fn"):
        return TritonTarget(function)
    if hasattr(function, "code") and hasattr(function, "name") and hasattr(function, "options"):
        return CupyTarget(function)
    if callable(function):
        return PlainTarget(function)
    raise InputError(
        f"autotune decorates a Triton function, a CuPy RawKernel or a function, not {function!r}"
    )


class TritonTarget:
    """A function of `triton.jit`, with Triton's heuristics around it or not."""

    def __init__(self, function: Any) -> None:
        self.function = function
        plain = function
        while not inspect.isfunction(plain) and hasattr(plain, "fn"):
            plain = plain.fn
        self.plain = plain
        self.name = str(getattr(plain, "__name__", "kernel"))
        self.names: Sequence[str] = list(function.arg_names)

    def call(self, given: GivenCall, configuration: Configuration) -> object:
        """Launch it."""
        return self.function[given.grid](*given.positional, **given.keywords, **configuration)

    def content(self) -> str:
        """Triton's own key of the source and what it calls, with Triton's version; else the source."""
        version = getattr(sys.modules.get("triton"), "__version__", "")
        inner = self.function
        while inner is not None and not hasattr(inner, "cache_key"):
            inner = getattr(inner, "fn", None)
        return f"{version} {_source_of(self.plain) if inner is None else inner.cache_key}"


class CupyTarget:
    """A CuPy RawKernel, in whose source each parameter is a macro."""

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel
        self.name = str(kernel.name)
        self.names: Sequence[str] = _arguments_in(str(kernel.code), self.name)
        self._made: dict[tuple[object, ...], Callable[..., object]] = {}

    def call(self, given: GivenCall, configuration: Configuration) -> object:
        """Launch the kernel that was compiled with these macros."""
        key = tuple(configuration.items())
        if key not in self._made:
            values = {name: int(one) if isinstance(one, bool) else one for name, one in configuration.items()}
            macros = "".join(f"#define {name} {value}\n" for name, value in values.items())
            options = tuple(self.kernel.options or ())
            self._made[key] = type(self.kernel)(f"{macros}#line 1\n{self.kernel.code}", self.name, options)
        sizes = [_resolved(one, configuration) for one in (given.grid, given.block)]
        return self._made[key](*sizes, given.positional, **given.more)

    def content(self) -> str:
        """The source and its options."""
        return repr((str(self.kernel.code), tuple(self.kernel.options or ())))


class PlainTarget:
    """A function that takes the parameters by name, and launches what it likes."""

    def __init__(self, function: Callable[..., object]) -> None:
        self.function = function
        self.name = str(getattr(function, "__name__", type(function).__name__))
        self.names: Sequence[str] = list(inspect.signature(function).parameters)

    def call(self, given: GivenCall, configuration: Configuration) -> object:
        """Make the call."""
        return self.function(*given.positional, **given.keywords, **configuration)

    def content(self) -> str:
        """The source, or what was compiled from it."""
        return _source_of(self.function)


def _source_of(function: Any) -> str:
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        code = getattr(function, "__code__", None)
        made = repr(function) if code is None else f"{code.co_code.hex()} {code.co_names} {code.co_varnames}"
        return hashlib.sha256(made.encode()).hexdigest()


def _resolved(given: Any, configuration: Configuration) -> tuple[int, ...]:
    """Blocks or threads along x, y and z: numbers, or what a function of the configuration gives."""
    found = given(dict(configuration)) if callable(given) else given
    return tuple(int(one) for one in found) if isinstance(found, tuple | list) else (int(found),)


def _arguments_in(source: str, name: str) -> list[str]:
    """The names of a CUDA kernel's arguments; nothing where its declaration is not found."""
    plain = re.sub(r"//[^\n]*|/\*.*?\*/", " ", source, flags=re.DOTALL)
    found = re.search(rf"\b{re.escape(name.partition('<')[0])}\s*\(([^()]*)\)\s*{{", plain)
    if found is None:
        return []
    listed = [NAME_OF_ARGUMENT.search(one.strip()) for one in found[1].split(",")]
    return [one[1] for one in listed if one is not None]
