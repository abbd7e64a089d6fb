"""A schedule: intervals, and when they take place."""

from constrint import Model, max_, no_overlap

m = Model("schedule")
sizes = [3, 2, 4]
tasks = [m.interval(f"t{i}", (0, 20), size) for i, size in enumerate(sizes)]
m.add(no_overlap(tasks))
end = max_([task.end for task in tasks])
r = m.solve(minimize=end)
when = r[tasks[0]]
if when is not None:
    start: int = when.start
    finish: str = when.end  # error
print(when.start)  # error
makespan: int | None = r.objective
tasks[0].begin  # error
m.add(no_overlap(tasks), wieght=3)  # error
late: list[int] = r[end]  # error
