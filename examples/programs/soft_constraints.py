"""Soft constraints: a seating plan that violates wishes of the least total weight."""

from constrint import Model, all_different

guests = ["ann", "bob", "cat", "dan", "eve"]
wishes = [("ann", "bob", 3), ("bob", "cat", 2), ("cat", "ann", 2), ("dan", "eve", 4), ("eve", "ann", 1)]

m = Model()
seat = {guest: m.int_var(guest, 1, 5) for guest in guests}
m.add(all_different(seat.values()), seat["ann"] == 1)
for one, other, weight in wishes:
    m.add(abs(seat[one] - seat[other]) == 1, weight=weight, name=f"{one} beside {other}")
r = m.solve()
print(r.violation, sorted(wish.name for wish in r.violated))

# > 3 ['cat beside ann', 'eve beside ann']
