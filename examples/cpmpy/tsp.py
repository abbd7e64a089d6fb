import cpmpy as cp
import numpy as np

places = np.random.default_rng(5).integers(0, 100, (12, 2))
distance = np.abs(places[:, None] - places[None, :]).sum(axis=2)

after = cp.intvar(0, 11, shape=12, name="after")
lengths = cp.intvar(0, int(distance.max()), shape=12, name="length")
m = cp.Model(cp.Circuit(after))
for city, row in enumerate(distance):
    m += lengths[city] == cp.cpm_array(row)[after[city]]
m.minimize(cp.sum(lengths))
m.solve()
print(m.objective_value(), m.status().exitstatus)
