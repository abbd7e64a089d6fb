"""Infeasible models: one minimal conflict, all minimal conflicts, and what to give up."""

from constrint import Model

m = Model()
x, y, z = (m.int_var(name, 0, 10) for name in "xyz")
m.add(x + y >= 15, name="enough")
m.add(x <= 4, name="few x")
m.add(y + z <= 8, name="room")
m.add(z >= 2, name="some z")
print([constraint.name for constraint in m.explain().constraints])
print([sorted(c.name for c in conflict.constraints) for conflict in m.conflicts()])
print([sorted(c.name for c in correction.constraints) for correction in m.corrections()])

# > ['enough', 'few x']
# > [['enough', 'few x']]
# > [['enough'], ['few x']]
