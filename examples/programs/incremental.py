"""Incremental solving: constraints that are added, removed, or hold for one call."""

from constrint import Model

m = Model()
x, y = m.int_var("x", 0, 20), m.int_var("y", 0, 20)
m.add(3 * x + 5 * y <= 60)
print(m.solve(maximize=x + y).objective)
even = m.add(x % 2 == 1, y >= 4)
print(m.solve(maximize=x + y).objective)
m.remove(even)
with m.scope():
    m.add(x == y)
    print(m.solve(maximize=x + y).objective)
print(m.solve(maximize=x + y).objective)

# > 20
# > 17
# > 14
# > 20
