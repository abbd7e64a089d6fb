import cpmpy as cp

guests = ["ann", "bob", "cat", "dan", "eve"]
wishes = [("ann", "bob", 3), ("bob", "cat", 2), ("cat", "ann", 2), ("dan", "eve", 4), ("eve", "ann", 1)]

seat = {guest: cp.intvar(1, 5, name=guest) for guest in guests}
met = {wish: cp.boolvar() for wish in wishes}
m = cp.Model(cp.AllDifferent(list(seat.values())), seat["ann"] == 1)
for (one, other, weight), is_met in met.items():
    m += is_met.implies(abs(seat[one] - seat[other]) == 1)
m.minimize(cp.sum(weight * ~is_met for (_, _, weight), is_met in met.items()))
m.solve()
print(m.objective_value(), sorted(f"{a} beside {b}" for (a, b, _), kept in met.items() if not kept.value()))
