"""Descriptions of strategies and cells: the folders under ``kernels/``."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import msgspec

from kerneltune.errors import InputError, nearest
from kerneltune.inputs.checked import Record
from kerneltune.inputs.files import text_of
from kerneltune.inputs.folders import data_folder
from kerneltune.inputs.hardware import HardwareProfile
from kerneltune.inputs.yamlfile import read_checked

if TYPE_CHECKING:
    import numpy as np

    from kerneltune.inputs.equation_cell import EquationCell

SpecOfCell = TypeVar("SpecOfCell", bound="CellSpec")
# `$` also matches before a line break at the end. A file is one in the folder: its name is no path.
Identifier = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$(?!\n)")]
FileName = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$(?!\n)")]

# Description file of each pass.
DESCRIPTIONS = {"forward": "kernel.yaml", "backward": "backward.yaml"}
# The ending of a file of equations.
ENDING = ".cell"
# What separates, in the name of a cell that is not below the folder, its name from the hash of its text.
MARK = "@"
# Aliases of strategies.
FORMER_NAMES = {"alternating": "streamed"}
# Values that every strategy's constraint file must define.
RESULT_NAMES = ("threads", "blocks", "cluster", "shared_memory", "registers", "blocks_per_sm", "cycles")


class KernelSpec(Record, frozen=True, kw_only=True):
    """One pass of a strategy (``kernel.yaml``, ``backward.yaml``)."""

    name: Identifier
    summary: str
    direction: Literal["forward", "backward"] = msgspec.field(name="pass")
    dtypes: tuple[str, ...]
    requires: dict[str, bool | int] = msgspec.field(default_factory=dict)
    source: FileName
    constraints: FileName
    entry: Identifier
    cooperative: bool = False
    # Taken only where it is named, as one that was not timed on any GPU.
    by_name: bool = False
    # Initial value of every byte of the workspace.
    workspace_fill: Annotated[int, msgspec.Meta(ge=0, le=255)] = 0
    # Filled before the first launch only: what a launch leaves is for the next.
    workspace_kept: bool = False
    # A launch for each step, with a library's matrix product between launches.
    stepwise: bool = False
    # Of scans: cells whose h is several numbers are taken.
    wide_states: bool = False
    parameters: tuple[Identifier, ...]
    knobs: dict[Identifier, str] = msgspec.field(default_factory=dict)

    def disagreements(self) -> Iterator[tuple[str, str]]:
        """Knobs that are no parameters."""
        for knob in self.knobs:
            if knob not in self.parameters:
                hint = nearest(knob, self.parameters)
                yield "knobs", f"the knob '{knob}' is not a parameter: {hint}"


class CellSpec(Record, frozen=True, kw_only=True):
    """A cell: its gates, its states and its pointwise update (``cell.yaml``)."""

    name: Identifier
    summary: str
    gates: tuple[Identifier, ...]
    states: tuple[Identifier, ...]
    # Values that training saves for each unit and step, in the storage type.
    saved_values: Annotated[int, msgspec.Meta(ge=0)] = 0
    saved_states: Annotated[int, msgspec.Meta(ge=0)] = 0  # states after h that training saves, in float32
    backward_reads_hidden: bool = False
    separate_gradients: bool = False  # whether the gradients by W x and by R h + bias differ
    positive: tuple[str, ...] = ()  # states that must start above zero
    weights: tuple[Identifier, ...] = ()  # of each unit; in CUDA, cells of scans alone have some
    # Of each weight the gate in whose sum it is multiplied with a state; the state; whether after the step.
    weight_sums: tuple[tuple[int, int, bool], ...] = ()
    learnable: tuple[tuple[str, float], ...] = ()  # options that layers learn: the last gates, or weights
    recurrent_gain: Annotated[float, msgspec.Meta(gt=0)] = 1.0  # scale of the random R in verification
    cell_struct: Identifier

    def disagreements(self) -> Iterator[tuple[str, str]]:
        """Positive states that are no states."""
        for name in self.positive:
            if name not in self.states:
                hint = nearest(name, self.states)
                yield "positive", f"the positive state '{name}' is not a state: {hint}"


@dataclass(frozen=True)
class KernelStrategy:
    """A strategy's description and its folder."""

    spec: KernelSpec
    folder: Path
    description: str = "kernel.yaml"  # the file that ``spec`` was read from

    @property
    def name(self) -> str:
        """The strategy's name."""
        return self.spec.name

    @property
    def description_path(self) -> Path:
        """The description file."""
        return self.folder / self.description

    @property
    def constraints_path(self) -> Path:
        """The constraint file."""
        return self.folder / self.spec.constraints

    @cached_property
    def constraints_text(self) -> str:
        """The constraint file's text."""
        return text_of(self.constraints_path)

    def refusal(self, profile: HardwareProfile, dtype: str) -> str | None:
        """The reason why the GPU or the dtype rules this strategy out, or None."""
        if dtype not in self.spec.dtypes:
            return f"it is written for {', '.join(self.spec.dtypes)}, not {dtype}"
        for name, wanted in self.spec.requires.items():
            have = profile.capabilities.get(name)
            if have is None:
                hint = nearest(name, profile.capabilities)
                raise InputError(f"{self.description_path}: requires: unknown capability '{name}': {hint}")
            if isinstance(wanted, bool) and bool(have) != wanted:
                return f"it needs {name} = {str(wanted).lower()}, which {profile.name} does not have"
            if have < wanted:
                return f"it needs {name} >= {wanted}, {profile.name} has {have}"
        return None


