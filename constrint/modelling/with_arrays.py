"""The calls that declare arrays of variables, for models."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import TYPE_CHECKING, SupportsIndex, TypeAlias, cast, overload

from constrint.modelling.bounds import array_axes, domain_of
from constrint.modelling.threads import of_known_keywords

if TYPE_CHECKING:
    from constrint.expr import BoolVar, IntVar
    from constrint.expr.array_operators import One, Three, Two
    from constrint.expr.array_shapes import LabelledShape
    from constrint.expr.arrays import ExprArray
    from constrint.modelling.declarations import Declarations

Along: TypeAlias = SupportsIndex | range | list[str] | type[Enum]
"""An axis: a length, or a range that counts from 0, or labels."""


class WithArrays:
    """The part of a model that declares arrays of variables."""

    @overload
    def int_vars(
        self,
        name: str,
        shape: Along | tuple[SupportsIndex],
        lo: int | None = None,
        hi: int | None = None,
        *,
        step: int = 1,
        values: Iterable[int] | None = None,
    ) -> ExprArray[IntVar, One]: ...
    @overload
    def int_vars(
        self,
        name: str,
        shape: tuple[Along, Along],
        lo: int | None = None,
        hi: int | None = None,
        *,
        step: int = 1,
        values: Iterable[int] | None = None,
    ) -> ExprArray[IntVar, Two]: ...
    @overload
    def int_vars(
        self,
        name: str,
        shape: tuple[Along, Along, Along],
        lo: int | None = None,
        hi: int | None = None,
        *,
        step: int = 1,
        values: Iterable[int] | None = None,
    ) -> ExprArray[IntVar, Three]: ...
    @overload
    def int_vars(
        self,
        name: str,
        shape: LabelledShape,
        lo: int | None = None,
        hi: int | None = None,
        *,
        step: int = 1,
        values: Iterable[int] | None = None,
    ) -> ExprArray[IntVar]: ...
    @of_known_keywords
    def int_vars(
        self,
        name: str,
        shape: LabelledShape | tuple[Along, ...],
        lo: int | None = None,
        hi: int | None = None,
        *,
        step: int = 1,
        values: Iterable[int] | None = None,
    ) -> ExprArray[IntVar]:
        """Declare an array of integer variables, name[0], name[1] … or name[ann], name[bob] …; see `int_var`.

        Args:
            name: Name of the array.
            shape: A length, or labels: a list such as ["ann", "bob"], or an `Enum`; a tuple of such for
                several axes. Labels are indices beside the numbers from 0: `w["ann"]`.
            lo: Least value of each, or None for no bound.
            hi: Greatest value, or None for no bound.
            step: Distance between values, as for `int_var`.
            values: The exact set of values, instead of bounds and step.
        """
        axes = array_axes(name, shape, lo, hi)
        domain = domain_of(name, lo, hi, step, values)
        declare = cast("Declarations", self).variable
        found: ExprArray[IntVar] = axes.array([declare(one, domain) for one in axes.names(name)])
        return found

    @overload
    def bool_vars(self, name: str, shape: Along | tuple[SupportsIndex]) -> ExprArray[BoolVar, One]: ...
    @overload
    def bool_vars(self, name: str, shape: tuple[Along, Along]) -> ExprArray[BoolVar, Two]: ...
    @overload
    def bool_vars(self, name: str, shape: tuple[Along, Along, Along]) -> ExprArray[BoolVar, Three]: ...
    @overload
    def bool_vars(self, name: str, shape: LabelledShape) -> ExprArray[BoolVar]: ...
    @of_known_keywords
    def bool_vars(self, name: str, shape: LabelledShape | tuple[Along, ...]) -> ExprArray[BoolVar]:
        """Declare an array of Boolean variables; see `bool_var`, and `int_vars` for the shape."""
        axes = array_axes(name, shape)
        declare = cast("Declarations", self).bool_var
        found: ExprArray[BoolVar] = axes.array([declare(one) for one in axes.names(name)])
        return found
