"""Protocols of the layers above that definitions of arithmetic functions use."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from constrint.expr.base import BoolExpr, IntExpr
from constrint.expr.domain import Domain
from constrint.expr.ranges import Known
from constrint.expr.sums import Linear
from constrint.store.propagator import Propagator

if TYPE_CHECKING:
    from constrint.expr.arithmetic.base import IntFunction

Expr = TypeVar("Expr", bound=IntExpr)


class ProblemProtocol(Protocol):
    """The normal form so far: `constrint.lowering.problem.Problem`."""

    lo: list[int]
    hi: list[int]
    step: list[int]
    huge: int

    def bounds(self, linear: Linear) -> tuple[int, int]:
        """Least and greatest value of a sum."""

    def of_linear(self, linear: Linear) -> int:
        """The variable that equals a sum."""

    def constant(self, value: int) -> int:
        """The variable that is fixed to a value."""

    def sign(self, v: int) -> int:
        """1 for a variable that is never negative, -1 for one that is never positive, else 0."""

    def stride(self, v: int) -> int:
        """The distance between a variable's values; 0 for a fixed one."""

    def keep_between(self, v: int, lo: int, hi: int) -> None:
        """Leave the values from lo to hi."""

    def remove_value(self, v: int, value: int) -> bool:
        """Take out one value at the root; False where only a constraint can."""

    def power(self, x: int, y: int) -> int:
        """The variable that equals x ** y."""

    def choice(self, literal: int, x: int, y: int) -> int:
        """The variable that equals x where the literal is true, else y."""

    def selection(self, xs: tuple[int, ...], index: int) -> int:
        """The variable that equals xs[index]; the index is restricted to the list."""

    def shared(self, key: Hashable) -> int | None:
        """The variable of a function that is there already."""

    def function(
        self,
        key: Hashable,
        values: tuple[int, int] | Domain,
        inputs: Iterable[tuple[int, int]],
        post: Callable[[int], Propagator] | None,
        step: int = 1,
        anchor: int | None = None,
    ) -> int:
        """A new variable for a function of others, shared by its key.

        Args:
            key: The function and its arguments.
            values: What the variable may be, or its bounds.
            inputs: Variables and directions, as in `constrint.lowering.problem.Problem`.
            post: The propagator, given the variable; None where another constraint says what it is.
            step: A stride of the values between bounds.
            anchor: A number that is congruent to all of them modulo the step.
        """


class ConditionsProtocol(Protocol):
    """The literals of a problem."""

    def quotient(self, dividend: Linear, divisor: int) -> int:
        """The variable that equals dividend // divisor, for a divisor of at least 2."""


class LoweringProtocol(Protocol):
    """One run of lowering: `constrint.lowering.conditions.Lowering`."""

    @property
    def problem(self) -> ProblemProtocol: ...

    @property
    def conditions(self) -> ConditionsProtocol: ...

    def kept(self, node: Expr) -> Expr:
        """Keep an expression alive that was built here; returns it."""

    def check(self, value: int) -> int:
        """A constant of the model, if it is not too close to the numbers that represent missing bounds."""

    def sum_of(self, node: IntExpr) -> Linear:
        """The value of an integer expression as a sum over variables."""

    def operands(self, node: IntFunction) -> list[Linear]:
        """The operands of a function, replaced where the function would be undefined for them."""

    def index(self, index: Linear, count: int) -> Linear:
        """A sum that equals an index wherever that is in 0 … count - 1, and is always there itself."""

    def known(self, v: int) -> Linear:
        """The sum that is one variable, or its value where only one is left."""

    def related(self, function: type[IntFunction], operands: Sequence[Linear]) -> Linear:
        """The variable that equals the function of the operands."""

    def literal(self, node: BoolExpr, target: int | None = None) -> int:
        """A literal that is true exactly where a condition holds."""

    def chosen(self, literal: int, then: IntExpr, otherwise: IntExpr) -> Linear:
        """The one expression where a literal is true, else the other, which need not have a value."""


class RangesProtocol(Protocol):
    """Ranges of expressions over a range of places: `constrint.diagrams.ranges.Evaluation`."""

    def wanted(self, value: Known, modulus: int) -> None:
        """Note that the residue of a value would help."""
