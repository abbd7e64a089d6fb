"""Soft constraints, handles, hints and conflicts."""

from constrint import Model

m = Model()
x = m.int_var("x", 0, 9)
wish = m.add(x >= 5, name="wish", weight=2)
m.add(x <= 3, name="limit")
m.hint({x: 3})
r = m.solve()
if r.violation is not None:
    weight: float = float(r.violation)
    r.violation.upper()  # error
for broken in r.violated:
    name: str | None = broken.name
    broken.weight  # error
wish.soften(weight="3")  # error
conflict = m.explain()
print(conflict.constraints)  # error
if r:
    print(r.values["x"])
r.value["x"]  # error
m.add(x > 3 and x < 5, weight="heavy")  # error
