"""Drawn scheduling models with intervals: built here and for CP-SAT, and what they mean by definition."""

# mypy: disable-error-code="arg-type"
from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ortools.sat.python import cp_model
from ortools.sat.python.cp_model_helper import IntervalVar, IntVar

import constrint as ci

Plan = tuple[tuple[int, int, int] | None, ...]  # start, size, end of each task; None where it is absent


@dataclass
class Task:
    starts: range
    sizes: range
    ends: range | None
    optional: bool
    breaks: list[tuple[int, int]] = field(default_factory=list)

    def plans(self) -> Iterator[tuple[int, int, int] | None]:
        """All that it may do."""
        if self.optional:
            yield None
        for start, size in itertools.product(self.starts, self.sizes):
            end = self.end(start, size)
            if end is not None and (self.ends is None or end in self.ends):
                yield start, size, end

    def end(self, start: int, size: int) -> int | None:
        """When the work is done, hour by hour; None where it cannot start."""
        resting = {hour for begin, stop in self.breaks for hour in range(begin, stop)}
        if size and start in resting:
            return None
        hour = start
        while size:
            size -= hour not in resting
            hour += 1
        return hour


@dataclass
class Rule:
    kind: str
    tasks: list[int]
    numbers: list[list[int]] = field(default_factory=list)
    capacity: int = 0


@dataclass
class Schedule:
    tasks: list[Task]
    rules: list[Rule]

    def plans(self) -> set[Plan]:
        """The plans that the definitions of the rules allow."""
        every = itertools.product(*[list(task.plans()) for task in self.tasks])
        return {plan for plan in every if all(HOLDS[rule.kind](rule, plan) for rule in self.rules)}


def _present(rule: Rule, plan: Plan) -> list[tuple[int, tuple[int, int, int]]]:
    return [(i, plan[i]) for i in rule.tasks if plan[i] is not None]  # type: ignore[misc]


def _no_overlap(rule: Rule, plan: Plan) -> bool:
    """A task of size 0 is not strictly inside another, as in CP-SAT."""
    pairs = itertools.combinations(_present(rule, plan), 2)
    return all(a[2] <= b[0] or b[2] <= a[0] for (_, a), (_, b) in pairs)


def _transition(rule: Rule, plan: Plan) -> bool:
    place = {task: k for k, task in enumerate(rule.tasks)}
    return all(
        a[2] + rule.numbers[place[i]][place[j]] <= b[0] or b[2] + rule.numbers[place[j]][place[i]] <= a[0]
        for (i, a), (j, b) in itertools.combinations(_present(rule, plan), 2)
    )


def _cumulative(rule: Rule, plan: Plan) -> bool:
    demands = dict(zip(rule.tasks, rule.numbers[0], strict=True))
    tasks = _present(rule, plan)
    hours = {hour for _, (start, _, end) in tasks for hour in range(start, end)}
    return all(sum(demands[i] for i, (s, _, e) in tasks if s <= h < e) <= rule.capacity for h in hours)


def _alternative(rule: Rule, plan: Plan) -> bool:
    main, *others = (plan[i] for i in rule.tasks)
    chosen = [other for other in others if other is not None]
    if main is None:
        return not chosen
    return len(chosen) == rule.capacity and all((c[0], c[2]) == (main[0], main[2]) for c in chosen)


def _span(rule: Rule, plan: Plan) -> bool:
    main, *others = (plan[i] for i in rule.tasks)
    chosen = [other for other in others if other is not None]
    if main is None or not chosen:
        return main is None and not chosen
    return main[0] == min(c[0] for c in chosen) and main[2] == max(c[2] for c in chosen)


def _precedence(rule: Rule, plan: Plan) -> bool:
    a, b = (plan[i] for i in rule.tasks)
    if a is None or b is None:
        return True
    way, at, delay = rule.numbers[0][0], rule.numbers[0][1], rule.capacity
    first, second = (a[2], a[0])[way & 1], (b[0], b[2])[way >> 1]
    return first + delay == second if at else first + delay <= second


def _forbidden(rule: Rule, plan: Plan) -> bool:
    task = plan[rule.tasks[0]]
    if task is None:
        return True
    start, size, end = task
    periods = [(begin, stop) for begin, stop in zip(rule.numbers[0], rule.numbers[1], strict=True)]
    if rule.capacity == 0:
        return not any(begin <= start < stop for begin, stop in periods)
    if rule.capacity == 1:
        return not any(begin < end <= stop for begin, stop in periods)
    return size == 0 or not any(start < stop and begin < end for begin, stop in periods)


HOLDS = {
    "no_overlap": _no_overlap,
    "transition": _transition,
    "cumulative": _cumulative,
    "alternative": _alternative,
    "span": _span,
    "precedence": _precedence,
    "forbidden": _forbidden,
}

