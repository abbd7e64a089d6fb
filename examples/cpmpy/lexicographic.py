import cpmpy as cp

orders, overtime, days = cp.intvar(0, 50), cp.intvar(0, 20), cp.intvar(1, 10)
m = cp.Model(orders <= 4 * days + overtime // 2, 3 * overtime + 5 * days <= 60, orders <= 45)
m.maximize(orders)
m.solve()
m += orders == m.objective_value()
m.minimize(overtime)
m.solve()
m += overtime == m.objective_value()
m.minimize(days)
m.solve()
print((orders.value(), overtime.value(), days.value()))
