"""Whether the variables of expressions belong to a model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from constrint.errors import ModelError
from constrint.expr import BoolVar, Comparison, Const, IntExpr, IntVar, Sum
from constrint.expr.walk import inner_first
from constrint.modelling.objectives import Direction, Goal, Target, Units, as_goals

if TYPE_CHECKING:
    from constrint.modelling.declarations import Declarations


def foreign(variable: object) -> ModelError:
    """The error for a variable that is not of the model in which it is used."""
    name = getattr(variable, "name", variable)
    kind = "bool_var" if isinstance(variable, BoolVar) else "int_var"
    return ModelError(f"'{name}' belongs to another model: declare it in this one with {kind}")


MOST_UNNOTED = 30  # parts that are walked without noting them, which takes about as long as looking them up


class Checked:
    """Expressions whose variables are known to be of a model, so that shared parts are walked once."""

    MOST = 100_000  # parts that are kept at a time: beyond, the memory is worth more than the walks

    def __init__(self) -> None:
        self._known: dict[int, IntExpr] = {}

    def __reduce__(self) -> tuple[type[Checked], tuple[()]]:
        """Copies start empty: entries are keyed by the identity of the original's objects."""
        return Checked, ()

    def forget(self) -> None:
        """Forget all: the model has lost variables."""
        self._known.clear()

    def check(self, own: Mapping[str, IntExpr], exprs: Iterable[IntExpr]) -> None:
        """Raise `ModelError` for a variable that is not among a model's own, by name."""
        known, stack, walked = self._known, list(exprs), 0
        for node in stack:  # it grows
            kind = type(node)
            if kind is IntVar or kind is BoolVar:
                if own.get(node.name) is not node:  # type: ignore[attr-defined] # it is a variable
                    known.clear()  # it has expressions whose other parts are not walked yet
                    raise foreign(node)
            elif kind is not Const:
                walked += 1
                if walked > MOST_UNNOTED:
                    if known.get(id(node)) is node:
                        continue
                    if len(known) >= self.MOST:
                        known.clear()
                    known[id(node)] = node
                stack += node.children


def is_plain(expr: IntExpr, own: Mapping[str, IntExpr]) -> bool:
    """Whether an expression is a comparison of a sum of the model's own variables with a number."""
    if type(expr) is not Comparison:
        return False
    left, right = expr.left, expr.right
    if type(right) is not Const:
        return False
    get = own.get
    for _, term in left.terms if type(left) is Sum else ((1, left),):
        if type(term) is not IntVar and type(term) is not BoolVar:
            return False
        if get(term.name) is not term:
            return False
    return True


def check_variables(model: Declarations, more: Iterable[IntExpr] = ()) -> None:
    """Raise `ModelError` if an expression of a model, or one of more expressions, has another's variables.

    Readers that know variables by their names alone would take a model's own variable in place of another
    model's of the same name.
    """
    own = model.variables
    exprs: list[IntExpr] = [constraint.expr for constraint in model.constraints]
    exprs += [expr for expr, _ in [*model.goals, *model.preferences]]
    for node in inner_first([*exprs, *model.lets.values(), *more]):
        if isinstance(node, IntVar | BoolVar) and own.get(node.name) is not node:
            raise foreign(node)


def own_goals(
    model: Declarations, goals: Iterable[tuple[Target, Direction]], units: Units | None = None
) -> list[Goal]:
    """The goals of `as_goals`; raises `ModelError` for those that have another model's variables."""
    checked = as_goals(goals, units)
    model.owned.check(model.variables, [expr for expr, _ in checked])
    return checked