WAYS = {  # by the end of the first, the end of the second, and whether exactly
    (0, 0): "end_before_start",
    (1, 0): "start_before_start",
    (2, 0): "end_before_end",
    (3, 0): "start_before_end",
    (0, 1): "end_at_start",
    (1, 1): "start_at_start",
    (2, 1): "end_at_end",
    (3, 1): "start_at_end",
}


def draw_schedule(seed: int, *, breaks: bool = True, most: int = 4) -> Schedule:
    """A schedule of a few tasks with few plans each."""
    rng = random.Random(f"schedule {seed}")
    tasks = []
    for _ in range(rng.randint(2, most)):
        first = rng.randint(-1, 2)
        least = rng.choice([0, 0, 1, 1, 2])
        starts = range(first, first + rng.randint(2, 5))
        sizes = range(least, least + rng.choice([1, 1, 1, 2, 3]))
        ends = range(rng.randint(0, 3), rng.randint(5, 9)) if rng.random() < 0.3 else None
        stops = [(b, b + rng.randint(1, 2)) for b in (rng.randint(0, 2), rng.randint(4, 5))]
        stretched = stops if breaks and rng.random() < 0.25 else []
        tasks.append(Task(starts, sizes, ends, rng.random() < 0.5, stretched))
    rules = [_draw_rule(rng, tasks) for _ in range(rng.randint(1, 3))]
    return Schedule(tasks, rules)


def _draw_rule(rng: random.Random, tasks: list[Task]) -> Rule:
    kind = rng.choice(["no_overlap", "no_overlap", "cumulative", "cumulative", *HOLDS])
    least = 1 if kind in ("cumulative", "forbidden") else 2
    chosen = rng.sample(range(len(tasks)), rng.randint(least, len(tasks)))
    if kind == "transition":
        # Distances on a line, longer in one direction, obey the triangle inequality.
        place = [rng.randint(0, 2) for _ in chosen]
        return Rule(kind, chosen, [[max(q - p, 2 * (p - q)) for q in place] for p in place])
    if kind == "cumulative":
        return Rule(kind, chosen, [[rng.randint(0, 3) for _ in chosen]], rng.randint(1, 3))
    if kind == "alternative":
        return Rule(kind, chosen, capacity=rng.choice([1, 1, 1, 2]))
    if kind == "precedence":
        return Rule(
            kind, chosen[:2], [[rng.choice([0, 0, 1, 2, 3]), int(rng.random() < 0.2)]], rng.randint(-1, 2)
        )
    if kind == "forbidden":
        begins = [rng.randint(0, 2), rng.randint(3, 5)]
        return Rule(kind, chosen[:1], [begins, [b + rng.randint(1, 2) for b in begins]], rng.randrange(3))
    return Rule(kind, chosen)


def build(schedule: Schedule, seed: int = 0) -> tuple[ci.Model, list[ci.Interval]]:
    """The model here; the seed draws how its intervals are declared."""
    rng = random.Random(seed)
    model = ci.Model()
    made = []
    for k, task in enumerate(schedule.tasks):
        start: object = (task.starts[0], task.starts[-1])
        size: object = task.sizes[0] if len(task.sizes) == 1 else (task.sizes[0], task.sizes[-1])
        presence = model.bool_var(f"p{k}") if task.optional and rng.random() < 0.3 else None
        made.append(
            model.interval(
                f"t{k}",
                start,
                size,
                task.ends,
                optional=task.optional and presence is None,
                presence=presence,
                breaks=task.breaks,
            )
        )
    for rule in schedule.rules:
        model.add(condition(rule, made))
    return model, made


def condition(rule: Rule, made: list[ci.Interval]) -> ci.BoolExpr:
    """A rule over intervals."""
    tasks = [made[i] for i in rule.tasks]
    if rule.kind == "no_overlap":
        return ci.no_overlap(tasks)
    if rule.kind == "transition":
        return ci.no_overlap(tasks, transition=rule.numbers)
    if rule.kind == "cumulative":
        return ci.cumulative(tasks, rule.numbers[0], rule.capacity)
    if rule.kind == "alternative":
        return ci.alternative(tasks[0], tasks[1:], rule.capacity)
    if rule.kind == "span":
        return ci.span(tasks[0], tasks[1:])
    if rule.kind == "precedence":
        way, at = rule.numbers[0]
        return getattr(tasks[0], WAYS[way, at])(tasks[1], rule.capacity)  # type: ignore[no-any-return]
    periods = list(zip(rule.numbers[0], rule.numbers[1], strict=True))
    return (ci.forbid_start, ci.forbid_end, ci.forbid_extent)[rule.capacity](tasks[0], periods)


# CP-SAT


class _Plans(cp_model.CpSolverSolutionCallback):
    def __init__(self, variables: Any) -> None:
        super().__init__()
        self.variables = variables
        self.found: set[Plan] = set()

    def on_solution_callback(self) -> None:
        self.found.add(
            tuple(
                (self.value(s), self.value(d), self.value(e)) if self.value(p) else None
                for s, d, e, p in self.variables
            )
        )


