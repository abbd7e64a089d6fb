"""`ImportExport`: the calls of `Model` that read and write it in other forms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Self, cast

from constrint.modelling.declarations import Declarations
from constrint.modelling.threads import of_copy
from constrint.support.limits import Limits, budget_for, decoded, read_bytes
from constrint.support.optional import needed

if TYPE_CHECKING:
    from pathlib import Path

    import cpmpy
    import sympy
    from constraint import Problem
    from ortools.sat.python.cp_model import CpModel

    from constrint.frontends.text.parameters import Given


class ImportExport(Declarations):
    """The calls of `Model` that read and write it: text, JSON, sympy relations and the other formats."""

    _internal = ("of",)

    @classmethod
    def of(cls, declared: Declarations) -> Self:
        """The model of a reader's declarations; expressions are shared."""
        if isinstance(declared, cls):
            return declared
        model = cls(declared.name)
        declared.copy_to(model)
        return model

    @classmethod
    def from_text(
        cls,
        text: str,
        *,
        filename: str = "<text>",
        constants: Mapping[str, Given] | None = None,
        dialect: str = "constrint",
        include: Sequence[str | Path] = (),
        limits: Limits | None = None,
        time_limit: float | None = None,
        memory_limit: int | None = None,
    ) -> Self:
        """Read a model from text in the constrint language.

        Args:
            text: The model.
            filename: Name of the text in messages.
            constants: Values of names in the text: numbers, members of enumerations as strings, sequences
                of them, or mappings from the indices of an array.
            dialect: The language of the text: "constrint", "flashrnn" (FlashRNN's dialect of ConstrINT),
                "json", "flatzinc", "xcsp3", "lp", "mps", "cnf", "wcnf" or "opb" (docs/constrint-formats.md).
            include: Folders whose files the text may include.
            limits: Limits of the model's size; `Limits()` has the defaults.
            time_limit: Seconds that reading may take.
            memory_limit: Bytes by which the process may grow while it reads.

        Returns:
            The model.

        Raises:
            ParseError: The text is not valid; has line and column.
            LimitExceeded: The model is larger than the limits.
            LimitError: The limit of time or memory was reached.
        """
        from constrint.frontends.text.includes import Folders
        from constrint.frontends.text.text import read_model

        read = read_model(
            text,
            filename=filename,
            constants=constants,
            dialect=dialect,
            budget=budget_for(limits, time_limit, memory_limit),
            folders=Folders(None, include),
        )
        return cls.of(read)

    @classmethod
    def from_file(
        cls,
        path: str | Path,
        *,
        constants: Mapping[str, Given] | None = None,
        data: str | Path | Sequence[str | Path] = (),
        include: Sequence[str | Path] = (),
        dialect: str = "constrint",
        limits: Limits | None = None,
        time_limit: float | None = None,
        memory_limit: int | None = None,
    ) -> Self:
        """Read a model from a file in the dialect of its ending, if that has one; see `from_text`.

        `data` names files with values of parameters: .json, .yaml, .yml or .csv. The text may include files
        of its own folder and of those in `include`.
        """
        from constrint.frontends.formats import format_of
        from constrint.frontends.text.data import read_data
        from constrint.frontends.text.includes import Folders
        from constrint.frontends.text.text import read_model

        budget, filename = budget_for(limits, time_limit, memory_limit), str(path)
        text, dialect = decoded(read_bytes(path, budget), filename), format_of(filename, dialect)
        files = data if isinstance(data, Sequence) and not isinstance(data, str) else [data]
        given = read_data(files, constants, budget)
        folders = Folders(path, include)
        read = read_model(
            text, filename=filename, constants=given, dialect=dialect, budget=budget, folders=folders
        )
        return cls.of(read)

    @of_copy
    def to_text(self, *, dialect: str = "constrint") -> str:
        """The model as text, which reads back as a model with the same solutions.

        Args:
            dialect: "constrint", "json", "flatzinc", "xcsp3", "lp", "mps" or "cp-sat"
                (docs/constrint-formats.md).

        Raises:
            ModelError: The format cannot hold the model; names the constraint.
        """
        from constrint.frontends.formats import written

        return written(self, dialect)

    @of_copy
    def write(self, path: str | Path, *, dialect: str | None = None) -> None:
        """Write the model to a file in the format of its ending, or another one; see `to_text`."""
        from constrint.frontends.formats import write

        write(self, path, dialect)

    @of_copy
    def to_json(self, *, indent: int | None = None) -> str:
        """The model as JSON, complete with names, places and assumptions; on one line, or indented."""
        from constrint.frontends.json.model import to_json

        return to_json(self, indent)

    @classmethod
    def from_json(
        cls,
        text: str,
        *,
        filename: str = "<json>",
        limits: Limits | None = None,
        time_limit: float | None = None,
        memory_limit: int | None = None,
    ) -> Self:
        """Read a model from JSON; arguments and errors as for `from_text`, `ModelError` for other JSON."""
        from constrint.frontends.json.model import from_json

        return cls.of(from_json(text, filename, budget_for(limits, time_limit, memory_limit)))

    @of_copy
    def to_cp_sat(self) -> CpModel:
        """The model as an `ortools.sat.python.cp_model.CpModel`; needs OR-Tools (extra: cp-sat)."""
        writer = needed("constrint.frontends.cp_sat.writer", "constrint[cp-sat]", "a model of CP-SAT")
        return cast("CpModel", writer.to_cp_sat(self))

    @of_copy
    def to_cpmpy(self) -> tuple[cpmpy.Model, dict[str, object]]:
        """The model as a `cpmpy.Model`, and its variables by name; needs CPMpy (extra: cpmpy)."""
        writer = needed("constrint.frontends.cpmpy", "constrint[cpmpy]", "a model of CPMpy")
        return cast("tuple[cpmpy.Model, dict[str, object]]", writer.to_cpmpy(self))

    @of_copy
    def to_python_constraint(self) -> Problem:
        """The model as a `constraint.Problem`; needs the package python-constraint2."""
        name = "constrint.frontends.python_constraint"
        return needed(name, "python-constraint2", "a problem of python-constraint").to_python_constraint(self)

    @classmethod
    def from_sympy(cls, relations: object, *, name: str = "sympy") -> Self:
        """Read sympy relations as a model; needs sympy (extra: sympy).

        Args:
            relations: One relation or several that all hold: Eq, Le, And, Or, Contains …
            name: Name of the model.

        Returns:
            The model; its variables are the symbols, with the bounds of their assumptions.
        """
        bridge = needed("constrint.frontends.sympy.reader", "constrint[sympy]", "reading sympy relations")
        return cls.of(bridge.read_relations(relations, name))

    @of_copy
    def to_sympy(self) -> list[sympy.Basic]:
        """The variables and constraints as sympy relations; needs sympy (extra: sympy)."""
        writer = needed("constrint.frontends.sympy.writer", "constrint[sympy]", "writing sympy relations")
        return cast("list[sympy.Basic]", writer.write_relations(self))
