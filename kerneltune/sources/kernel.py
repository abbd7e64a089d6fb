"""A user's kernel: its source, launch, arguments, space and reference, ready to be ordered."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from constrint import Model
from constrint.solutions.solutionset import SolutionSet
from constrint.support.children import search_path
from kerneltune.errors import InfeasibleError, InputError
from kerneltune.inputs.hardware import HardwareProfile
from kerneltune.messages import NextLaunch, Order
from kerneltune.sources.arguments import Argument
from kerneltune.sources.names import check_macro, quoted
from kerneltune.sources.numbers import Configuration, Numbers

CUDA, PTX, TRITON, CALLABLE = "cuda", "ptx", "triton", "callable"
KINDS = (CUDA, PTX, TRITON, CALLABLE)
OUTSIDE = {
    "hip": "HIP",
    "opencl": "OpenCL",
    "hiprtc": "HIP",
    "cl": "OpenCL",
    "julia": "Julia",
    "fortran": "Fortran",
}
AXES = ("x", "y", "z")
GRID, BLOCK = tuple(f"grid_{a}" for a in AXES), tuple(f"block_{a}" for a in AXES)
WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
PROMISES = ("registers", "blocks_per_sm")
MOST_BLOCKS = (2**31 - 1, 65535, 65535)  # of a grid's axes


@dataclass(frozen=True, eq=False)
class Kernel:
    """A kernel to tune.

    Attributes:
        name: Its name in the store.
        kind: `cuda`, `ptx`, `triton` or `callable`.
        source: The text; of Python functions, where children find them.
        entry: The kernel's name, with template arguments that may name parameters.
        space: The valid configurations.
        numbers: `grid_x` … `block_z`, `shared_memory`, and what is promised or reported.
        arguments: In the kernel's order.
        sizes: The sizes, by which results are kept.
        profile: The GPU's limits; None where they are unknown.
        defines: Further macros: expressions by name, of `numbers`' kind.
        options: Options of the compiler.
        symbols: Names of constant memory.
        make_source: Gives the text of a configuration, where it is more than macros.
        function: The callable itself, for measuring in this process.
        timer: What times a callable in this process.
        model: Of a constraint file with the GPU's limits; None for plain parameters.
        details: Further entries of each order.
        strict: Whether a configuration that breaks a promise is refused.
        takes: The places of the first launch's arguments among all, or a function of the configuration that
            gives them; None: all.
        then: The kernels of the launches that follow, with the places of their arguments.
    """

    name: str
    kind: str
    source: str
    entry: str
    space: SolutionSet
    numbers: Numbers
    arguments: tuple[Argument, ...] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)
    profile: HardwareProfile | None = None
    defines: Mapping[str, str | int | float] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    model: Model | None = None
    make_source: Callable[[Configuration], str] | None = None
    function: Callable[..., object] | None = None
    timer: Callable[[Callable[[], object]], float] | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    strict: bool = False
    takes: tuple[int, ...] | Callable[[Configuration], tuple[int, ...]] | None = None
    then: tuple[tuple[str, tuple[int, ...]], ...] = ()

    @property
    def compiles(self) -> bool:
        """Whether a compiler runs before each candidate."""
        return self.kind in (CUDA, TRITON)

    def order(self, configuration: Configuration) -> Order:
        """All that children need to compile, launch and measure a configuration.

        The launch and the promised resources (shared memory in bytes) are computed from the configuration;
        `details` adds the fields of the kernel's kind.

        Raises:
            InfeasibleError: Its block or shared memory exceeds the GPU's limits.
        """
        numbers = self.numbers.of(configuration)
        grid, block = (_three(numbers, axes) for axes in (GRID, BLOCK))
        shared_bytes = numbers.get("shared_memory", 0)
        self._check(grid, block, shared_bytes, numbers)
        source = self.source if self.make_source is None else self.make_source(dict(configuration))
        order = Order(
            kind=self.kind,
            configuration=dict(configuration),
            source=source,
            entry=self.entry,
            grid=grid,
            block=block,
            shared_memory=shared_bytes,
            registers=numbers.get("registers"),
            blocks_per_sm=numbers.get("blocks_per_sm"),
            symbols=self.symbols,
            options=self.options,
            takes=self.takes(dict(configuration)) if callable(self.takes) else self.takes,
            then=tuple(self._next_launches(numbers)),
            **self.details,
        )
        if self.kind == CUDA:
            return self._for_cuda(order, numbers)
        if self.kind == TRITON:
            signature = tuple(_signature(one) for one in self.arguments)
            return replace(order, signature=signature, path=tuple(search_path()), target=self._target)
        return order

    @property
    def _target(self) -> str:
        return self.profile.target if self.profile is not None else "sm_80"

    def _next_launches(self, numbers: Mapping[str, int]) -> Iterator[NextLaunch]:
        """The launches that follow; a grid with a 0 leaves one out."""
        for place, (entry, takes) in enumerate(self.then, 1):
            grid, block = (
                _three({axis: numbers.get(f"then{place}_{axis}", 1) for axis in axes}, axes)
                for axes in (GRID, BLOCK)
            )
            if 0 in grid:
                continue
            shared_bytes = numbers.get(f"then{place}_shared_memory", 0)
            self._check(grid, block, shared_bytes, {})
            yield NextLaunch(entry, grid, block, shared_bytes, takes)

    def _for_cuda(self, order: Order, numbers: Mapping[str, int]) -> Order:
        for name, value in order.configuration.items():
            check_macro(value, f"'{name}'")
        values = {name: _macro(value) for name, value in order.configuration.items()}
        for name, given in self.defines.items():
            value = numbers.get(f"define_{name}", given)
            check_macro(value, f"'{name}'")
            values[name] = str(value)
        # In the text, not as options, which would also change the headers that the compiler includes first.
        macros = "".join(f"#define {name} {value}\n" for name, value in values.items())
        return replace(
            order,
            source=f"{macros}#line 1 {quoted(self.name)}\n{order.source}",
            entry=_instance(self.entry, values),
            then=tuple(replace(one, entry=_instance(one.entry, values)) for one in order.then),
            target=self._target,
        )

    def _check(
        self, grid: tuple[int, ...], block: tuple[int, ...], shared_bytes: int, numbers: Mapping[str, int]
    ) -> None:
        """Refuse what cannot be launched, before it is compiled."""
        if self.kind == CALLABLE:
            return
        if min(*grid, *block) < 1 or shared_bytes < 0:
            raise InfeasibleError(
                f"a grid of {grid} and a block of {block} with {shared_bytes} bytes is not a launch"
            )
        if any(size > most for size, most in zip(grid, MOST_BLOCKS, strict=True)):
            raise InfeasibleError(f"a grid of {grid} blocks exceeds {MOST_BLOCKS}")
        if self.profile is None or self.kind == TRITON:
            return
        threads = block[0] * block[1] * block[2]
        limits = (
            ("threads", threads, self.profile.max_threads_per_block),
            ("bytes of shared memory", shared_bytes, self.profile.smem_per_block_optin),
            ("registers", numbers.get("registers") or 0, self.profile.max_registers_per_thread),
        )
        for what, value, most in limits:
            if value > most:
                raise InfeasibleError(f"{value} {what}, but {self.profile.name} has {most}")

    def cycles(self, configuration: Configuration) -> float:
        """The predicted cost of a configuration: the number `cycles`."""
        return float(self.numbers.of(configuration)["cycles"])

    def features(self, configuration: Configuration) -> dict[str, float]:
        """Numbers of a configuration for models that are learned: launch, resources, occupancy, bytes."""
        found = {name: float(value) for name, value in self.numbers.of(configuration).items()}
        threads = found.get("threads") or math.prod(found.get(axis, 1.0) for axis in BLOCK)
        found |= {"threads": threads, "blocks": math.prod(found.get(axis, 1.0) for axis in GRID)}
        if self.profile is not None and found.get("blocks_per_sm"):
            found["occupancy"] = threads * found["blocks_per_sm"] / self.profile.max_threads_per_sm
        return found

    def in_code(self) -> tuple[str, ...]:
        """The parameters that the machine code may depend on, besides the promised registers."""
        if self.kind != CUDA or self.make_source is not None:
            return self.space.names
        from kerneltune.compiling.nvrtc import own_headers

        texts = [
            self.source,
            self.entry,
            *(entry for entry, _ in self.then),
            *self.options,
            *map(str, self.defines.values()),
        ]
        texts += own_headers(self.source, self.options)
        words = {word for text in texts for word in WORD.findall(text)}
        return tuple(name for name in self.space.names if name in words)

    def identity(self) -> str:
        """A hash of all that results depend on, besides the configuration and the device."""
        parts: list[object] = [
            *(self.name, self.kind, self.source, self.entry, list(self.options)),
            *(sorted(self.sizes.items()), sorted((k, str(v)) for k, v in self.defines.items())),
            *([one.signature() for one in self.arguments], sorted(self.space.names)),
        ]
        if set(PROMISES) & set(self.numbers.names):
            parts.append({"strict": self.strict})  # what is refused depends on it
        if self.then or self.takes is not None:
            takes = "by configuration" if callable(self.takes) else self.takes
            parts.append([takes, self.then])
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def refuse_outside(kind: str) -> None:
    """Raise `InputError` for a language that is not known."""
    lowered = kind.lower()
    if lowered in OUTSIDE:
        raise InputError(f"{OUTSIDE[lowered]} kernels are outside of kerneltune: it tunes {', '.join(KINDS)}")
    if lowered not in KINDS:
        raise InputError(f"unknown kind of kernel '{kind}': known are {', '.join(KINDS)}")


def _macro(value: object) -> str:
    if isinstance(value, bool):
        return str(int(value))
    return str(value)


def _instance(entry: str, values: Mapping[str, str]) -> str:
    """The kernel's name with values in place of parameters in its template arguments."""
    name, bracket, rest = entry.partition("<")
    return name + bracket + WORD.sub(lambda found: values.get(found[0], found[0]), rest)


def _three(numbers: Mapping[str, int], axes: tuple[str, ...]) -> tuple[int, int, int]:
    x, y, z = (numbers.get(axis, 1) for axis in axes)
    return x, y, z


def _signature(one: Argument) -> tuple[str, str, object]:
    _, kind, dtype, _, value = one.signature()
    return kind, dtype, value