@dataclass(frozen=True)
class Cell:
    """A cell's description and its folder."""

    spec: CellSpec
    folder: Path

    @property
    def name(self) -> str:
        """The cell's name."""
        return self.spec.name

    def constants(self) -> dict[str, int]:
        """The cell's constants, by their names in constraint files."""
        return {
            "gates": len(self.spec.gates),
            "cell_states": len(self.spec.states),
            "saved_values": self.spec.saved_values,
            "saved_states": self.spec.saved_states,
            "reads_hidden": int(self.spec.backward_reads_hidden),
            "separate_gradients": int(self.spec.separate_gradients),
        }

    def work(self, exact: bool) -> dict[str, int]:
        """The cost of a step (`kerneltune.cells.work`), with functions of float32 accuracy or faster ones.

        Of a cell in CUDA, a sigmoid for each gate is assumed.
        """
        from kerneltune.cells.costs import EXACT, FAST  # cells of equations have theirs beside them

        return {"step_work": len(self.spec.gates) * (EXACT if exact else FAST)["sigmoid"].work}

    def device_constants(self) -> dict[str, int]:
        """The constants that the cell's struct in `cell.cuh` must repeat, named as in `cell.yaml`."""
        return {
            "gates": len(self.spec.gates),
            "states": len(self.spec.states),
            "saved_values": self.spec.saved_values,
            "saved_states": self.spec.saved_states,
            "backward_reads_hidden": int(self.spec.backward_reads_hidden),
            "separate_gradients": int(self.spec.separate_gradients),
        }

    def reference(self) -> Callable[..., np.ndarray[Any, Any]]:
        """The float64 reference's ``forward(wx, r, bias, states0, forward_clip)``."""
        forward: Callable[..., np.ndarray[Any, Any]] = self.reference_module().forward
        return forward

    def declaration(self, root: Path) -> str:
        """The CUDA source that declares the cell's struct; what it includes is relative to ``root``."""
        return f'#include "{self.folder.relative_to(root).as_posix()}/cell.cuh"'

    def reference_module(self) -> ModuleType:
        """The float64 reference module: ``forward``, and for gradients ``saved`` and ``backward``."""
        path = self.folder / "reference.py"
        found = importlib.util.spec_from_file_location(f"kerneltune_reference_{self.name}", path)
        if found is None or found.loader is None or not path.is_file():
            raise InputError(f"the cell '{self.name}' has no {path}")
        module = importlib.util.module_from_spec(found)
        found.loader.exec_module(module)
        return module


