"""Constants, variables, sums and products; `arithmetic` has the other functions of integers."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

from constrint.expr.base import Assignment, IntExpr
from constrint.expr.domain import Domain
from constrint.expr.evaluation import WIDE_VALUE, bounded, with_parts
from constrint.support.arguments import OTHER_NAMES
from constrint.support.record import record, refuse


@record(eq=False)
class Const(IntExpr):
    """An integer."""

    value: int

    @property
    def children(self) -> tuple[IntExpr, ...]:
        return ()

    def meaning(self, assignment: Assignment) -> int:
        return self.value

    evaluate = meaning


@record(eq=False)
class IntVar(IntExpr):
    """An integer variable; made by `Model.int_var`.

    Attributes:
        name: Its name.
        domain: The values that it was declared with.
    """

    name: str
    domain: Domain
    _offered = ("domain", "name")

    @property
    def children(self) -> tuple[IntExpr, ...]:
        return ()

    def meaning(self, assignment: Assignment) -> int:
        return assignment[self]

    evaluate = meaning


_EXTENDING = Lock()  # two threads may extend the same sum


class Sum(IntExpr):
    """``constant + sum(coefficient * expression)``; terms with coefficient 0 stay: they must be defined.

    A sum made by extending another one (`extended`) builds the tuple of its terms on first access. Until then
    its terms are the first ones of a list that it shares with the other sum.
    """

    __slots__ = ("_count", "_list", "constant", "terms")
    __match_args__ = ("terms", "constant")
    terms: tuple[tuple[int, IntExpr], ...]
    constant: int
    _count: int
    _list: list[tuple[int, IntExpr]]  # of extended sums only

    def __init__(self, terms: tuple[tuple[int, IntExpr], ...], constant: int) -> None:
        _set_terms(self, terms)
        _set_constant(self, constant)
        _set_count(self, len(terms))

    @property
    def count(self) -> int:
        """Number of terms."""
        return self._count

    def extended(self, terms: list[tuple[int, IntExpr]], constant: int) -> Sum:
        """The sum with more terms and another constant; extending the result again copies nothing."""
        with _EXTENDING:
            shared = getattr(self, "_list", None)
            if shared is None or len(shared) != self._count:
                shared = list(self.terms)
            shared += terms
        longer = object.__new__(Sum)
        object.__setattr__(longer, "constant", constant)
        object.__setattr__(longer, "_count", self._count + len(terms))
        object.__setattr__(longer, "_list", shared)
        return longer

    def __getattr__(self, name: str) -> tuple[tuple[int, IntExpr], ...]:
        """The terms, built on first access."""
        if name == "_list":  # asked of each sum that is extended for the first time
            raise AttributeError(name)
        shared = self._list if name == "terms" and hasattr(self, "_list") else None
        if shared is None and name in OTHER_NAMES.split():
            from constrint.support.other_names import unknown_in_expression

            raise AttributeError(unknown_in_expression("Sum", name))
        if shared is None:
            raise AttributeError(f"a sum has no attribute {name!r}")
        terms = tuple(shared[: self._count])
        object.__setattr__(self, "terms", terms)
        return terms

    __setattr__ = refuse
    __delattr__ = refuse

    def __reduce__(self) -> tuple[object, ...]:
        where = self.__getstate__()
        return (Sum, (self.terms, self.constant), where) if where else (Sum, (self.terms, self.constant))

    @property
    def children(self) -> tuple[IntExpr, ...]:
        return tuple([term for _, term in self.terms])

    def meaning(self, assignment: Assignment) -> int:
        total = self.constant
        for coefficient, term in self.terms:
            # Most terms are variables: that needs no call.
            value = assignment[term] if type(term) is IntVar else term.meaning(assignment)
            total += coefficient * value
        return total


_set_terms, _set_constant, _set_count = [
    Sum.__dict__[name].__set__ for name in ("terms", "constant", "_count")
]


@record(eq=False)
class Mul(IntExpr):
    """The product of two or more expressions."""

    args: tuple[IntExpr, ...]

    @property
    def children(self) -> tuple[IntExpr, ...]:
        return self.args

    def meaning(self, assignment: Assignment) -> int:
        total = 1
        for arg in self.args:
            total *= arg.meaning(assignment)
            if not -WIDE_VALUE < total < WIDE_VALUE:
                bounded(total)
        return total


with_parts(Sum, Mul)


if not TYPE_CHECKING:

    def __getattr__(name: str) -> type:
        """The classes of functions, which older pickles of models seek here."""
        from constrint import expr

        cls = None if name.startswith("_") else getattr(expr, name, None)
        if cls is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return cls
