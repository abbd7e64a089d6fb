import cpmpy as cp

x, y = cp.intvar(0, 20, name="x"), cp.intvar(0, 20, name="y")
base = [3 * x + 5 * y <= 60]
m = cp.Model(*base, maximize=x + y)
m.solve()
print(m.objective_value())
m = cp.Model(*base, x % 2 == 1, y >= 4, maximize=x + y)
m.solve()
print(m.objective_value())
m = cp.Model(*base, x == y, maximize=x + y)
m.solve()
print(m.objective_value())
m = cp.Model(*base, maximize=x + y)
m.solve()
print(m.objective_value())
