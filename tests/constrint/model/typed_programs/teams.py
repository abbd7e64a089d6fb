"""Set variables: their members, sizes and values."""

from constrint import Model

PEOPLE = ["ann", "bob", "cid", "dot"]

m = Model("teams")
a, b = m.set_var("a", PEOPLE, min_size=1), m.set_var("b", PEOPLE, min_size=1)
m.add(a.disjoint(b), a.contains("ann"), (a | b).cardinality == 4)
r = m.solve(maximize=a.cardinality)
team: frozenset[str] = r[a]
numbers: frozenset[int] = r[a]  # error
r[a].add("eve")  # error
for person in r[a | b]:
    print(person.title())
    print(person + 1)  # error
size: str = r[a.cardinality]  # error
a.size()  # error
