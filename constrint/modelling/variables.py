"""`Variables`: what a model declares by name: variables, arrays of them, and named expressions."""

from __future__ import annotations

from collections.abc import Iterable

from constrint.errors import ModelError
from constrint.expr import BoolVar, IntExpr, IntLike, IntVar, as_expr
from constrint.expr.array_shapes import Shape, names_of, shape_of
from constrint.expr.arrays import ExprArray
from constrint.expr.domain import BINARY, Domain
from constrint.modelling.symbols import Symbol
from constrint.support.arguments import integer, integer_list


class Variables:
    """Base class of `Declarations` that declares names; see there for the attributes."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.variables: dict[str, IntVar | BoolVar] = {}
        self.lets: dict[str, IntExpr] = {}
        self.symbols: dict[str, Symbol] = {}

    def int_var(
        self,
        name: str,
        lo: int | None = None,
        hi: int | None = None,
        *,
        step: int = 1,
        values: Iterable[int] | None = None,
    ) -> IntVar:
        """Declare an integer variable by bounds and a stride, or by a set of values.

        Args:
            name: Name; it must be new in this model.
            lo: Least value, or None for no bound.
            hi: Greatest value, or None for no bound.
            step: Distance between values, counted from `lo`, or from `hi` if there is no `lo`.
            values: The exact set of values, instead of bounds and step.

        Returns:
            The variable, an expression.

        Raises:
            ModelError: The name is taken or invalid, or the arguments contradict each other.
        """
        return self.variable(name, _domain(name, lo, hi, step, values))

    def variable(self, name: str, domain: Domain) -> IntVar:
        """Declare an integer variable with a domain; see `int_var`."""
        variable = IntVar(name, domain)
        self._declare(name)
        self.variables[name] = variable
        return variable

    def int_vars(
        self,
        name: str,
        shape: Shape,
        lo: int | None = None,
        hi: int | None = None,
        *,
        step: int = 1,
        values: Iterable[int] | None = None,
    ) -> ExprArray:
        """Declare an array of integer variables, name[0], name[1] … (or name[0,0] …); see `int_var`."""
        lengths = shape_of(shape)
        domain = _domain(name, lo, hi, step, values)
        return ExprArray([self.variable(one, domain) for one in names_of(name, lengths)], lengths)

    def bool_vars(self, name: str, shape: Shape) -> ExprArray:
        """Declare an array of Boolean variables; see `bool_var`."""
        lengths = shape_of(shape)
        return ExprArray([self.bool_var(one) for one in names_of(name, lengths)], lengths)

    def bool_var(self, name: str) -> BoolVar:
        """Declare a Boolean variable: a condition that counts as 0 or 1 in integer expressions."""
        self._declare(name)
        variable = BoolVar(name, BINARY)
        self.variables[name] = variable
        return variable

    def let(self, name: str, expr: IntLike) -> IntExpr:
        """Name an expression: results show its value under this name. It is not a variable."""
        self._declare(name)
        self.lets[name] = as_expr(expr)
        return self.lets[name]

    def _declare(self, name: str) -> None:
        if not isinstance(name, str) or not name:
            raise ModelError(f"a name must be a string that is not empty, not {name!r}")
        if not name.isascii():
            try:
                name.encode("utf-8")
            except UnicodeEncodeError:
                raise ModelError(
                    f"{name!r} is not a name: half of a surrogate pair is not a character"
                ) from None
        if name in self.variables or name in self.lets or name in self.symbols:
            raise ModelError(f"'{name}' is declared twice: give each variable and let its own name")


def _domain(name: str, lo: int | None, hi: int | None, step: int, values: Iterable[int] | None) -> Domain:
    """The domain for the arguments of `int_var`."""
    if values is not None:
        if lo is not None or hi is not None or step != 1:
            raise ModelError(f"'{name}': give either values or bounds and step, not both")
        return Domain.of_values(integer_list(values, f"'{name}': the values"))
    if type(step) is not int:
        step = integer(step, f"'{name}': step")
    if step < 1:
        raise ModelError(f"'{name}': step must be at least 1, not {step}")
    if lo is not None and type(lo) is not int:
        lo = integer(lo, f"'{name}': lo")
    if hi is not None and type(hi) is not int:
        hi = integer(hi, f"'{name}': hi")
    return Domain.of_range(lo, hi, step)