@dataclass(frozen=True)
class Kernels:
    """Every strategy and cell below one root folder; strategies are those of one pass.

    Attributes:
        root: The folder.
        strategies: The strategies by name: those of the forward pass, unless `for_pass` made this object.
        cells: The cells by name.
        backward: The strategies of the backward pass.
    """

    root: Path
    strategies: dict[str, KernelStrategy] = field(default_factory=dict)
    cells: dict[str, Cell] = field(default_factory=dict)
    backward: dict[str, KernelStrategy] = field(default_factory=dict)

    def for_pass(self, direction: str) -> Kernels:
        """A copy whose strategies are those of a pass; training uses the strategies of the forward pass."""
        return replace(self, strategies=self.backward) if direction == "backward" else self

    def cell(self, name: str) -> Cell:
        """The cell of that name, or in the file of that path; raises `InputError` if there is none."""
        if name.endswith(ENDING):
            return _cell_of_file(Path(name))
        if MARK in name:
            from kerneltune.inputs.equation_cell import KNOWN

            if name in KNOWN:
                return _of_its_kind(KNOWN[name])
        if name not in self.cells:
            raise InputError(f"unknown cell '{name}': {nearest(name, self.cells)}")
        return self.cells[name]

    def strategy(self, name: str) -> KernelStrategy:
        """The strategy of that name or alias; raises `InputError` if there is none."""
        name = FORMER_NAMES.get(name, name)
        if name not in self.strategies:
            raise InputError(f"unknown strategy '{name}': {nearest(name, self.strategies)}")
        return self.strategies[name]


@cache
def discover(root: Path | None = None) -> Kernels:
    """Read the descriptions in each ``strategies/<strategy>/`` and the cells.

    A cell is a file ``cells/<cell>.cell`` or a folder ``cells/<cell>/``. If it has both, the folder counts.
    """
    root = root or data_folder("kernels")
    forward, backward = (read_strategies(root, *names) for names in DESCRIPTIONS.items())
    cells = {spec.name: Cell(spec, folder) for spec, folder in read_cells(root, CellSpec)}
    for path in sorted(root.glob(f"cells/*{ENDING}")):
        if path.stem not in cells:  # else nothing is derived
            cells[path.stem] = _equations_of(path)
    return Kernels(root, forward, cells, backward)


def _cell_of_file(path: Path) -> Cell:
    return _of_its_kind(_equations_of(path))


def _equations_of(path: Path) -> EquationCell:
    from kerneltune.inputs.equation_cell import EquationCell  # a cell of equations is a cell

    return EquationCell.of_file(path)


def _of_its_kind(found: EquationCell) -> Cell:
    """The cell, as a scan if no gate has R h."""
    from kerneltune.inputs.scan_equation_cell import scan_of

    return found if found.derivation.equations.recurs else scan_of(found.key)


def read_cells(root: Path, kind: type[SpecOfCell]) -> list[tuple[SpecOfCell, Path]]:
    """The cells below a folder, each with its folder."""
    found = []
    for path in sorted(root.glob("cells/*/cell.yaml")):
        spec = read_checked(path, kind)
        _named_as_folder(path, spec.name)
        found.append((spec, path.parent))
    return found


def read_strategies(root: Path, direction: str, description: str) -> dict[str, KernelStrategy]:
    """The strategies below a folder that have the named description file, by name."""
    found = {}
    for path in sorted(root.glob(f"strategies/*/{description}")):
        spec = read_checked(path, KernelSpec)
        _named_as_folder(path, spec.name)
        if spec.direction != direction:
            raise InputError(
                f"{path}: pass: is '{spec.direction}', but this file describes the {direction} pass"
            )
        found[spec.name] = KernelStrategy(spec, path.parent, description)
    return found


def _named_as_folder(path: Path, name: str) -> None:
    if path.parent.name != name:
        raise InputError(f"{path}: name: is '{name}', but the folder is called '{path.parent.name}'")
