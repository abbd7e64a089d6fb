"""The inference oracle: every step of a search is held against all solutions of a small model.

The solutions are known by brute force. Each is extended to the variables of the normal form, and later to
those of a decomposition, by listing all solutions of the constraints; that list is compared with brute force,
so that lowering, presolve and decompositions neither lose a solution nor admit another. After that, whatever
is inferred must leave every solution that is still wanted: every bound, row, cut, explanation and clause is
checked where it is made, also where the answer happens to be right.

`check_model` runs all of it on one model; the parts are `Solutions` (what is known), `check_presolve`,
`check_decomposition`, and the watchers of searches in `inference_watchers.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import numpy as np
from inference_watchers import (
    watch_branching,
    watch_learning,
    watch_relaxation,
)
from known_solutions import TALLY, Solutions, TooMany, Wrong, solutions_of

import constrint as ci
from constrint.engine.state_arrays import Box
from constrint.learning.circuits import FROM_DEPOT, WHOLE
from constrint.learning.decompose import Decomposition
from constrint.learning.normal import ContradictoryRoot, NormalTranslation, atom_of
from constrint.modelling.objectives import Direction
from constrint.preparing.prepared import Prepared
from constrint.presolve import Root, better_than, is_linear
from constrint.presolve.breaking import without_symmetries
from constrint.presolve.structure import ceilings_of
from constrint.propagators.arcs import are_routes
from constrint.relaxation.dual import with_dual_row

Goal = tuple[int, str]
MOST_SOLUTIONS = 400  # of a model that is worth watching


@dataclass
class Ready:
    """A model after presolve, with its solutions.

    Attributes:
        prepared: The prepared model; its root is there.
        goal: What is optimised, or None.
        known: All solutions over the variables of the root.
        lowered: The root before anything is reasoned about it, with its solutions.
    """

    prepared: Prepared
    goal: Goal | None
    known: Solutions
    lowered: tuple[Root, Solutions]

    @property
    def root(self) -> Root:
        """The root."""
        assert self.prepared.root is not None
        return self.prepared.root


def check_presolve(
    model: ci.Model,
    xs: Sequence[ci.IntExpr],
    rows: np.ndarray[Any, Any],
    target: tuple[ci.IntExpr, Direction] | None,
) -> Ready | None:
    """Check lowering and presolve against brute force; None where there is no solution, or presolve is off.

    Args:
        model: The model.
        xs: Its variables, in the order of the columns.
        rows: All its solutions.
        target: An objective, or None.
    """
    before: list[Root] = []

    def keep(_: Prepared, root: Root) -> None:
        box = root.box
        copied = Box(list(box.lo), list(box.hi), list(box.step), list(box.values))
        before.append(replace(root, box=copied, propagators=list(root.propagators)))

    prepared = Prepared(model, [] if target is None else [target], (), before_presolve=keep)
    if prepared.root is None:
        if len(rows):
            raise Wrong(f"lowering or presolve refutes a model with {len(rows)} solutions")
        return None
    if not before or prepared.root.exact:
        return None
    numbers = [prepared.variables[x] for x in xs]
    lowered = solutions_of(before[0].box, before[0].propagators)
    _same(lowered[:, numbers], rows, "lowering")
    root = prepared.root
    left = solutions_of(root.box, root.propagators)
    _same(left[:, : lowered.shape[1]], lowered, "presolve")
    goal = prepared.goals[0] if prepared.goals else None
    for row in left[:20]:
        if goal is not None:
            prepared.check_target(
                0, {x: int(row[v]) for x, v in prepared.variables.items()}, int(row[goal[0]])
            )
    if not len(left):
        return None
    return Ready(prepared, goal, Solutions(left, goal), (before[0], Solutions(lowered, goal)))


def check_roots(ready: Ready, rng: Random) -> list[tuple[Root, Solutions]]:
    """Check what is derived of a root (symmetries, dual rows, better solutions); the roots to search."""
    root, goal, known = ready.root, ready.goal, ready.known
    broken = without_symmetries(root, goal, ready.prepared.variables.values())
    roots = [(root, known)]
    for one in (broken.ordered, broken.root):
        if one is not root:
            left = solutions_of(one.box, one.propagators)
            _inside(left[:, : known.count], known.rows, "symmetries")
            costs, all_costs = set(known.costs_of(left).tolist()), set(known.costs.tolist())
            only_best = ceilings_of(root.propagators, goal)  # names that are not the least make a goal worse
            if min(costs) != min(all_costs) if only_best and costs else costs != all_costs:
                raise Wrong("symmetries: the last solution of a class is lost")
            roots.append((one, Solutions(left, goal)))
    if goal is not None:
        if is_linear(root, goal[0]):
            for node in with_dual_row(root, *goal).propagators:
                known.all_satisfy(node, "branching's dual row")
        value = int(rng.choice(list(known.rows[:, goal[0]])))
        wanted = known.better_than(value)
        left_root = better_than(root, *goal, value)
        if left_root is None:
            if len(wanted):
                raise Wrong(f"bounds: no solution is better than {value}")
        else:
            known.within(left_root.box, wanted, f"bounds of what is better than {value}")
    return roots


def check_decomposition(root: Root, known: Solutions) -> Solutions:
    """Check the decomposition for the learning search, and its translation; the solutions of the parts."""
    parts = Decomposition(root)
    made = solutions_of(parts.root.box, parts.root.propagators)
    _same(made[:, : known.count], known.rows, "decomposition")
    extended = Solutions(made, known.goal)
    for (v, value), literal in parts.literals.items():
        truth = made[:, literal >> 1] != (literal & 1)
        if (truth != (made[:, v] == value)).any():
            raise Wrong(f"decomposition: literal {literal} is not {v} == {value}")
    for selects in (True, False):
        _check_translation(parts.root, extended, selects)
    return extended


def _check_translation(root: Root, known: Solutions, selects: bool) -> None:
    """Every row, clause, resource, extreme and replacement of a translation holds in every solution."""
    try:
        normal = NormalTranslation(
            root.propagators, root.box, [] if known.goal is None else [known.goal[0]], selects=selects
        ).normal
    except ContradictoryRoot:
        if len(known.rows):
            raise Wrong("translation: a contradiction in a model with solutions") from None
        return
    true = known.true
    for (condition, terms), limit in normal.at_most.items():
        holds = known.sum(terms) <= limit
        known.all_hold(
            holds if condition is None else holds | ~true(condition), f"sum at most {terms} {limit}"
        )
    for condition, terms, limit in normal.different:
        holds = known.sum(terms) != limit
        known.all_hold(holds if condition is None else holds | ~true(condition), f"different {terms} {limit}")
    for clause in [*normal.clauses, *normal.merged]:
        known.all_hold(known.clause(clause), f"translated clause {clause}")
    for pair in normal.implied:
        known.all_hold(known.clause([atom_of(literal) for literal in pair]), f"implied {pair}")
    for v, atom in normal.replaced.items():
        known.all_hold((known.rows[:, v] == 1) == true(atom), f"replaced {v} by {atom}")
    for b, entries in normal.extremes:
        reach = np.zeros(len(known.rows), bool)
        for entry, condition in entries:
            there = known.bounds[:, entry] >= known.bounds[:, b]
            reach |= there if condition is None else there & true(condition)
        known.all_hold(reach, f"extreme {b} of {entries}")
    for arcs, kind in normal.circuits:
        follows = [[known.truth(arc) for arc in row] for row in arcs]
        known.all_hold(_go_round(np.array(follows), kind), f"circuit {arcs} {kind}")
    for tasks, capacity in normal.resources:
        known.all_hold(_fits(known, tasks, capacity), f"resource {tasks} {capacity}")
    for tasks, capacity in normal.open_resources:
        known.all_hold(_fits_open(known, tasks, capacity), f"open-resource {tasks} {capacity}")


def _go_round(follows: np.ndarray[Any, Any], kind: int) -> np.ndarray[Any, Any]:
    """Where arcs, by node, successor and solution, are a circuit, a subcircuit, or routes from node 0."""
    n, count = follows.shape[0], follows.shape[2]
    fits = np.ones(count, bool)
    for s in range(count):
        taken = [(i, j) for i in range(n) for j in range(n) if follows[i, j, s]]
        is_whole = kind != WHOLE or n == 1 or all(i != j for i, j in taken)
        fits[s] = is_whole and are_routes(taken, range(n), 0 if kind == FROM_DEPOT else None)
    return fits


def _fits(known: Solutions, tasks: Sequence[tuple[int, int, int]], capacity: int) -> np.ndarray[Any, Any]:
    fits = np.ones(len(known.rows), bool)
    starts = known.rows[:, [v for v, _, _ in tasks]]
    for at in range(len(tasks)):  # demand is greatest where some task starts
        now = starts[:, [at]]
        runs = (starts <= now) & (now < starts + np.array([d for _, d, _ in tasks]))
        fits &= runs @ np.array([r for _, _, r in tasks]) <= capacity
    return fits


def _fits_open(
    known: Solutions, tasks: Sequence[tuple[int, int, int]], capacity: int
) -> np.ndarray[Any, Any]:
    fits = np.ones(len(known.rows), bool)
    starts, durations, demands = (known.rows[:, list(column)] for column in zip(*tasks, strict=True))
    for at in range(len(tasks)):
        now = starts[:, [at]]
        in_use = (demands * ((starts <= now) & (now < starts + durations))).sum(axis=1)
        fits &= (in_use <= known.rows[:, capacity]) | (durations[:, at] == 0)
    return fits


def check_model(
    model: ci.Model,
    xs: Sequence[ci.IntExpr],
    rows: np.ndarray[Any, Any],
    target: tuple[ci.IntExpr, Direction] | None,
    seed: int = 0,
    step: int = 1,
) -> None:
    """Hold every inference that is made of a model against its solutions; raises `Wrong`.

    Args:
        model: The model.
        xs: Its variables, in the order of the columns.
        rows: All its solutions.
        target: An objective, or None.
        seed: Seed of what is chosen at random.
        step: Steps of a search between two looks.
    """
    rng = Random(seed)
    try:
        ready = check_presolve(model, xs, rows, target)
        if ready is None or len(ready.known.rows) > MOST_SOLUTIONS:
            return
        roots = [ready.lowered, *check_roots(ready, rng)]
    except TooMany:
        TALLY["too-many"] += 1
        return
    for root, known in (roots[0], rng.choice(roots[1:])):
        try:
            extended = check_decomposition(root, known)
        except TooMany:
            TALLY["too-many"] += 1
            continue
        watch_learning(ready.prepared, root, extended, rng, step)
    watch_branching(ready.prepared, *rng.choice(roots), rng)
    watch_relaxation(ready.prepared, ready.root, ready.known, rng)


def _same(found: np.ndarray[Any, Any], wanted: np.ndarray[Any, Any], what: str) -> None:
    """Two lists of rows have the same rows; raises `Wrong`."""
    TALLY[what] += 1
    ours, others = {tuple(row) for row in found.tolist()}, {tuple(row) for row in wanted.tolist()}
    if ours != others:
        lost, new = sorted(others - ours)[:3], sorted(ours - others)[:3]
        raise Wrong(f"{what}: lost {lost}, admitted {new}")


def _inside(found: np.ndarray[Any, Any], wanted: np.ndarray[Any, Any], what: str) -> None:
    """All rows are among others; raises `Wrong`."""
    TALLY[what] += 1
    new = {tuple(row) for row in found.tolist()} - {tuple(row) for row in wanted.tolist()}
    if new:
        raise Wrong(f"{what}: admitted {sorted(new)[:3]}")
