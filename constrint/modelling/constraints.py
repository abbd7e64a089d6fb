"""Constraints of a model: checked, kept in order, removed, switched off and on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias, overload

from constrint.errors import ModelError, Position
from constrint.expr import BoolExpr, IntExpr
from constrint.expr.arithmetic.arguments import of_frame
from constrint.expr.arrays import ExprArray
from constrint.support.arguments import WithOtherNames
from constrint.support.record import record

if TYPE_CHECKING:
    from constrint.modelling.declarations import Declarations
    from constrint.modelling.soft import Weight


@record(eq=False)  # == on expressions builds a constraint
class Constraint:
    """A condition of the model.

    Attributes:
        expr: The condition.
        name: Its name, or None.
        assumed: Whether it is an assumption, from `Model.assume` or for one call.
    """

    expr: BoolExpr
    name: str | None = None
    assumed: bool = False

    @property
    def position(self) -> Position | None:
        """The place of the condition in the user's source; None if unknown."""
        return self.expr.position

    def __repr__(self) -> str:
        from constrint.modelling.conflict import labelled

        return labelled(self)


class Handle(WithOtherNames, Sequence[Constraint]):
    """The constraints of one call of `Model.add`, to remove them or switch them off and on.

    It is a sequence of `Constraint`. A copy of the model takes the same handle: ``copy.disable(handle)``.
    """

    __slots__ = ("_constraints", "_model")

    def __init__(self, model: Declarations, constraints: Sequence[Constraint]) -> None:
        self._model = model
        self._constraints = tuple(constraints)

    @overload
    def __getitem__(self, number: int) -> Constraint: ...

    @overload
    def __getitem__(self, number: slice) -> Sequence[Constraint]: ...

    def __getitem__(self, number: int | slice) -> Constraint | Sequence[Constraint]:
        return self._constraints[number]

    def __len__(self) -> int:
        return len(self._constraints)

    @property
    def name(self) -> str | None:
        """The name that was given to the constraints, or None."""
        return self._constraints[0].name if self._constraints else None

    @property
    def enabled(self) -> bool:
        """Whether all of them are in force: neither switched off nor removed."""
        return set(self._constraints).issubset(self._model.constraints)

    def remove(self) -> None:
        """Remove the constraints from the model; see `Model.remove`."""
        self._model.remove(self)

    def disable(self) -> None:
        """Switch the constraints off; see `Model.disable`."""
        self._model.disable(self)

    def enable(self) -> None:
        """Switch the constraints on again; see `Model.enable`."""
        self._model.enable(self)

    def soften(self, weight: Weight = 1) -> None:
        """Make the constraints soft; see `Model.soften`."""
        self._model.soften(self, weight=weight)

    def __repr__(self) -> str:
        return "\n".join(map(repr, self._constraints)) or "no constraints"


Held: TypeAlias = Handle | Constraint | str
"""A reference to constraints of a model: the handle that `add` returned, a constraint, or a name."""


# ------------------------------------------------------------ what is added


def constraints_of(
    conditions: Iterable[object], name: str | None, *, assumed: bool = False
) -> list[Constraint]:
    """Check conditions, and arrays and iterables of them, and wrap each as a constraint.

    True, the outcome of a comparison of plain numbers such as `sum([]) <= 3`, holds and adds nothing, except
    among assumptions, where it is an error.
    """
    if name is not None and not isinstance(name, str):
        raise ModelError(f"the name of a constraint is a string, not {name!r}")
    constraints = []
    for number, condition in enumerate(_flat(conditions), 1):
        if isinstance(condition, BoolExpr):
            constraints.append(Constraint(condition, name, assumed))
        elif assumed or not _is_truth(condition):
            raise ModelError(_no_condition(condition))
        elif not condition:
            raise ModelError(
                f"condition {number} is False, whatever the variables are: Python compared plain numbers, "
                "such as `sum([]) >= 3`, before the model saw them. Compare an expression, or leave it out"
            )
    return constraints


