"""Travelling salesman: the successors of all cities form one circuit."""

import numpy as np

from constrint import Model, circuit, element

places = np.random.default_rng(5).integers(0, 100, (12, 2))
distance = np.abs(places[:, None] - places[None, :]).sum(axis=2)

m = Model()
after = m.int_vars("after", 12, 0, 11)
lengths = m.int_vars("length", 12, 0, int(distance.max()))
m.add(circuit(after))
for city, row in enumerate(distance):
    m.add(lengths[city] == element(row, after[city]))
r = m.solve(minimize=lengths.sum())
print(r.objective, r.status)

# > 476 Status.OPTIMAL
