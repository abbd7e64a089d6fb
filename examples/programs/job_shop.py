"""Job shop: each job visits its machines in order, and a machine does one step at a time."""

from constrint import Model, max_, no_overlap

jobs = [[(0, 3), (1, 2), (2, 2)], [(0, 2), (2, 1), (1, 4)], [(1, 4), (2, 3)]]

m = Model()
steps = [[m.interval(f"{j}.{k}", (0, 21), d) for k, (_, d) in enumerate(job)] for j, job in enumerate(jobs)]
m.add(a.end_before_start(b) for row in steps for a, b in zip(row, row[1:]))
for machine in range(3):
    m.add(no_overlap(s for job, row in zip(jobs, steps) for (at, _), s in zip(job, row) if at == machine))
r = m.solve(minimize=max_([row[-1].end for row in steps]))
print(r.objective, r.status)

# > 11 Status.OPTIMAL
