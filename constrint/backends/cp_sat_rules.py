"""Translation of the normal form to CP-SAT; a constraint that CP-SAT lacks becomes a table."""

from __future__ import annotations

from itertools import product
from math import gcd, lcm, prod
from typing import TYPE_CHECKING

from constrint import propagators as c
from constrint.backends.cp_sat_globals import RULES as GLOBALS
from constrint.errors import ModelError
from constrint.frontends.cp_sat.rules import LARGEST_NUMBER
from constrint.frontends.cp_sat.rules import RULES as SHARED
from constrint.propagators.handlers import Rules

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import LinearExpr

    from constrint.backends.cp_sat import CpSatTranslation

MOST_ROWS = 200_000
"""The most argument combinations for which a function that CP-SAT lacks becomes a table."""


def _power(t: CpSatTranslation, node: c.Power) -> None:
    exponent = t.members(node.y)
    if len(exponent) == 1 and exponent[0] >= 1:
        t.model.add_multiplication_equality(t.variables[node.z], [t.variables[node.x]] * exponent[0])
        return

    def power(x: int, y: int) -> int | None:
        return int(x**y) if y >= 0 and (abs(x) <= 1 or y <= 60) and abs(x**y) < LARGEST_NUMBER else None

    t.listed([node.x, node.y], node.z, power)


def _divmod(t: CpSatTranslation, node: c.DivMod) -> None:
    """Post x == y q + r with r between 0 and y, with the sign of y."""
    x, y, r = t.all([node.x, node.y, node.r])
    whole = _product_of(t, node.y, node.q)
    t.model.add(whole + r == x)
    t.model.add(y != 0)
    positive = t.model.new_bool_var("")
    for constraint in (y >= 1, r >= 0, r <= y - 1):
        t.model.add(constraint).only_enforce_if(positive)
    for constraint in (y <= -1, r <= 0, r >= y + 1):
        t.model.add(constraint).only_enforce_if(~positive)


def _product_of(t: CpSatTranslation, x: int, y: int) -> LinearExpr:
    box = t.box
    corners = [a * b for a in (box.lo[x], box.hi[x]) for b in (box.lo[y], box.hi[y])]
    if max(map(abs, corners)) >= LARGEST_NUMBER:
        raise ModelError(
            "CP-SAT holds products up to 2^60, which this model exceeds: use the default backend"
        )
    whole = t.model.new_int_var(min(corners), max(corners), "")
    t.model.add_multiplication_equality(whole, t.all([x, y]))
    return whole


def _product(t: CpSatTranslation, node: c.Product) -> None:
    t.model.add(_product_of(t, node.x, node.y) == t.variables[node.z])


def _ceildiv(t: CpSatTranslation, node: c.CeilDiv) -> None:
    whole = _product_of(t, node.y, node.q)
    t.model.add(whole >= t.variables[node.x])
    t.model.add(whole <= t.variables[node.x] + t.variables[node.y] - 1)


def _divides(t: CpSatTranslation, node: c.Divides) -> None:
    """Post literal <-> x % d == 0; a divisor of 0 divides 0 only."""
    box = t.box
    literal, d, x = t.literal(node.literal), t.variables[node.d], t.variables[node.x]
    size = max(abs(box.lo[node.x]), abs(box.hi[node.x]), 1)
    most = max(abs(box.lo[node.d]), abs(box.hi[node.d]), 1)
    if (size + 1) * most >= LARGEST_NUMBER:
        raise ModelError(
            "CP-SAT holds products up to 2^60, which this model exceeds: use the default backend"
        )
    quotient = t.model.new_int_var(-size - 1, size + 1, "")
    whole = t.model.new_int_var(-(size + 1) * most, (size + 1) * most, "")
    t.model.add_multiplication_equality(whole, [d, quotient])
    t.model.add(whole == x).only_enforce_if(literal)
    # If d does not divide x, the remainder is strictly between 0 and abs(d), or d = 0 and x != 0.
    rest = t.model.new_int_var(0, most, "")
    length = t.model.new_int_var(0, most, "")
    t.model.add_abs_equality(length, d)
    is_zero, sign = t.model.new_bool_var(""), t.model.new_bool_var("")
    t.model.add(d == 0).only_enforce_if(is_zero)
    t.model.add(length >= 1).only_enforce_if(~is_zero)
    t.model.add(whole + rest == x).only_enforce_if([literal.negated(), ~is_zero])
    t.model.add(rest >= 1).only_enforce_if([literal.negated(), ~is_zero])
    t.model.add(rest <= length - 1).only_enforce_if([literal.negated(), ~is_zero])
    t.model.add(x >= 1).only_enforce_if([literal.negated(), is_zero, sign])
    t.model.add(x <= -1).only_enforce_if([literal.negated(), is_zero, ~sign])


def listed(t: CpSatTranslation, node: c.Propagator) -> None:
    """Any constraint over a few values, as the table of what its definition allows."""
    scope = list(dict.fromkeys(node.scope()))
    domains = [t.members(v) for v in scope]
    if prod(len(domain) for domain in domains) > MOST_ROWS:
        raise ModelError(f"CP-SAT has no counterpart of {type(node).__name__}: use the default backend")
    values = list(t.box.lo)
    rows = []
    for row in product(*domains):
        for v, value in zip(scope, row, strict=True):
            values[v] = value
        if node.holds(values):
            rows.append(row)
    t.model.add_allowed_assignments(t.all(scope), rows) if rows else t.model.add_bool_or([])


RULES: Rules[CpSatTranslation, object] = Rules(
    "CP-SAT",
    {
        **SHARED,
        c.Product: _product,
        c.Power: _power,
        c.DivMod: _divmod,
        c.CeilDiv: _ceildiv,
        c.Divides: _divides,
        c.Gcd: lambda t, node: t.listed([node.x, node.y], node.z, gcd),
        c.Lcm: lambda t, node: t.listed([node.x, node.y], node.z, lcm),
        **GLOBALS,
    },
    generic=listed,
)
