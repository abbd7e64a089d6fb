import cpmpy as cp
import numpy as np

value, weight, volume = np.array([[10, 13, 18, 31, 7, 15], [11, 15, 20, 35, 10, 33], [5, 6, 9, 14, 3, 12]])

take = cp.intvar(0, 2, shape=6, name="take")
m = cp.Model(cp.sum(weight * take) <= 100, cp.sum(volume * take) <= 40, maximize=cp.sum(value * take))
m.solve()
print(take.value())