def cp_sat_plans(schedule: Schedule) -> set[Plan]:
    """The plans that CP-SAT finds with its own intervals, for tasks without breaks."""
    model = cp_model.CpModel()
    variables, intervals = [], []
    for task in schedule.tasks:
        start = model.new_int_var(task.starts[0], task.starts[-1], "")
        size = model.new_int_var(task.sizes[0], task.sizes[-1], "")
        end = model.new_int_var(-20, 40, "")
        present = model.new_bool_var("") if task.optional else model.new_constant(1)
        if len(task.sizes) == 1:
            intervals.append(model.new_optional_fixed_size_interval_var(start, task.sizes[0], present, ""))
            model.add(end == start + task.sizes[0])
        else:
            intervals.append(model.new_optional_interval_var(start, size, end, present, ""))
            model.add(end == start + size)
        if task.ends is not None:
            model.add_linear_constraint(end, task.ends[0], task.ends[-1]).only_enforce_if(present)
        variables.append((start, size, end, present))
    for rule in schedule.rules:
        _post(model, rule, variables, intervals)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.enumerate_all_solutions = True
    plans = _Plans(variables)
    assert solver.solve(model, plans) in (cp_model.OPTIMAL, cp_model.INFEASIBLE)
    return plans.found


def _post(model: cp_model.CpModel, rule: Rule, variables: Any, intervals: list[IntervalVar]) -> None:
    tasks = [variables[i] for i in rule.tasks]
    if rule.kind == "no_overlap":
        model.add_no_overlap([intervals[i] for i in rule.tasks])
    elif rule.kind == "cumulative":
        model.add_cumulative([intervals[i] for i in rule.tasks], rule.numbers[0], rule.capacity)
    elif rule.kind == "transition":
        _circuit(model, rule, tasks)
    elif rule.kind == "alternative":
        model.add(sum(p for *_, p in tasks[1:]) == rule.capacity * tasks[0][3])
        for s, _, e, p in tasks[1:]:
            model.add(s == tasks[0][0]).only_enforce_if(p)
            model.add(e == tasks[0][2]).only_enforce_if(p)
    elif rule.kind == "span":
        _span_there(model, tasks)
    elif rule.kind == "precedence":
        way, at = rule.numbers[0]
        (s, _, e, p), (t, _, f, q) = tasks
        total = (e, s)[way & 1] + rule.capacity - (t, f)[way >> 1]
        model.add(total == 0 if at else total <= 0).only_enforce_if([p, q])
    else:
        _forbid_there(model, rule, tasks[0])


def _circuit(model: cp_model.CpModel, rule: Rule, tasks: list[tuple[IntVar, ...]]) -> None:
    """Sequence-dependent set-up times as users of CP-SAT write them: a circuit of optional nodes."""
    arcs = [(0, 0, nobody := model.new_bool_var(""))]
    model.add_bool_and([~p for *_, p in tasks]).only_enforce_if(nobody)
    for i, (_, _, e, p) in enumerate(tasks):
        arcs += [(0, i + 1, model.new_bool_var("")), (i + 1, 0, model.new_bool_var(""))]
        arcs.append((i + 1, i + 1, ~p))
        for j, (s, *_) in enumerate(tasks):
            if i != j:
                follows = model.new_bool_var("")
                arcs.append((i + 1, j + 1, follows))
                model.add(e + rule.numbers[i][j] <= s).only_enforce_if(follows)
    model.add_circuit(arcs)


def _span_there(model: cp_model.CpModel, tasks: list[tuple[IntVar, ...]]) -> None:
    (*_, present), *parts = tasks
    model.add_max_equality(present, [p for *_, p in parts])
    for limits, way in ((0, 1), (2, -1)):
        touching = []
        for part in parts:
            model.add(way * tasks[0][limits] <= way * part[limits]).only_enforce_if(part[3])
            touches = model.new_bool_var("")
            model.add(tasks[0][limits] == part[limits]).only_enforce_if(touches)
            model.add_implication(touches, part[3])
            touching.append(touches)
        model.add_bool_or([~present, *touching])


def _forbid_there(model: cp_model.CpModel, rule: Rule, task: tuple[IntVar, ...]) -> None:
    start, size, end, present = task
    for begin, stop in zip(rule.numbers[0], rule.numbers[1], strict=True):
        before, after, empty = (model.new_bool_var("") for _ in range(3))
        if rule.capacity == 0:
            model.add(start < begin).only_enforce_if(before)
            model.add(start >= stop).only_enforce_if(after)
        elif rule.capacity == 1:
            model.add(end <= begin).only_enforce_if(before)
            model.add(end > stop).only_enforce_if(after)
        else:
            model.add(end <= begin).only_enforce_if(before)
            model.add(start >= stop).only_enforce_if(after)
        model.add(size == 0).only_enforce_if(empty)
        ways = [before, after, empty] if rule.capacity == 2 else [before, after]
        model.add_bool_or([~present, *ways])
