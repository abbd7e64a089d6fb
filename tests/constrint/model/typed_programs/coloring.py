"""A colouring of a map: enumeration variables and their labels."""

from constrint import Model

COLORS = ["red", "green", "blue"]

m = Model("map")
color = {name: m.enum_var(name, COLORS) for name in ("wa", "nt", "sa")}
m.add(color["wa"] != color["nt"], color["nt"] != color["sa"], color["wa"] != color["sa"])
m.add(color["wa"] == "red")
m.maximise(color["wa"])  # error
cost = color["nt"].map({"red": 1, "green": 2, "blue": 3})
r = m.solve(minimize=cost)
shown: str = r[color["wa"]].upper()
number: int = r[color["wa"]]  # error
print(r[color["nt"]] + 1)  # error
paid: int | None = r.objective
wrong: str | None = r.objective  # error
