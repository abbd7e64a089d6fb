"""A user's kernel as a folder: the source, `kernel.yaml`, and a constraint file or plain parameters."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from constrint.errors import ConstrintError
from constrint.tuning.spaces import from_json
from kerneltune.errors import InputError, nearest
from kerneltune.inputs.checked import Record
from kerneltune.inputs.folders import file_inside
from kerneltune.inputs.yamlfile import place_of, read_checked
from kerneltune.sources.arguments import KINDS, NUMBER, READ, Argument, number
from kerneltune.sources.description import Description
from kerneltune.sources.kernel import TRITON
from kerneltune.sources.launches import Then
from kerneltune.sources.numbers import Numbers
from kerneltune.sources.references import resolved

DESCRIPTION, CONSTRAINTS = "kernel.yaml", "tiling.constrint"
SOURCES = ("kernel.cu", "kernel.ptx", "kernel.py")
MOST_BYTES = 1 << 36  # of one array
Plain = int | str
Values = list[bool | int | float | str]


class ArrayFile(Record, frozen=True, kw_only=True):
    """An array or number of `kernel.yaml`."""

    name: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$(?!\n)")]
    kind: Literal["in", "out", "inout", "number"] = "in"
    dtype: str = "float32"
    shape: list[Plain] = msgspec.field(default_factory=list)
    value: Plain | float | None = None
    fill: str = "normal"  # normal, uniform, zeros, ones, integers, or a .npy file


class ThenFile(Record, frozen=True, kw_only=True):
    """A launch that follows, of `kernel.yaml`."""

    entry: str
    grid: list[Plain] | Plain
    block: list[Plain] | Plain
    shared_memory: Plain | None = None
    takes: list[str] | None = None


class KernelFile(Record, frozen=True, kw_only=True):
    """`kernel.yaml`: what `Description` has, with arguments that are described."""

    name: str | None = None
    kind: str | None = None
    source: str | None = None
    entry: str | None = None
    sizes: dict[str, int] = msgspec.field(default_factory=dict)
    tune_params: dict[str, Values] | None = None
    restrictions: list[str] = msgspec.field(default_factory=list)
    constraints: str | None = None
    arguments: list[ArrayFile] = msgspec.field(default_factory=list)
    constants: list[ArrayFile] = msgspec.field(default_factory=list)
    grid: list[Plain] | Plain | None = None
    block: list[Plain] | Plain | None = None
    shared_memory: Plain | None = None
    registers: Plain | None = None
    blocks_per_sm: Plain | None = None
    defines: dict[str, Plain | float] = msgspec.field(default_factory=dict)
    options: list[str] = msgspec.field(default_factory=list)
    includes: list[str] = msgspec.field(default_factory=list)
    flops: Plain | None = None
    bytes: Plain | None = None
    cycles: Plain | None = None
    metrics: dict[str, str] = msgspec.field(default_factory=dict)
    model: str | None = None
    features: str | None = None
    reference: str | None = None
    tolerance: Annotated[float, msgspec.Meta(gt=0)] | None = None
    cooperative: bool = False
    strict: bool = False
    takes: list[str] | None = None
    then: list[ThenFile] = msgspec.field(default_factory=list)


@dataclass(frozen=True)
class Folder:
    """A folder's kernel with its arguments at some sizes.

    Attributes:
        description: The kernel.
        reference: The function of its expected outputs.
        tolerance: Of the relative L2 error.
        search: The functions `metrics`, `model` and `features`, where `kernel.yaml` names them.
    """

    description: Description
    reference: Any
    tolerance: float | None
    search: Mapping[str, object] = field(default_factory=dict)


def is_kernel_folder(path: str) -> bool:
    """Whether a path is a folder with a user's kernel."""
    try:
        return (Path(path) / DESCRIPTION).is_file()
    except (OSError, ValueError):
        return False


