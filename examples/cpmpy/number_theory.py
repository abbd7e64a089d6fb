import cpmpy as cp

a, b, c, d, n = (cp.intvar(1, 10**5, name=name) for name in "abcdn")
m = cp.Model(a * a + b * b == n, c * c + d * d == n, a < b, c < d, a < c, n % 2025 == 0)
count = m.solveAll()
m.minimize(n)
m.solve()
print(count, n.value())
