"""Values of terms for many rows at once, and bounds on them while some variables are open.

A `Frame` holds rows as columns: the terms kept from earlier layers, and the variable that is being bound. A
sum or product with a kept part is continued from that part.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import reduce

import numpy as np

from constrint.diagrams.parts import Parts as Parts
from constrint.diagrams.python_conditions import COMPARE
from constrint.diagrams.terms import BOOL, FLOAT, OBJECT, Array, Column, Term, Type, int_type, peak_of_sum
from constrint.expr import FUNCTIONS
from constrint.support.deadline import check_deadline

Bounds = tuple[Column, Column]


class Frame:
    """Rows under construction.

    Attributes:
        count: Number of rows.
        ok: Rows without an undefined operation so far; None for all.
        bound: Set of the bound variables.
        limits: Bounds of operands that several terms share, kept for one condition; see `intervals`.
    """

    def __init__(
        self, parts: Parts, before: int, bound: int, kept: dict[Term, Array], source: Array | None
    ) -> None:
        self.parts = parts
        self.before = before
        self.bound = bound
        self.ok: Array | None = None
        self.limits: dict[Term, Bounds] = {}
        self._kept = kept
        self._source = source
        self._values: dict[Term, Column] = {}

    def put(self, term: Term, values: Array) -> None:
        """Set a column."""
        self._values[term] = values

    def keep(self, rows: Array) -> None:
        """Drop all other rows."""
        self.limits.clear()
        for term, values in self._values.items():
            if isinstance(values, np.ndarray):
                self._values[term] = values[rows]
        if self._source is not None:
            self._source = self._source[rows]
        if self.ok is not None:
            self.ok = self.ok[rows]

    def value(self, term: Term) -> Column:
        """The values of a term: an array, or a scalar if it is constant."""
        known = self._values.get(term)
        if known is not None:
            return known
        if term.op == "const":
            return term.data
        kept = self._kept.get(term)
        if kept is not None:
            values = kept if self._source is None else kept[self._source]
        else:
            check_deadline()
            values = _VALUES[term.op](self, term)
            if isinstance(values, np.ndarray) and not values.ndim:
                values = values[()]
            if not term.safe:
                return values
        self._values[term] = values
        return values

    def holds(self, condition: Term) -> Column:
        """The rows in which a condition is defined and holds."""
        self.ok = None
        values = np.asarray(self.value(condition))
        if values.dtype != BOOL:
            values = values.astype(BOOL)
        ok, self.ok = self.ok, None
        return values if ok is None else values & ok

    def require(self, defined: Column) -> None:
        """Record the rows in which an operation is defined."""
        self.ok = defined if self.ok is None else self.ok & defined

    def typed(self, term: Term, dtype: Type) -> Column:
        """The values of a term in a type that holds them; scalars become Python numbers."""
        values = self.value(term)
        if isinstance(values, np.ndarray):
            if values.dtype == dtype:
                return values
            if values.dtype == OBJECT and dtype != FLOAT and not term.safe:
                values = np.clip(values, term.lo, term.hi)  # undefined values may be any number
            return values.astype(dtype)
        if isinstance(values, np.generic):
            values = values.item()
        if term.dtype is FLOAT or isinstance(values, float):
            return values
        return int(values) if term.safe else max(min(int(values), int(term.hi)), int(term.lo))

    def continued(self, term: Term) -> tuple[Term | None, int, tuple[int, ...]]:
        """The kept part of a flat term, its factor, and the other operands."""
        if not term.mask & self.before:
            return None, 0, tuple(range(len(term.args)))
        part, factor, rest = self.parts.split(term, self.before)
        if part is None or (part not in self._kept and part not in self._values):
            return None, 0, tuple(range(len(term.args)))
        return part, factor, rest


def _total(frame: Frame, term: Term, dtype: Type) -> Column:
    """The sum of coefficient * operand."""
    coefficients = term.data[0]
    part, factor, rest = frame.continued(term)
    items = [] if part is None else [(factor, part)]
    items += [(coefficients[i], term.args[i]) for i in rest]
    total: Column = None
    for a, arg in items:
        values = frame.typed(arg, dtype)
        if total is None:
            total = values if a == 1 else values * a
        elif a == 1:
            total = total + values
        elif a == -1:
            total = total - values
        else:
            total = total + values * a
    return total


def _sum(frame: Frame, term: Term) -> Column:
    total = _total(frame, term, term.dtype)
    constant = term.data[1]
    return total + constant if constant else total


def _linear_type(term: Term) -> Type:
    coefficients, bound = term.data
    return int_type(peak_of_sum(coefficients, term.args, bound))


_RELATIONS: dict[str, Callable[[Column, Column], Column]] = {
    "le": operator.le,
    "eq": operator.eq,
    "ne": operator.ne,
    **COMPARE,
}


def _linear(frame: Frame, term: Term) -> Column:
    return _RELATIONS[term.op](_total(frame, term, _linear_type(term)), term.data[1])


def _mul(frame: Frame, term: Term) -> Column:
    part, _, rest = frame.continued(term)
    items = [] if part is None else [part]
    items += [term.args[i] for i in rest]
    return reduce(operator.mul, [frame.typed(arg, term.dtype) for arg in items])


def _function(frame: Frame, term: Term) -> Column:
    """An arithmetic function, of operands that have a value of it; other rows are noted as undefined."""
    function = FUNCTIONS[term.op]
    operands = [frame.typed(arg, term.dtype) for arg in term.args]
    for i, way in function.requires.items():
        operands[i] = (
            _divisor(frame, term, operands[i]) if way == "!=" else _natural(frame, term, i, operands[i])
        )
    if not any(isinstance(operand, np.ndarray) for operand in operands):
        operands = [np.asarray(operand, dtype=term.dtype) for operand in operands]
    return function.column(operands, [(arg.lo, arg.hi) for arg in term.args])


def _divisor(frame: Frame, term: Term, divisor: Column) -> Column:
    """The divisor, with 0 replaced by 1 and those rows recorded as undefined."""
    if term.safe or (term.args[1].safe and not frame.parts.terms.contains_zero(term.args[1])):
        return divisor
    zero = divisor == 0
    if isinstance(divisor, np.ndarray):
        frame.require(~zero)
        return np.where(zero, divisor.dtype.type(1) if divisor.dtype != OBJECT else 1, divisor)
    if zero:
        frame.require(np.False_)
    return divisor or 1


def _natural(frame: Frame, term: Term, i: int, operand: Column) -> Column:
    """An operand, with 0 where it is negative, and those rows noted as undefined."""
    if term.args[i].lo >= 0 and term.args[i].safe:
        return operand
    negative = operand < 0
    frame.require(~negative if isinstance(negative, np.ndarray) else np.bool_(not negative))
    return np.maximum(np.asarray(operand, dtype=term.dtype), 0)


def _float(frame: Frame, term: Term) -> Column:
    left, right = frame.typed(term.args[0], FLOAT), frame.typed(term.args[1], FLOAT)
    if term.data == "/":
        return left / _divisor(frame, term, right)
    return {"+": operator.add, "-": operator.sub, "*": operator.mul}[term.data](left, right)


def _element(frame: Frame, term: Term) -> Column:
    index = np.asarray(frame.value(term.args[0]))
    arg = term.args[0]
    # Undefined arguments may be any number.
    if not (arg.safe and arg.lo >= 0 and arg.hi < len(term.data)):
        inside = (index >= 0) & (index < len(term.data))
        frame.require(inside)
        index = np.where(inside, index, 0)
    return np.array(term.data, dtype=term.dtype)[index.astype(np.int64)]


def _compare(frame: Frame, term: Term) -> Column:
    left, right = (_exact(frame.value(arg), arg) for arg in term.args)
    return _RELATIONS[term.data](left, right)


def _exact(values: Column, term: Term) -> Column:
    if term.is_int and max(-term.lo, term.hi) >= 1 << 53:
        return np.asarray(values).astype(OBJECT)  # numpy would round to compare with floats; Python does not
    return values


def _divides(frame: Frame, term: Term) -> Column:
    divisor, dividend = term.args
    peak = max(-divisor.lo, divisor.hi, -dividend.lo, dividend.hi)
    dtype = np.dtype(np.int32) if peak < 1 << 31 else np.dtype(np.int64) if peak < 1 << 62 else OBJECT
    d, x = frame.typed(divisor, dtype), frame.typed(dividend, dtype)
    if divisor.safe and not frame.parts.terms.contains_zero(divisor):
        return (x % d if dtype == OBJECT else np.fmod(x, d)) == 0
    zero = d == 0
    if isinstance(d, np.ndarray):
        return np.where(zero, x == 0, x % np.where(zero, dtype.type(1) if dtype != OBJECT else 1, d) == 0)
    return np.asarray(x == 0) if zero else np.asarray(x % d == 0)


def _member(frame: Frame, term: Term) -> Column:
    arg = term.args[0]
    values = np.asarray(frame.typed(arg, arg.dtype), dtype=arg.dtype)
    if values.dtype == OBJECT or any(abs(value) >= 1 << 62 for value in term.data):
        members = frozenset(term.data)
        found = np.array([value in members for value in values.ravel().tolist()], dtype=BOOL)
        return found.reshape(values.shape)
    return np.isin(values, np.array(term.data, dtype=np.int64 if values.dtype != FLOAT else FLOAT))


def _junction(frame: Frame, term: Term) -> Column:
    if term.is_lazy:
        return _lazy_junction(frame, term)
    part, _, rest = frame.continued(term)
    items = [] if part is None else [part]
    items += [term.args[i] for i in rest]
    values = [_as_bool(frame.value(arg)) for arg in items]
    return np.asarray(reduce(operator.and_ if term.op == "and" else operator.or_, values))


def _as_bool(values: Column) -> Column:
    if isinstance(values, np.ndarray):
        return values if values.dtype == BOOL else values.astype(BOOL)
    return np.bool_(values)


def _lazy_junction(frame: Frame, term: Term) -> Column:
    """Python's `and` and `or`: operands that are not reached need not be defined."""
    outside, frame.ok = frame.ok, None
    total: Column = None
    ok: Column = np.True_
    for arg in term.args:
        values = _as_bool(frame.value(arg))
        defined = np.True_ if frame.ok is None else frame.ok
        frame.ok = None
        if total is None:
            total, ok = values, defined
        elif term.op == "or":
            ok = ok & (total | defined)
            total = total | values
        else:
            ok = ok & (~total | defined)
            total = total & values
    frame.ok = outside
    frame.require(ok)
    return total