def read_folder(
    folder: Path, sizes: Mapping[str, int] | None = None, seed: int = 0, *, with_arrays: bool = True
) -> Folder:
    """Read a folder.

    Args:
        folder: The folder.
        sizes: Sizes in place of the file's own.
        seed: The seed of drawn arrays.
        with_arrays: Whether arrays are drawn; without, they are views of one zero.

    Raises:
        InputError: A file is missing or wrong; the message names the place.
    """
    path = folder / DESCRIPTION
    if not folder.is_dir():
        raise InputError(f"there is no folder {folder}: a kernel of your own is a folder with {DESCRIPTION}")
    data = read_checked(path, KernelFile)
    strange = next((name for name in sizes or {} if name not in data.sizes), None)
    if strange is not None:
        raise InputError(f"{path}: there is no size '{strange}': {nearest(strange, data.sizes)}")
    actual = {**data.sizes, **(sizes or {})}
    source, kind = _source(folder, data)
    arrays = _Arrays(folder, path, actual, np.random.default_rng(seed), with_arrays)
    arguments = [arrays.argument(one) for one in data.arguments]
    constants = {one.name: arrays.argument(one).value for one in data.constants}
    params, constraints = _space(folder, path, data)
    description = Description(
        source,
        entry=data.entry,
        kind=kind,
        name=data.name or folder.resolve().name,
        params=params,
        constraints=constraints,
        sizes=actual,
        arguments=arguments,
        grid=data.grid,
        block=data.block,
        shared_memory=data.shared_memory,
        registers=data.registers,
        blocks_per_sm=data.blocks_per_sm,
        defines=data.defines,
        constants=constants,
        options=data.options,
        includes=[folder / one for one in data.includes],
        flops=data.flops,
        bytes=data.bytes,
        cycles=data.cycles,
        cooperative=data.cooperative,
        strict=data.strict,
        takes=data.takes,
        then=[Then(one.entry, one.grid, one.block, one.shared_memory, one.takes) for one in data.then],
    )
    return Folder(description, _reference(folder, data, actual), data.tolerance, _search(folder, data))


def _search(folder: Path, data: KernelFile) -> dict[str, Any]:
    """The user's functions for the search."""

    def function(text: str, name: str) -> Any:
        file, _, own = text.partition(":")
        path = file_inside(folder, file, f"{folder / DESCRIPTION}: {name}")
        return resolved(f"{path.resolve()}:{own or name}")

    found: dict[str, Any] = {}
    if data.metrics:
        found["metrics"] = {name: function(text, name) for name, text in data.metrics.items()}
    for name in ("model", "features"):
        text = getattr(data, name)
        if text is not None:
            found[name] = function(text, name)
    return found


def _source(folder: Path, data: KernelFile) -> tuple[Any, str | None]:
    if data.source is not None:
        path = file_inside(folder, data.source, f"{folder / DESCRIPTION}: source")
        if not path.is_file():
            raise InputError(f"{folder / DESCRIPTION}: source: there is no file {path}")
    else:
        found = [folder / name for name in SOURCES if (folder / name).is_file()]
        if len(found) != 1:
            raise InputError(f"{folder}: expected one of {', '.join(SOURCES)}, or 'source:' in {DESCRIPTION}")
        path = found[0]
    if path.suffix == ".py":
        if data.entry is None:
            raise InputError(f"{folder / DESCRIPTION}: entry is missing: the function of {path.name}")
        function = resolved(f"{path.resolve()}:{data.entry}")
        return function, data.kind if data.kind != TRITON else None
    return path, data.kind


def _space(folder: Path, path: Path, data: KernelFile) -> tuple[Any, Any]:
    """Parameters and restrictions; or nothing and a constraint file, which has both."""
    named = data.constraints or (CONSTRAINTS if (folder / CONSTRAINTS).is_file() else None)
    if named is None:
        if data.tune_params is None:
            raise InputError(f"{path}: tune_params is missing, and there is no {CONSTRAINTS}")
        for number, text in enumerate(data.restrictions):
            try:
                ast.parse(text.strip(), mode="eval")
            except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
                place = place_of(path, ("restrictions", number))
                said = getattr(error, "msg", None) or str(error)
                raise InputError(f"{place}: '{text}' is no condition in Python's syntax: {said}") from None
        return data.tune_params, list(data.restrictions)
    file = file_inside(folder, named, f"{path}: constraints")
    if data.tune_params is not None or data.restrictions:
        raise InputError(f"{path}: tune_params and {named} both declare parameters: keep one of them")
    if not named.endswith(".json"):
        return None, file
    try:
        found = from_json(file)  # T1, or tune_params and restrictions
    except (ConstrintError, OSError) as error:
        raise InputError(f"{path}: constraints: {error}") from None
    return found.tune_params, list(found.restrictions)


