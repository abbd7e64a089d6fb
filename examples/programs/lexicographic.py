"""Several goals: as many orders as possible, then the least overtime, then the earliest end."""

from constrint import Model

m = Model()
orders, overtime, days = m.int_var("orders", 0, 50), m.int_var("overtime", 0, 20), m.int_var("days", 1, 10)
m.add(orders <= 4 * days + overtime // 2, 3 * overtime + 5 * days <= 60, orders <= 45)
r = m.solve(maximize=orders, minimize=[overtime, days])
print(r.objective)

# > (41, 2, 10)
