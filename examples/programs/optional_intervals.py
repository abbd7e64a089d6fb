"""Optional intervals: two workers share tasks, and all is to be done as early as possible."""

from constrint import Model, alternative, max_, no_overlap

minutes = {"wash": (4, 7), "peel": (5, 3), "boil": (8, 9), "bake": (9, 6), "serve": (3, 2)}

m = Model()
tasks = {name: m.interval(name, (0, 40), end=(0, 40)) for name in minutes}
ways = {
    name: [m.interval(f"{name}.{worker}", (0, 40), d, optional=True) for worker, d in enumerate(sizes)]
    for name, sizes in minutes.items()
}
m.add(alternative(tasks[name], ways[name]) for name in minutes)
m.add(no_overlap(way[worker] for way in ways.values()) for worker in range(2))
m.add(tasks["peel"].end_before_start(tasks["boil"]), tasks["bake"].end_before_start(tasks["serve"]))
r = m.solve(minimize=max_([task.end for task in tasks.values()]))
print(r.objective)

# > 12
