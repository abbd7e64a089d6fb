"""The default search with and without annealing, on drawn models of many kinds at several sizes.

    python benchmarks/solver/annealing.py [--limit 6] [--seeds 2] [--first 0] [--only "cars,rosters"]

Both ways take turns in one process, the first one by chance. A row has objective and seconds without and with
it, an asterisk where that is proved, and an A where annealing found it. With `--small`, the models of
`optimisation.py` are solved three times in each way, and the least processor times are compared.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from math import exp, log
from pathlib import Path
from random import Random
from time import perf_counter, process_time
from typing import Any, TypeAlias

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from ablation_switches import replaced
from optimisation import INSTANCES

from constrint import Model, all_different, cumulative, element, global_cardinality, max_, no_overlap, sum_

OFF = {"constrint.search.admission:MemberMaker.annealing": lambda _: "it is switched off"}


def quadratic_assignment(random: Random, n: int) -> Model:
    """Plants at places, with flows and distances."""
    m = Model()
    at = m.int_vars("at", n, 0, n - 1)
    m.add(all_different(at))
    places = [(random.randrange(20), random.randrange(20)) for _ in range(n)]
    far = [abs(a - c) + abs(b - d) for a, b in places for c, d in places]
    flows = {(i, j): random.randint(1, 9) for i in range(n) for j in range(i) if random.random() < 0.4}
    m.minimize(sum_(flow * element(far, n * at[i] + at[j]) for (i, j), flow in flows.items()))
    return m


def cars(random: Random, n: int) -> Model:
    """Cars in a row; options whose windows have too many of them."""
    m = Model()
    kinds = 8
    options = [(1, 2), (2, 3), (1, 3), (2, 5), (1, 5)]
    uses = [[int(random.random() < 0.8 * p / q) for p, q in options] for _ in range(kinds)]
    number = Counter(random.randrange(kinds) for _ in range(n))
    kind = m.int_vars("kind", n, 0, kinds - 1)
    m.add(global_cardinality(kind, {k: number[k] for k in range(kinds)}))
    over = []
    for o, (p, q) in enumerate(options):
        has = [element([use[o] for use in uses], x) for x in kind]
        over += [max_(0, sum_(has[i : i + q]) - p) for i in range(n - q + 1)]
    m.minimize(sum_(over))
    return m


def rosters(random: Random, people: int) -> Model:
    """Shifts of people over three weeks, with needs a day and wishes."""
    m, days = Model(), 21
    shift = [m.int_vars(f"p{p}", days, 0, 3) for p in range(people)]
    costs: list[Any] = []
    for d in range(days):
        for s in (1, 2, 3):
            need = random.randint(people // 6, people // 4)
            costs.append(20 * max_(0, need - sum_(row[d] == s for row in shift)))
    for row in shift:
        m.add([row[d] + 3 * (row[d] == 3) + (row[d + 1] == 1) <= 6 for d in range(days - 1)])
        m.add([sum_(row[d] != 0 for d in range(d0, d0 + 7)) <= 5 for d0 in range(days - 6)])
        costs += [random.randint(1, 9) * (x == random.randrange(4)) for x in row]
    m.minimize(sum_(costs))
    return m


def generalised_assignment(random: Random, jobs: int) -> Model:
    """Jobs to agents of limited capacity."""
    m, agents = Model(), max(3, jobs // 6)
    at = m.int_vars("at", jobs, 0, agents - 1)
    load = [[random.randint(5, 25) for _ in range(jobs)] for _ in range(agents)]
    for a in range(agents):
        m.add(sum_(load[a][j] * (at[j] == a) for j in range(jobs)) <= int(0.8 * sum(load[a]) / agents))
    m.minimize(
        sum_(
            element([111 - load[a][j] + random.randint(-9, 9) for a in range(agents)], at[j])
            for j in range(jobs)
        )
    )
    return m


def packing(random: Random, n: int) -> Model:
    """Sizes in bins, the greatest of whose loads is to be small."""
    m, bins = Model(), max(3, n // 4)
    at = m.int_vars("at", n, 0, bins - 1)
    size = [random.randint(10, 60) for _ in range(n)]
    m.minimize(max_([sum_(s * (x == b) for s, x in zip(size, at, strict=True)) for b in range(bins)]))
    return m


def tours(random: Random, n: int) -> Model:
    """A tour by the town at each place of it."""
    m = Model()
    town = m.int_vars("town", n, 0, n - 1)
    m.add(all_different(town))
    at = [(random.randrange(100), random.randrange(100)) for _ in range(n)]
    far = [round(((a - c) ** 2 + (b - d) ** 2) ** 0.5) for a, b in at for c, d in at]
    m.minimize(sum_(element(far, n * town[i - 1] + town[i]) for i in range(n)))
    return m


def orders(random: Random, n: int) -> Model:
    """Jobs on one machine by place, with weighted tardiness."""
    m = Model()
    job = m.int_vars("job", n, 0, n - 1)
    m.add(all_different(job))
    time = [random.randint(1, 30) for _ in range(n)]
    weight = [random.randint(1, 9) for _ in range(n)]
    due = [random.randint(0, sum(time)) for _ in range(n)]
    spent: Any = 0
    late = []
    for x in job:
        spent = spent + element(time, x)
        late.append(element(weight, x) * max_(0, spent - element(due, x)))
    m.minimize(sum_(late))
    return m


def partition(random: Random, n: int) -> Model:
    """Vertices in four parts of one size, with few edges between them."""
    m = Model()
    part = m.int_vars("part", n, 0, 3)
    m.add(global_cardinality(part, dict.fromkeys(range(4), n // 4)))
    edges = {tuple(sorted(random.sample(range(n), 2))) for _ in range(3 * n)}
    m.minimize(sum_(random.randint(1, 9) * (part[i] != part[j]) for i, j in edges))
    return m


def covers(random: Random, n: int) -> Model:
    """A set cover of weighted sets."""
    m = Model()
    x = m.bool_vars("x", 2 * n)
    for _ in range(n):
        m.add(sum_(random.sample(list(x), 5)) >= 1)
    m.minimize(sum_(random.randint(10, 30) * v for v in x))
    return m


def teams(random: Random, n: int) -> Model:
    """People at tables of six with liking between pairs."""
    m, tables = Model(), n // 6
    at = m.int_vars("at", n, 0, tables - 1)
    m.add([sum_(x == t for x in at) <= 6 for t in range(tables)])
    pairs = [(i, j) for i in range(n) for j in range(i) if random.random() < 0.3]
    m.maximize(sum_(random.randint(-5, 9) * (at[i] == at[j]) for i, j in pairs))
    return m


def timetable(random: Random, n: int) -> Model:
    """Lessons in slots: conflicts forbidden, wishes and adjacent slots weighed."""
    m, slots = Model(), 20
    at = m.int_vars("at", n, 0, slots - 1)
    pairs = {tuple(sorted(random.sample(range(n), 2))) for _ in range(3 * n)}
    m.add([at[i] != at[j] for i, j in pairs])
    near = {tuple(sorted(random.sample(range(n), 2))) for _ in range(2 * n)}
    costs = [random.randint(1, 5) * abs(at[i] - at[j]) for i, j in near]
    costs += [element([random.randint(0, 9) for _ in range(slots)], x) for x in at]
    m.minimize(sum_(costs))
    return m


def job_shops(random: Random, n: int) -> Model:
    """A job shop of five machines."""
    m, machines = Model(), 5
    ends, on = [], dict[int, list[Any]]()
    most = 0
    for j in range(n):
        before: Any = 0
        for k in random.sample(range(machines), machines):
            time = random.randint(1, 30)
            most += time
            begin = m.int_var(f"s{j},{k}", 0, 30 * n * 2 + 300)
            m.add(begin >= before)
            on.setdefault(k, []).append((begin, time))
            before = begin + time
        ends.append(before)
    for tasks in on.values():
        m.add(no_overlap([s for s, _ in tasks], [t for _, t in tasks]))
    m.minimize(max_(ends))
    return m


def projects(random: Random, n: int) -> Model:
    """Tasks on one resource after others."""
    m = Model()
    begin = m.int_vars("s", n, 0, 8 * n)
    time = [random.randint(1, 9) for _ in range(n)]
    for i in range(1, n):
        for j in random.sample(range(i), min(i, 2)):
            m.add(begin[i] >= begin[j] + time[j])
    m.add(cumulative(list(begin), time, [random.randint(1, 5) for _ in range(n)], 8))
    m.minimize(max_([s + t for s, t in zip(begin, time, strict=True)]))
    return m


KINDS: dict[str, tuple[Callable[[Random, int], Model], tuple[int, ...]]] = {
    "quadratic assignment": (quadratic_assignment, (8, 15, 30)),
    "cars": (cars, (20, 60, 150)),
    "rosters": (rosters, (8, 15, 30)),
    "generalised assignment": (generalised_assignment, (20, 40, 80)),
    "packing": (packing, (12, 30, 80)),
    "tours": (tours, (10, 25, 60)),
    "orders": (orders, (10, 25, 60)),
    "partition": (partition, (16, 40, 120)),
    "covers": (covers, (40, 120, 300)),
    "teams": (teams, (12, 30, 60)),
    "timetable": (timetable, (20, 60, 150)),
    "job shops": (job_shops, (6, 15, 30)),
    "projects": (projects, (15, 40, 80)),
}


Found: TypeAlias = tuple[int | None, float, bool, bool]
"""The objective, the seconds, whether it is proved, and whether annealing found it."""


def run(kind: str, n: int, seed: int, limit: float, off: bool) -> Found:
    """Solve a model."""
    m = KINDS[kind][0](Random(f"{kind} {n} {seed}"), n)
    begun = perf_counter()
    with replaced(OFF if off else {}):
        result = m.solve(time_limit=limit)
    seconds = perf_counter() - begun
    finder = result.statistics.finder
    return result.objective, seconds, result.status.value == "optimal", finder == "annealing"


def gap(one: Found, other: Found, sign: int) -> int:
    """Positive if the first found a better objective than the second, negative if a worse one."""
    if one[0] is None or other[0] is None:
        return (one[0] is not None) - (other[0] is not None)
    return sign * (other[0] - one[0])


def told(found: Found) -> str:
    """A result in a row."""
    value, seconds, proved, by_annealing = found
    return f"{value} in {seconds:.2f}{'*' if proved else ''}{' A' if by_annealing else ''}"


def small(limit: float) -> None:
    """Compare the processor times of small models."""
    ratios = []
    for name, make in INSTANCES.items():
        times = dict[bool, list[float]]({False: [], True: []})
        for i in range(6):
            m, goal = make()
            begun = process_time()
            with replaced(OFF if i % 2 else {}):
                result = m.solve(**goal, time_limit=limit)
            times[bool(i % 2)].append(process_time() - begun)
            if result.status.value not in ("optimal", "feasible") or times[bool(i % 2)][-1] > 0.9 * limit:
                break
        else:
            new, old = min(times[False]), min(times[True])
            ratios.append(log(new / old))
            print(f"{name}: {old:.3f} -> {new:.3f}", flush=True)
    print(f"== in {exp(sum(ratios) / len(ratios)):.3f} of the time, {len(ratios)} models")


def main() -> None:
    """Run, and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=float, default=6.0)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--only", default="")
    parser.add_argument("--small", action="store_true")
    given = parser.parse_args()
    if given.small:
        small(given.limit)
        return
    run("cars", 60, 0, given.limit, off=False)  # imports and machine code
    names = [name.strip() for name in given.only.split(",") if name.strip()] or list(KINDS)
    order = Random(1)
    for kind in names:
        results, sign = list[tuple[Found, Found]](), -1 if kind == "teams" else 1
        for n in KINDS[kind][1]:
            for seed in range(given.first, given.first + given.seeds):
                found = {off: run(kind, n, seed, given.limit, off) for off in order.sample([False, True], 2)}
                results.append((found[True], found[False]))
                print(f"{kind} {n} {seed}: {told(found[True])}; {told(found[False])}", flush=True)
        gaps = [gap(new, old, sign) for old, new in results]
        times = [log(new[1] / old[1]) for old, new in results if old[2] and new[2]]
        print(
            f"== {kind}: better {sum(g > 0 for g in gaps)}, worse {sum(g < 0 for g in gaps)} of {len(gaps)}"
        )
        print(f"   proved {sum(old[2] for old, _ in results)} -> {sum(new[2] for _, new in results)}", end="")
        print(f", in {exp(sum(times) / len(times)):.2f} of the time" if times else "", flush=True)


if __name__ == "__main__":
    main()
