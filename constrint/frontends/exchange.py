"""`Exchange`: the calls of `Model` that read and write it in other forms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, cast

from constrint.modelling.declarations import Declarations
from constrint.support.limits import Limits, budget_for, decoded, read_bytes
from constrint.support.optional import needed

if TYPE_CHECKING:
    from pathlib import Path

    from constrint.frontends.text.parameters import Given


class Exchange(Declarations):
    """Base class of `Model` that reads and writes text, JSON, sympy relations and the other formats."""

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
            constants: Values of names in the text: integers, members of enumerations as strings, sequences
                of them, or mappings from the indices of an array.
            dialect: The language of the text: "constrint", "flashrnn" (FlashRNN's dialect of ConstrINT),
                "json", "flatzinc" or "xcsp3".
            include: Folders whose files the text may include.
            limits: Limits of the model's size; `Limits()` has the defaults.
            time_limit: Seconds that reading may take.
            memory_limit: Bytes by which the process may grow while it reads.

        Returns:
            The model.

        Raises:
            ParseError: The text is not valid; has line and column.
            LimitExceeded: The model is larger than the limits.
            LimitError: Time or memory did not suffice.
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
        """Read a model from a file; see `from_text`. The endings .json, .fzn and .xml select the dialect.

        `data` names files with values of parameters: .json, .yaml, .yml or .csv. The text may include files
        of its own folder and of those in `include`.
        """
        from constrint.frontends.dialects import dialect_of
        from constrint.frontends.text.data import read_data
        from constrint.frontends.text.includes import Folders
        from constrint.frontends.text.text import read_model

        budget, filename = budget_for(limits, time_limit, memory_limit), str(path)
        text, dialect = decoded(read_bytes(path, budget), filename), dialect_of(filename, dialect)
        files = data if isinstance(data, Sequence) and not isinstance(data, str) else [data]
        given = read_data(files, constants, budget)
        folders = Folders(path, include)
        read = read_model(
            text, filename=filename, constants=given, dialect=dialect, budget=budget, folders=folders
        )
        return cls.of(read)

    def to_text(self) -> str:
        """The model in the constrint language; the text reads back as a model with the same solutions."""
        from constrint.frontends.text.model_writer import write_model

        return write_model(self)

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

    @classmethod
    def from_sympy(cls, relations: Any, *, name: str = "sympy") -> Self:
        """Read sympy relations as a model; needs sympy (extra: sympy).

        Args:
            relations: One relation or several that all hold: Eq, Le, And, Or, Contains …
            name: Name of the model.

        Returns:
            The model; its variables are the symbols, with the bounds of their assumptions.
        """
        bridge = needed("constrint.frontends.sympy.reader", "constrint[sympy]", "reading sympy relations")
        return cls.of(bridge.read_relations(relations, name))

    def to_sympy(self) -> list[Any]:
        """The variables and constraints as sympy relations; needs sympy (extra: sympy)."""
        writer = needed("constrint.frontends.sympy.writer", "constrint[sympy]", "writing sympy relations")
        return cast("list[Any]", writer.write_relations(self))
