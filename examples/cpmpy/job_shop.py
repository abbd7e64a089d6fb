import cpmpy as cp

jobs = [[(0, 3), (1, 2), (2, 2)], [(0, 2), (2, 1), (1, 4)], [(1, 4), (2, 3)]]

start = [[cp.intvar(0, 21, name=f"{j}.{k}") for k in range(len(job))] for j, job in enumerate(jobs)]
end = cp.intvar(0, 21)
m = cp.Model(minimize=end)
for job, row in zip(jobs, start):
    m += [a + d <= b for (_, d), a, b in zip(job, row, row[1:])]
    m += row[-1] + job[-1][1] <= end
for machine in range(3):
    steps = [(s, d) for job, row in zip(jobs, start) for (at, d), s in zip(job, row) if at == machine]
    m += cp.NoOverlap([s for s, _ in steps], [d for _, d in steps], [s + d for s, d in steps])
m.solve()
print(m.objective_value(), m.status().exitstatus)
