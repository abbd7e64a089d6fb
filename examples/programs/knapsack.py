"""Knapsack: the greatest value within a weight and a volume."""

import numpy as np

from constrint import Model

value, weight, volume = np.array([[10, 13, 18, 31, 7, 15], [11, 15, 20, 35, 10, 33], [5, 6, 9, 14, 3, 12]])

m = Model()
take = m.int_vars("take", 6, 0, 2)
m.add(weight @ take <= 100, volume @ take <= 40)
print(m.solve(maximize=value @ take)[take])

# > [0 2 0 2 0 0]
