"""The result of reading FlatZinc: a model, and the output of its solutions."""

from __future__ import annotations

from dataclasses import dataclass, field

from constrint.expr import IntExpr
from constrint.frontends.flatzinc.items import Document
from constrint.modelling.declarations import Declarations
from constrint.modelling.symbols import SetExpr


@dataclass(frozen=True)
class Output:
    """An item that is printed for each solution.

    Attributes:
        name: The name of the variable or array.
        exprs: Its value, or its values.
        ranges: For an array, the range of each of its indices.
    """

    name: str
    exprs: tuple[IntExpr | SetExpr, ...]
    ranges: tuple[tuple[int, int], ...] | None = None


@dataclass
class FlatModel:
    """A model read from FlatZinc.

    Attributes:
        model: The model, with its goal.
        outputs: The printed items, in order.
        document: The text as data.
        searched: The variables of the search annotations in order, with their selectors.
    """

    model: Declarations
    outputs: list[Output] = field(default_factory=list)
    document: Document = field(default_factory=Document)
    searched: list[tuple[tuple[IntExpr, ...], str, str]] = field(default_factory=list)
