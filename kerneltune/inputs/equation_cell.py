"""Recurrent cells that are written as equations."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from functools import cache, cached_property
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Self, cast

import msgspec

from kerneltune.cells.syntax import Source
from kerneltune.errors import InputError
from kerneltune.inputs.descriptions import ENDING, MARK, Cell, CellSpec
from kerneltune.inputs.files import text_of
from kerneltune.inputs.folders import data_folder

if TYPE_CHECKING:
    from kerneltune.cells.derivation import Derivation
    from kerneltune.inputs.overrides import Override

_NO_GATE = "no gate has R h, so this is no recurrent cell: a gate's name, or R.GATE, has it"
MOST_BYTES = 100_000
"""The most bytes of a cell's file that are read; syntax.py limits the characters."""


HEADER = ".cuh"
"""The ending of a struct by hand, beside a file of equations."""
DERIVED = "derived.json"
"""The file of what is derived of the shipped cells, recurrent and scans, below `kernels/cells`."""


@cache
def shipped() -> dict[str, Any]:
    """Descriptions of the shipped cells and what their training saves, by their keys.

    So layers and tilings derive nothing and load no solver.
    """
    path = data_folder("kernels") / "cells" / DERIVED
    found: dict[str, Any] = json.loads(text_of(path, most=MOST_BYTES)) if path.is_file() else {}
    return found


KNOWN: dict[str, EquationCell] = {}
"""The cells of this process that were read from files or written in Python, by their keys."""


