"""Fractional objectives: coefficients that are floats, and an exact Fraction."""

from fractions import Fraction

from constrint import Model

m = Model("costs")
x, y = m.int_var("x", 0, 9), m.int_var("y", 0, 9)
cost = 0.5 * x + Fraction(1, 3) * y
m.add(cost >= 2.25)
r = m.solve(minimize=cost)
assert r.objective is not None
half = float(r.objective) / 2
name: str = r.objective  # error
r.objective.strip()  # error
spent: str = r[cost]  # error
m.solve(minimize="cost")  # error
m.solve(minimise=cost)  # error
cost.denominator.append(1)  # error