def _reference(folder: Path, data: KernelFile, sizes: Mapping[str, int]) -> Any:
    """The function of the arguments; it also gets the sizes by name if it asks for them."""
    if data.reference is None:
        return None
    file, _, name = data.reference.partition(":")
    path = file_inside(folder, file, f"{folder / DESCRIPTION}: reference")
    function = resolved(f"{path.resolve()}:{name or 'reference'}")
    import inspect

    wanted = [
        one.name for one in inspect.signature(function).parameters.values() if one.kind == one.KEYWORD_ONLY
    ]
    own = {name: sizes[name] for name in wanted if name in sizes}
    return (lambda *arrays: function(*arrays, **own)) if own else function


class _Arrays:
    """The arrays of a folder at some sizes."""

    def __init__(
        self, folder: Path, path: Path, sizes: Mapping[str, int], draw: np.random.Generator, real: bool
    ) -> None:
        self._folder, self._path, self._sizes, self._draw, self._real = folder, path, sizes, draw, real

    def argument(self, one: ArrayFile) -> Argument:
        where = f"{self._path}: arguments: {one.name}"
        assert one.kind in KINDS
        try:
            dtype = np.dtype(one.dtype)
        except TypeError:
            raise InputError(f"{where}: unknown dtype '{one.dtype}'") from None
        if one.value is not None and (one.shape or one.kind not in (NUMBER, READ)):
            raise InputError(f"{where}: a value is that of a number, not of an array: write kind: {NUMBER}")
        if one.kind == NUMBER or one.value is not None:
            given = one.value if one.value is not None else one.name
            value = given if isinstance(given, float) else self._number(given, where)
            return Argument(NUMBER, number(dtype.type(value), where), one.name)
        shape = tuple(self._number(size, where) for size in one.shape)
        if any(size < 0 for size in shape) or int(np.prod(shape, dtype=object)) * dtype.itemsize > MOST_BYTES:
            raise InputError(f"{where}: the shape {shape} is not an array of this machine")
        if not self._real or one.kind == "out":
            return Argument(one.kind, np.broadcast_to(np.zeros((), dtype), shape), one.name)
        return Argument(one.kind, self._filled(one.fill, shape, dtype, where), one.name)

    def _number(self, given: int | str, where: str) -> int:
        return Numbers({"n": given}, {}, self._sizes, where).of({})["n"]

    def _filled(
        self, fill: str, shape: tuple[int, ...], dtype: np.dtype[np.generic], where: str
    ) -> NDArray[np.generic]:
        if fill.endswith(".npy"):
            return self._loaded(fill, shape, dtype, where)
        if fill == "zeros":
            return np.zeros(shape, dtype)
        if fill == "ones":
            return np.ones(shape, dtype)
        if fill == "integers" or (fill == "normal" and dtype.kind in "iub"):
            return self._draw.integers(0, 2 if dtype.kind == "b" else 100, shape).astype(dtype)
        if fill == "uniform":
            return self._draw.random(shape, np.float32).astype(dtype)
        if fill == "normal":
            return self._draw.standard_normal(shape, np.float32).astype(dtype)
        raise InputError(
            f"{where}: fill is normal, uniform, integers, zeros, ones or a .npy file, not '{fill}'"
        )

    def _loaded(
        self, name: str, shape: tuple[int, ...], dtype: np.dtype[np.generic], where: str
    ) -> NDArray[np.generic]:
        path = file_inside(self._folder, name, where)
        try:
            if not path.is_file():
                raise InputError(f"{where}: {path} is no file")
            # A mapped array is as large as its file, whatever its header says.
            mapped = np.load(path, mmap_mode=None if 0 in shape else "r", allow_pickle=False)
            found: NDArray[Any] = mapped if mapped.shape != shape or mapped.dtype != dtype else mapped.copy()
        except (OSError, ValueError, EOFError) as error:
            raise InputError(f"{where}: {path} cannot be read: {error}") from None
        if found.shape != shape or found.dtype != dtype:
            raise InputError(f"{where}: {name} is {found.dtype} {found.shape}, not {dtype} {shape}")
        return found