class EquationCell(Cell):
    """A cell that is written as equations. All else is derived from them when it is first asked for.

    Args:
        name: The cell's name.
        gates: Names of the gates, separated by spaces.
        states: Names of the states; R is multiplied with the first, which is the layer's output.
        equations: The equations, one a line.
        weights: Names of weights that each unit has.
        positive: States that must start above zero.
        options: Numbers by name that the equations use.
        learnable: Names of the options that layers learn; the others are fixed.
        summary: One sentence.
        gain: Scale of the random R that verification draws.
    """

    text_source: Source
    key: str
    """A name that no other text has."""

    def __init__(
        self,
        name: str,
        *,
        gates: str,
        states: str,
        equations: str,
        weights: str = "",
        positive: str = "",
        options: Mapping[str, float] | None = None,
        learnable: str = "",
        summary: str = "",
        gain: float = 1.0,
    ) -> None:
        lists = {"gates": gates, "states": states, "weights": weights, "positive": positive}
        lines = [f"# {line}" for line in summary.splitlines()]
        lines += [f"{kind} {' '.join(names.split())}" for kind, names in lists.items() if names.split()]
        for one in learnable.split():
            if one not in (options or {}):
                raise InputError(f"the learnable '{one}' is not among the options of cell '{name}'")
        lines += [
            f"option {one} = {float(value)!r}{' learnable' * (one in learnable.split())}"
            for one, value in (options or {}).items()
        ]
        lines += [f"gain {gain}"] if gain != 1.0 else []
        text = "\n".join([*lines, equations])
        self._begin(name, Source(f"cell '{name}'", text, 1 - len(lines)), Path())
        self.derivation  # noqa: B018  # what is wrong is said where the cell is written
        KNOWN[self.key] = self

    @classmethod
    def of_text(
        cls, name: str, text: str, source: str, folder: Path = Path(), override: tuple[str, ...] = ()
    ) -> EquationCell:
        """A cell from the text of a file, which is read when it is first needed."""
        made = cls.__new__(cls)
        made._begin(name, Source(source, text), folder, override)
        return made

    @classmethod
    def of_file(cls, path: Path) -> EquationCell:
        """The cell in a file; its name is the file's. For the same content it is the same object.

        A header beside it has its CUDA struct, written by hand.
        """
        beside = path.with_suffix(HEADER)
        override = (str(beside), text_of(beside, most=MOST_BYTES)) if beside.is_file() else ()
        made = cls.of_text(path.stem, text_of(path, most=MOST_BYTES), str(path), path.parent, override)
        found = KNOWN.get(made.key)
        if found is None or found.text_source != made.text_source:  # messages name the file
            found = KNOWN[made.key] = made
        return found

    @classmethod
    def like(cls, other: EquationCell) -> Self:
        """The same cell as one of this class."""
        made = cls.__new__(cls)
        made.__dict__.update({name: value for name, value in other.__dict__.items() if name != "spec"})
        return made

    def _begin(self, name: str, source: Source, folder: Path, override: tuple[str, ...] = ()) -> None:
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            raise InputError(f"{source.name}: '{name}' is no name of a cell: letters, digits and underscores")
        self.__dict__.update(_name=name, text_source=source, folder=folder, _override=override)
        digest = hashlib.sha256("\0".join([source.text, *override[1:]]).encode()).hexdigest()[:16]
        self.__dict__["key"] = f"{name}{MARK}{digest}"

    @classmethod
    def of_texts(cls, name: str, text: str, source: str, *override: str) -> EquationCell:
        """The cell that has these `texts`."""
        return cls.of_text(name, text, source, override=override)

    @property
    def texts(self) -> tuple[str, ...]:
        """The name, the text and its source, and those of the struct if it is written by hand."""
        return self.name, self.text, self.text_source.name, *self.__dict__["_override"]

    @cached_property
    def override(self) -> Override | None:
        """The struct that is written by hand."""
        if not self.__dict__["_override"]:
            return None
        from kerneltune.inputs.overrides import Override

        return Override(*self.__dict__["_override"])

    @property
    def name(self) -> str:
        """The cell's name."""
        name: str = self.__dict__["_name"]
        return name

    @property
    def text(self) -> str:
        """The text, as a file has it."""
        return self.text_source.text

    @cached_property
    def derivation(self) -> Derivation:
        """The equations and what follows from them; raises `InputError` if they are wrong."""
        return self.derived(shipped().get(self.key, {}).get("saved"))

    def derived(self, choice: Mapping[str, object] | None = None) -> Derivation:
        """The same, read anew; `choice` is that of `Derivation`."""
        from kerneltune.cells.derivation import Derivation
        from kerneltune.cells.equations import read_equations

        equations = read_equations(self.name, self.text_source)
        if equations.has_arrays:
            from kerneltune.cells.arrays import check_arrays

            check_arrays(equations)
        written = self.override.saved(equations) if self.override else None
        return Derivation(equations, None if written else choice, written)

    @cached_property
    def spec(self) -> CellSpec:
        """The description that other cells have in `cell.yaml`."""
        known = shipped().get(self.key)
        return self.described() if known is None else msgspec.convert(known["spec"], CellSpec)

    def work(self, exact: bool) -> dict[str, int]:
        """The cost of a step, counted in the equations."""
        found: dict[str, int] = self._work["exact" if exact else "fast"]
        return found

    @cached_property
    def _work(self) -> dict[str, dict[str, int]]:
        if self.key in shipped():
            known: dict[str, dict[str, int]] = shipped()[self.key]["work"]
            return known
        return self.counted()

    def counted(self) -> dict[str, dict[str, int]]:
        """The work, counted anew."""
        from kerneltune.cells.work import work_of

        found = work_of(self.derivation)
        return self.override.work(found) if self.override else found

    def described(self) -> CellSpec:
        """The description, derived."""
        from kerneltune.cells.cuda import STRUCT

        derivation = self.derivation
        equations, saved = derivation.equations, derivation.saved
        if not equations.recurs:
            raise InputError(f"{self.text_source.name}: {_NO_GATE}")
        return CellSpec(
            name=self.name,
            summary=equations.summary,
            gates=equations.gates,
            states=equations.states,
            saved_values=saved.slots,
            saved_states=saved.states,
            backward_reads_hidden=saved.hidden >= 0,
            separate_gradients=derivation.separate_gradients,
            positive=equations.positive,
            weights=equations.weights,
            weight_sums=tuple((one.gate, one.state, one.is_after) for one in derivation.weight_sums),
            learnable=tuple((one, equations.options[one]) for one in equations.learnable),
            recurrent_gain=equations.gain,
            cell_struct=self.override.struct if self.override else STRUCT,
        )

    def declaration(self, root: Path) -> str:
        """The CUDA struct."""
        if self.override:
            return self.override.declaration
        from kerneltune.cells.cuda import struct_of

        return struct_of(self.derivation)

    def reference_module(self) -> ModuleType:
        """The float64 reference: `forward`, `saved` and `backward`."""
        from kerneltune.cells.reference import DerivedReference

        return cast("ModuleType", DerivedReference(self.derivation))  # it has a module's functions


def named(cell: str | EquationCell) -> str:
    """The name under which this process knows a cell: of a file, one for its present content."""
    if isinstance(cell, EquationCell):
        return cell.key
    return EquationCell.of_file(Path(cell)).key if cell.endswith(ENDING) else cell
