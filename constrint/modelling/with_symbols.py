"""The calls that declare enumeration and set variables, for models."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from constrint.expr.array_shapes import LabelledShape
    from constrint.expr.arrays import ExprArray
    from constrint.expr.enumerated import Value
    from constrint.modelling.declarations import Declarations
    from constrint.modelling.symbols import EnumVar, SetVar, Symbol


class WithSymbols:
    """The part of a model that declares variables whose values are the user's own."""

    symbols: dict[str, Symbol]

    def enum_var(self, name: str, values: Iterable[Value]) -> EnumVar[Value]:
        """Declare an enumeration variable: its values are the user's, such as strings.

        It stands on an integer variable, `index`, which numbers the values from 0.

        Args:
            name: Name; it must be new in this model.
            values: The values in order, each once.

        Raises:
            ModelError: The name is taken, or the values are none, repeated or not hashable.
        """
        from constrint.modelling.declaring_symbols import declare_enum

        return declare_enum(cast("Declarations", self), name, values)

    def enum_vars(
        self, name: str, shape: LabelledShape, values: Iterable[Value]
    ) -> ExprArray[EnumVar[Value]]:
        """Declare an array of enumeration variables, name[0], name[1] … or name[ann] …; see `enum_var`.

        Args:
            name: Name of the array.
            shape: As for `int_vars`.
            values: The values in order, each once; those of each element.
        """
        from constrint.modelling.declaring_symbols import declare_enums

        return declare_enums(cast("Declarations", self), name, shape, values)

    def set_var(
        self,
        name: str,
        members: Iterable[Value],
        *,
        min_size: int = 0,
        max_size: int | None = None,
    ) -> SetVar[Value]:
        """Declare a set variable.

        It stands on a Boolean variable "name[member]" for each possible member.

        Args:
            name: Name; it must be new in this model.
            members: The possible members, each once: integers, strings and the like.
            min_size: Least number of members.
            max_size: Greatest number of members; None for no bound.

        Raises:
            ModelError: A name is taken, or the members are repeated or not hashable.
        """
        from constrint.modelling.declaring_symbols import declare_set

        return declare_set(cast("Declarations", self), name, members, min_size, max_size)
