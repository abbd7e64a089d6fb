"""Terms: the planner's expressions. Equal terms are one object, sums are flat, and each knows its bounds.

A term carries the set of its variables as a bit mask, the least and greatest value that it can have, and the
numpy type in which it is computed exactly: int32 or int64 where its greatest intermediate is proven to fit,
otherwise Python's integers in an object array. Terms of floats (`/`, values that are floats) follow Python's
float arithmetic and have no bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

from constrint.diagrams.python_conditions import COMPARE
from constrint.diagrams.term import BOOL as BOOL
from constrint.diagrams.term import FLOAT as FLOAT
from constrint.diagrams.term import INT32 as INT32
from constrint.diagrams.term import INT64 as INT64
from constrint.diagrams.term import OBJECT as OBJECT
from constrint.diagrams.term import Array as Array
from constrint.diagrams.term import Column as Column
from constrint.diagrams.term import Number as Number
from constrint.diagrams.term import Term as Term
from constrint.diagrams.term import Type as Type
from constrint.diagrams.term import bits as bits
from constrint.diagrams.term import int_type as int_type
from constrint.diagrams.term import peak_of as peak_of
from constrint.diagrams.term import peak_of_sum as peak_of_sum
from constrint.expr.ranges import Unsupported as Unsupported
from constrint.support.deadline import check_deadline

MOST_FACTORS = 2_000
"""The most factors of a product; definitions that are squared again and again have one for each path."""


class Terms:
    """Makes terms over variables with given values.

    Attributes:
        domains: The values of each variable, ascending; None for a variable that has too many to list.
        limits: Least and greatest value of each variable.
    """

    def __init__(self, domains: Sequence[Array | None], limits: Sequence[tuple[int, int]]) -> None:
        self.domains = domains
        self.limits = limits
        self._known: dict[Hashable, Term] = {}
        self.true = self._const(True)
        self.false = self._const(False)

    def _const(self, value: object) -> Term:
        term = Term("const", (), value, (value, value))
        if isinstance(value, bool):
            return term
        term.dtype = int_type(abs(value)) if isinstance(value, int) else FLOAT
        return term

    def _make(self, op: str, args: tuple[Term, ...], data: Any, finish: Callable[[], Term]) -> Term:
        key = (op, args, data)
        term = self._known.get(key)
        if term is None:
            term = self._known[key] = finish()
        return term

    def _int(self, op: str, args: tuple[Term, ...], data: Any, bounds: tuple[int, int], peak: int) -> Term:
        key = (op, args, data)
        term = self._known.get(key)
        if term is None:
            term = self._known[key] = Term(op, args, data, bounds)
            peak = max(peak, peak_of(*bounds))
            for arg in args:
                peak = max(peak, -arg.lo, arg.hi)
            term.dtype = int_type(peak)
        return term

    def const(self, value: Number) -> Term:
        """A constant."""
        if isinstance(value, bool):
            return self.true if value else self.false
        key = ("const", type(value), value)
        term = self._known.get(key)
        if term is None:
            term = self._known[key] = self._const(value)
        return term

    def var(self, v: int) -> Term:
        """A variable; a constant where only one value is left."""
        key = ("var", v)
        term = self._known.get(key)
        if term is None:
            domain = self.domains[v]
            if domain is not None and len(domain) == 1:
                return self.const(domain[0].item() if hasattr(domain[0], "item") else domain[0])
            term = self._known[key] = Term("var", (), v, self.limits[v])
            term.mask = 1 << v
            if domain is not None and domain.dtype == FLOAT:
                term.dtype = FLOAT
            else:
                term.dtype = int_type(peak_of(*self.limits[v]))
        return term

    # Sums and products

    def sum(self, coefficients: Iterable[int], args: Iterable[Term], constant: int = 0) -> Term:
        """The sum of integer terms, each times its coefficient, and a constant."""
        flat: dict[Term, int] = {}
        for coefficient, arg in zip(coefficients, args, strict=True):
            if arg.op == "const":
                constant += coefficient * arg.data
            elif arg.op == "sum":
                inner, offset = arg.data
                constant += coefficient * offset
                for a, part in zip(inner, arg.args, strict=True):
                    flat[part] = flat.get(part, 0) + coefficient * a
            else:
                flat[arg] = flat.get(arg, 0) + coefficient
        # A term that cancels must still be defined.
        kept = {arg: a for arg, a in flat.items() if a or not arg.safe}
        if not kept:
            return self.const(constant)
        if constant == 0 and len(kept) == 1 and next(iter(kept.values())) == 1:
            only = next(iter(kept))
            if only.dtype is not BOOL:
                return only
        return self._sum(kept, constant)

    def _sum(self, terms: dict[Term, int], constant: int) -> Term:
        lo = hi = constant
        for arg, a in terms.items():
            low, high = (a * arg.lo, a * arg.hi) if a >= 0 else (a * arg.hi, a * arg.lo)
            lo += low
            hi += high
        ordered = sorted(terms.items(), key=lambda item: (item[0].mask, item[0].serial))
        args = tuple(arg for arg, _ in ordered)
        coefficients = tuple(a for _, a in ordered)
        peak = peak_of_sum(coefficients, args, constant)
        return self._int("sum", args, (coefficients, constant), (lo, hi), peak)

    def mul(self, args: Iterable[Term]) -> Term:
        """The product of integer terms."""
        constant = 1
        flat: list[Term] = []
        stack = list(args)[::-1]
        while stack:
            arg = stack.pop()
            if arg.op == "const":
                constant *= arg.data
            elif arg.op == "mul":
                stack.extend(reversed(arg.args))
                if len(stack) + len(flat) > MOST_FACTORS:
                    raise Unsupported(f"a product of more than {MOST_FACTORS} factors")
            elif arg.op == "sum" and len(arg.args) == 1 and arg.data[1] == 0:
                constant *= arg.data[0][0]
                stack.append(arg.args[0])
            else:
                flat.append(arg)
        if len(flat) > 1:
            product = self._mul(tuple(sorted(flat, key=lambda arg: (arg.mask, arg.serial))))
        elif flat:
            product = flat[0]
        else:
            return self.const(constant)
        return product if constant == 1 and product.dtype is not BOOL else self.sum((constant,), (product,))

    def _mul(self, args: tuple[Term, ...]) -> Term:
        lo = hi = peak = 1
        for arg in args:
            corners = (lo * arg.lo, lo * arg.hi, hi * arg.lo, hi * arg.hi)
            lo, hi = min(corners), max(corners)
            peak *= max(1, peak_of(arg.lo, arg.hi))
        return self._int("mul", args, None, (lo, hi), peak)

    # Comparisons

    def compare(self, op: str, left: Term, right: Term) -> Term:
        """``left op right`` with one of == != < <= > >=."""
        check_deadline()
        if not (left.is_int and right.is_int):
            return self._plain(op, left, right)
        if op in ("<", "<="):
            return self._linear("le", self.sum((1, -1), (left, right), 1 if op == "<" else 0))
        if op in (">", ">="):
            return self._linear("le", self.sum((-1, 1), (left, right), 1 if op == ">" else 0))
        return self._linear("eq" if op == "==" else "ne", self.sum((1, -1), (left, right)))

    def _plain(self, op: str, left: Term, right: Term) -> Term:
        if left.op == "const" and right.op == "const":
            return self.const(bool(COMPARE[op](left.data, right.data)))
        return self._make(
            "compare", (left, right), op, lambda: Term("compare", (left, right), op, (False, True))
        )

    def _linear(self, op: str, total: Term) -> Term:
        """``total <= 0``, ``== 0`` or ``!= 0``."""
        if total.op == "const":
            return self.const(_truth(op, total.data, total.data) is True)
        truth = _truth(op, total.lo, total.hi)
        if truth is not None and total.safe:
            return self.const(truth)
        coefficients, constant = total.data if total.op == "sum" else ((1,), 0)
        args = total.args if total.op == "sum" else (total,)
        common = math.gcd(*coefficients)
        if not common:
            return self._decided(args, truth is not False)
        if op == "le":
            bound = -constant // common
        elif constant % common:
            return self._decided(args, op == "ne")
        else:
            bound = -constant // common
            if coefficients[0] < 0:
                common, bound = -common, -bound
        coefficients = tuple(a // common for a in coefficients)
        if len(args) == 1 and op != "le" and coefficients[0] == 1 and args[0].dtype is BOOL:
            return self._bool_equals(args[0], bound, op == "eq")
        return self._bool(op, args, (coefficients, bound))

    def _decided(self, args: tuple[Term, ...], truth: bool) -> Term:
        if all(arg.safe for arg in args):
            return self.const(truth)
        defined = self._bool("defined", args, None)
        return defined if truth else self.junction("and", [self.false, defined])

    def _bool_equals(self, arg: Term, value: int, equal: bool) -> Term:
        if value not in (0, 1):
            return self._decided((arg,), not equal)
        return arg if (value == 1) == equal else self.negation(arg)

    def _bool(self, op: str, args: tuple[Term, ...], data: Any) -> Term:
        key = (op, args, data)
        term = self._known.get(key)
        if term is None:
            term = self._known[key] = Term(op, args, data, (False, True))
        return term

    def divides(self, divisor: Term, dividend: Term) -> Term:
        """The divisor divides the dividend; 0 divides only 0."""
        if divisor.op == "const" and dividend.op == "const":
            d, x = divisor.data, dividend.data
            return self.const(x % d == 0 if d else x == 0)
        return self._bool("divides", (divisor, dividend), None)

    def member(self, arg: Term, values: Sequence[int]) -> Term:
        """The value is one of these."""
        if arg.op == "const":
            return self.const(arg.data in values)
        return self._bool("member", (arg,), tuple(sorted(values)))

    def within(self, arg: Term, lo: int | None, hi: int | None, step: int) -> Term:
        """The value lies in a range with a stride, counted from a bound that exists."""
        parts = []
        if lo is not None:
            parts.append(self.compare(">=", arg, self.const(lo)))
        if hi is not None:
            parts.append(self.compare("<=", arg, self.const(hi)))
        if step > 1:
            anchor = lo if lo is not None else (hi or 0)
            parts.append(self.divides(self.const(step), self.sum((1,), (arg,), -anchor)))
        if not parts:
            return self.defined(arg)
        return self.junction("and", parts)

    def junction(self, op: str, args: Sequence[Term], *, lazy: bool = False) -> Term:
        """All, or at least one; with `lazy` an operand that is not reached need not be defined."""
        neutral = op == "and"
        flat: list[Term] = []
        for arg in args:
            if arg.op == op and bool(arg.data) == lazy:
                flat.extend(arg.args)
            elif arg.op != "const":
                flat.append(arg)
            elif bool(arg.data) != neutral and (lazy or all(other.safe for other in args)):
                if not lazy or not flat:
                    return self.const(not neutral)
                flat.append(arg)
                break
            elif bool(arg.data) != neutral:
                flat.append(arg)
        unique = tuple(dict.fromkeys(flat))
        if len(unique) == 1 and unique[0].dtype is BOOL:
            return unique[0]
        if not unique:
            return self.const(neutral)
        return self._bool(op, unique, lazy)

    def negation(self, arg: Term) -> Term:
        """The condition does not hold."""
        if arg.op == "const":
            return self.const(not arg.data)
        if arg.op == "not":
            return arg.args[0]
        if arg.op in ("eq", "ne"):
            return self._bool("ne" if arg.op == "eq" else "eq", arg.args, arg.data)
        if arg.op == "le":
            coefficients, bound = arg.data
            return self._bool("le", arg.args, (tuple(-a for a in coefficients), -bound - 1))
        return self._bool("not", (arg,), None)

    def iff(self, left: Term, right: Term) -> Term:
        """Both hold, or neither."""
        for one, other in ((left, right), (right, left)):
            if one.op == "const":
                return other if one.data else self.negation(other)
        return self._bool("iff", (left, right), None)

    def truth(self, arg: Term) -> Term:
        """Whether a value is not zero, as Python takes a number for a condition."""
        if arg.dtype is BOOL:
            return arg
        return self.compare("!=", arg, self.const(0))

    def held(self, arg: Term) -> Term:
        """The condition that another one is defined and holds: what is undefined in it counts as false."""
        if arg.safe:
            return arg
        term = self._bool("held", (arg,), None)
        term.safe = True
        return term

    def choice(self, condition: Term, then: Term, otherwise: Term) -> Term:
        """One of two integer terms, of which the one that is not chosen need not be defined."""
        if condition.op == "const":
            return then if condition.data else otherwise
        bounds = min(then.lo, otherwise.lo), max(then.hi, otherwise.hi)
        return self._int("choice", (condition, then, otherwise), True, bounds, 0)

    def defined(self, arg: Term) -> Term:
        """The condition that a term has a value."""
        return self.true if arg.safe else self._bool("defined", (arg,), None)

    def call(self, function: Callable[..., Any], args: Sequence[Term]) -> Term:
        """An opaque condition: a function that is called with one row's values at a time."""
        term = self._bool("call", tuple(args), function)
        term.safe = False
        return term

    def conjuncts(self, condition: Term) -> list[Term]:
        """The parts of a condition that must each hold."""
        if condition.op in ("and", "held"):
            return [part for arg in condition.args for part in self.conjuncts(arg)]
        return [] if condition is self.true else [condition]

    def contains_zero(self, arg: Term) -> bool:
        """Whether a term may be zero, judged by its bounds and values."""
        if not arg.is_int:
            return True
        if not arg.lo <= 0 <= arg.hi:
            return False
        domain = self.domains[arg.data] if arg.op == "var" else None
        return domain is None or bool((domain == 0).any())


def _truth(op: str, lo: int, hi: int) -> bool | None:
    """The truth of a comparison with zero if it is the same for every value between the bounds; else None."""
    if op == "le":
        return True if hi <= 0 else False if lo > 0 else None
    if lo == hi == 0:
        return op == "eq"
    return op == "ne" if lo > 0 or hi < 0 else None
