"""Counting the solutions of one linear equation or inequality by dynamic programming over partial sums.

Every variable is counted in steps from the end at which its term is least, so all terms are multiples of
positive weights. The number of ways to reach each sum grows variable by variable: a running sum with the
stride of the weight, minus the ways with too many steps.
"""

from __future__ import annotations

from math import gcd, prod

import numpy as np

from constrint.diagrams.terms import INT64, Array, Term, Terms

MOST_SUMS = 5_000_000  # most distinct partial sums


def count_sum(terms: Terms, conditions: list[Term], variables: list[int]) -> int | None:
    """The number of solutions of a component that is a single sum of its variables; None if it is not."""
    if len(conditions) != 1 or conditions[0].op not in ("eq", "le"):
        return None
    condition = conditions[0]
    coefficients, rest = condition.data
    steps: list[tuple[int, int]] = []  # weight of a step, and number of values
    for a, arg in zip(coefficients, condition.args, strict=True):
        progression = _progression(terms, arg)
        if progression is None:
            return None
        low, step, values = progression
        rest -= a * (low if a > 0 else low + step * (values - 1))
        steps.append((abs(a) * step, values))
    if len(steps) != len(variables) or prod(values for _, values in steps) >= 1 << 62:
        return None
    if rest < 0:
        return 0
    common = gcd(*[weight for weight, _ in steps])
    if condition.op == "eq" and rest % common:
        return 0
    steps = [(weight // common, values) for weight, values in steps]
    target = rest // common
    if condition.op == "le":
        target = min(target, sum(weight * (values - 1) for weight, values in steps))
    if target > MOST_SUMS:
        return None
    ways = np.zeros(target + 1, dtype=np.int64)
    ways[0] = 1
    for weight, values in sorted(steps, reverse=True):
        ways = _with(ways, weight, values)
    return int(ways.sum() if condition.op == "le" else ways[target])


def _progression(terms: Terms, arg: Term) -> tuple[int, int, int] | None:
    """Least value, distance and number of a variable's evenly spaced values; None if they are not."""
    domain = terms.domains[arg.data] if arg.op == "var" else None
    if domain is None or domain.dtype != INT64:
        return None
    low, values = int(domain[0]), len(domain)
    step = int(domain[1]) - low if values > 1 else 1
    if int(domain[-1]) - low != step * (values - 1) or not (np.diff(domain) == step).all():
        return None
    return low, step, values


def _with(ways: Array, weight: int, values: int) -> Array:
    """The ways to reach each sum after adding 0 … values - 1 steps of a weight."""
    count = len(ways)
    rows = -(-count // weight)
    table = np.zeros(rows * weight, dtype=np.int64)
    table[:count] = ways
    running = np.cumsum(table.reshape(rows, weight), axis=0)
    if values < rows:
        running[values:] -= running[:-values].copy()
    return running.reshape(-1)[:count]