def _flat(conditions: Iterable[object]) -> Iterator[object]:
    for one in conditions:
        if isinstance(one, ExprArray):
            yield from _flat(one.flat)
        elif isinstance(one, Iterable) and not isinstance(one, str | bytes | IntExpr | Mapping):
            yield from _flat(of_frame(one))
        else:
            yield one


def _is_truth(value: object) -> bool:
    return isinstance(value, bool) or type(value).__name__ in ("bool", "bool_")  # numpy's has both names


def _no_condition(value: object) -> str:
    if _is_truth(value):
        return f"{value} is a Python truth value: an assumption is a condition on variables"
    if isinstance(value, IntExpr):
        return "a constraint must be a condition, not a number: compare the expression, such as `… == 0`"
    if isinstance(value, str):
        return (
            f"a constraint must be a condition, not the string {value!r}: a name is given as name={value!r}"
        )
    if value is None:
        return (
            "a constraint must be a condition, not None: a function that builds it may have no `return`, or "
            "it calls `add` itself"
        )
    return f"a constraint must be a condition, not {type(value).__name__}: write a comparison of expressions"


# ------------------------------------------------------------ what is removed, or off


def held(model: Declarations, what: Iterable[Held]) -> list[Constraint]:
    """The constraints, in force or off, that handles and names stand for; raises `ModelError` for others."""
    chosen: dict[Constraint, None] = {}
    present = set(model.constraints).union(model.disabled)
    for one in what:
        if isinstance(one, str):
            named = [constraint for constraint in in_order(model) if constraint.name == one]
            if not named:
                raise ModelError(_no_name(model, one))
        elif isinstance(one, Handle | Constraint):
            named = [one] if isinstance(one, Constraint) else list(one)
            for constraint in named:
                if constraint not in present:
                    raise ModelError(f"the constraint `{constraint!r}` is not (or no longer) in the model")
        else:
            raise ModelError(
                f"{_kind(one)} does not name a constraint: give what `add` returned, or the constraint's name"
            )
        chosen.update(dict.fromkeys(named))
    return list(chosen)


def _kind(value: object) -> str:
    return "a new condition" if isinstance(value, IntExpr) else repr(value)


def _no_name(model: Declarations, name: str) -> str:
    from difflib import get_close_matches  # few calls need it

    names = list(dict.fromkeys([c.name for c in in_order(model) if c.name is not None]))
    close = get_close_matches(name, names, n=3) or names[:10]
    known = f"there are: {', '.join(close)}" if close else "give constraints names by add(…, name=…)"
    return f"no constraint is named '{name}'; {known}"


def in_order(model: Declarations) -> Iterator[Constraint]:
    """All constraints of a model in their order, those that are off included."""
    if not model.disabled:
        return iter(list(model.constraints))
    places = {constraint: place for place, constraint in enumerate(model.order)}
    everything = [*model.constraints, *model.disabled]
    return iter(sorted(everything, key=lambda constraint: places.get(constraint, len(places))))


def remove(model: Declarations, what: Iterable[Held]) -> None:
    """Remove constraints, in force or off."""
    _set(model, in_order(model), without=set(held(model, what)), off=set(model.disabled))


def disable(model: Declarations, what: Iterable[Held]) -> None:
    """Switch constraints off; those that are off stay so."""
    _set(model, in_order(model), off=set(held(model, what)).union(model.disabled))


def enable(model: Declarations, what: Iterable[Held]) -> None:
    """Switch constraints on, each at its place in the order."""
    _set(model, in_order(model), off=set(model.disabled).difference(held(model, what)))


def _set(
    model: Declarations,
    constraints: Iterable[Constraint],
    *,
    off: set[Constraint],
    without: Iterable[Constraint] = (),
) -> None:
    """Set a model's constraints, in place, so that references to its lists stay valid."""
    gone = set(without)
    order = [constraint for constraint in constraints if constraint not in gone]
    model.constraints[:] = [constraint for constraint in order if constraint not in off]
    model.disabled[:] = [constraint for constraint in order if constraint in off]
    model.order[:] = order if model.disabled else []