def _held(frame: Frame, term: Term) -> Column:
    """The rows in which the operand is defined and holds."""
    outside, frame.ok = frame.ok, None
    values = _as_bool(frame.value(term.args[0]))
    defined, frame.ok = frame.ok, outside
    return values if defined is None else values & defined


def _choice(frame: Frame, term: Term) -> Column:
    """The chosen operand, which must be defined where it is chosen."""
    condition = _as_bool(frame.value(term.args[0]))
    outside, frame.ok = frame.ok, None
    sides, defined = [], []
    for arg in term.args[1:]:
        sides.append(np.asarray(frame.typed(arg, term.dtype), dtype=term.dtype))
        defined.append(np.True_ if frame.ok is None else frame.ok)
        frame.ok = None
    frame.ok = outside
    frame.require(np.where(condition, *defined))
    return np.where(condition, *sides)


def _call(frame: Frame, term: Term) -> Column:
    columns = [frame.value(arg) for arg in term.args]
    values, ok = term.data(columns)
    if ok is not None:
        frame.require(ok)
    return values


def _defined(frame: Frame, term: Term) -> Column:
    shape: Column = ()
    for arg in term.args:
        shape = np.shape(frame.value(arg)) or shape
    return np.ones(shape, dtype=BOOL)


_VALUES: dict[str, Callable[[Frame, Term], Column]] = {
    **dict.fromkeys(FUNCTIONS, _function),
    "sum": _sum,
    "mul": _mul,
    "element": _element,
    "float": _float,
    "le": _linear,
    "eq": _linear,
    "ne": _linear,
    "compare": _compare,
    "divides": _divides,
    "member": _member,
    "and": _junction,
    "or": _junction,
    "not": lambda frame, term: ~_as_bool(frame.value(term.args[0])),
    "iff": lambda frame, term: _as_bool(frame.value(term.args[0])) == _as_bool(frame.value(term.args[1])),
    "held": _held,
    "choice": _choice,
    "call": _call,
    "defined": _defined,
}
