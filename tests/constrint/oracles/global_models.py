"""Random models of every global constraint."""

# mypy: disable-error-code="arg-type,misc"
from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import constrint as ci
from constrint import IntExpr
from constrint.expr import IntLike, placed
from constrint.expr.global_expr import node_of
from constrint.globals import GLOBALS, Definition, Field

Exprs = Sequence[ci.IntExpr]
Draw = Callable[[random.Random, Exprs], ci.IntExpr]


def some(rng: random.Random, xs: Exprs, least: int = 1, most: int = 4) -> list[ci.IntExpr]:
    """Several of the expressions, possibly repeated, shifted, scaled, constant or undefined somewhere."""
    chosen = [rng.choice(xs) for _ in range(rng.randint(least, min(most, len(xs) + 1)))]
    shapes = [0] * 12 + [1, 2, 3, 4]
    return [_shaped(rng, x, rng.choice(shapes)) for x in chosen]


def _shaped(rng: random.Random, x: ci.IntExpr, shape: int) -> ci.IntExpr:
    if shape == 1:
        return x + rng.randint(-2, 2)
    if shape == 2:
        return rng.choice([-1, 2]) * x
    if shape == 4:
        return _partial(rng, x)
    return ci.sum_([rng.randint(0, 3)]) if shape == 3 else x


def _partial(rng: random.Random, x: ci.IntExpr) -> ci.IntExpr:
    """A number that is undefined for some value of an expression, or so it seems."""
    divisor = x - rng.randint(0, 2)
    shape = rng.randrange(4)
    if shape < 2:
        return 6 // divisor if shape else (x + 1) % divisor
    return 2**divisor if shape == 2 else ci.element([3, 0, 1, 2][: rng.randint(1, 4)], divisor)


def _pair(rng: random.Random, xs: Exprs, most: int = 3) -> tuple[list[ci.IntExpr], list[ci.IntExpr]]:
    left = some(rng, xs, 1, most)
    return left, [rng.choice([rng.choice(xs), rng.choice(xs) + rng.randint(-1, 1)]) for _ in left]


def _sizes(rng: random.Random, xs: Exprs, count: int, most: int = 3) -> list[IntLike]:
    return [rng.choice(xs) if rng.random() < 0.15 else rng.randint(0, most) for _ in range(count)]


def _cardinality(rng: random.Random, xs: Exprs) -> ci.BoolExpr:
    values = rng.sample(range(-1, 5), rng.randint(1, 3))
    counts = {v: rng.choice([rng.randint(0, 2), rng.choice(xs)]) for v in values}
    return ci.global_cardinality(some(rng, xs), counts, closed=rng.random() < 0.4)


def _regular(rng: random.Random, xs: Exprs) -> ci.BoolExpr:
    states = rng.randint(1, 3)
    arcs = {(q, a): rng.randrange(states) for q in range(states) for a in range(-1, 4) if rng.random() < 0.7}
    rows = [(q, a, r) for (q, a), r in arcs.items()]
    return ci.regular(some(rng, xs), rows, 0, rng.sample(range(states), rng.randint(1, states)))


def _no_overlap(rng: random.Random, xs: Exprs) -> ci.BoolExpr:
    starts = some(rng, xs)
    return ci.no_overlap(starts, _sizes(rng, xs, len(starts)))


def _cumulative(rng: random.Random, xs: Exprs) -> ci.BoolExpr:
    starts = some(rng, xs)
    sizes = [_sizes(rng, xs, len(starts)) for _ in range(2)]
    return ci.cumulative(starts, sizes[0], sizes[1], rng.choice([1, 2, 3, rng.choice(xs)]))  # type: ignore[call-overload, no-any-return]


def _presences(rng: random.Random, xs: Exprs, count: int) -> list[IntLike]:
    return [rng.choice([rng.choice(xs) > 0, rng.choice(xs) != 1, rng.choice(xs), 0, 1]) for _ in range(count)]


def _no_overlap_optional(rng: random.Random, xs: Exprs) -> ci.BoolExpr:
    starts = some(rng, xs)
    return ci.no_overlap_optional(starts, _sizes(rng, xs, len(starts)), _presences(rng, xs, len(starts)))


def _cumulative_optional(rng: random.Random, xs: Exprs) -> ci.BoolExpr:
    starts = some(rng, xs)
    sizes = [_sizes(rng, xs, len(starts)) for _ in range(2)]
    capacity = rng.choice([1, 2, 3, rng.choice(xs)])
    return ci.cumulative_optional(starts, *sizes, capacity, _presences(rng, xs, len(starts)))  # type: ignore[call-arg]


def _diffn(rng: random.Random, xs: Exprs) -> ci.BoolExpr:
    left, low = _pair(rng, xs)
    return ci.diffn(left, low, *[_sizes(rng, xs, len(left)) for _ in range(2)])


def _packing(rng: random.Random, xs: Exprs) -> ci.BoolExpr:
    bins = some(rng, xs)
    loads = [
        rng.choice([rng.choice(xs), 2 * rng.choice(xs), rng.randint(0, 5)]) for _ in range(rng.randint(1, 3))
    ]
    return ci.bin_packing(bins, [rng.randint(0, 3) for _ in bins], loads)


def _knapsack(rng: random.Random, xs: Exprs) -> ci.BoolExpr:
    counts = some(rng, xs, 1, 3)
    factors = [[rng.randint(0, 3) for _ in counts] for _ in range(2)]
    return ci.knapsack(counts, *factors, rng.choice(xs) + rng.randint(0, 3), 2 * rng.choice(xs))  # type: ignore[call-arg]


def _vector_packing(rng: random.Random, xs: Exprs) -> ci.BoolExpr:
    bins, dimensions = some(rng, xs), rng.randint(1, 2)
    sizes = [[rng.randint(0, 3) for _ in range(dimensions)] for _ in bins]
    rows = [_sizes(rng, xs, dimensions, 6) for _ in range(rng.randint(1, 3))]
    return ci.vector_bin_packing(bins, sizes, rows)


def _automaton(rng: random.Random, xs: Exprs) -> ci.BoolExpr:
    """Of states with names, deterministic or not."""
    states = ["start", "on", "off"][: rng.randint(1, 3)]
    rows = [
        (q, a, r)
        for q in states
        for a in range(-1, 4)
        for r in states
        if rng.random() < rng.choice([0.3, 0.5])
    ]
    final = [q for q in states if rng.random() < 0.6 and any(q in (p, r) for p, _, r in rows)]
    return ci.regular(some(rng, xs), rows, "start", final)


def _cost_regular(rng: random.Random, xs: Exprs) -> ci.BoolExpr:
    states = rng.randint(1, 3)
    arcs = {(q, a): rng.randrange(states) for q in range(states) for a in range(-1, 4) if rng.random() < 0.8}
    rows = [(q, a, r, rng.randint(-1, 2)) for (q, a), r in arcs.items()]
    final = rng.sample(range(states), rng.randint(1, states))
    return ci.cost_regular(some(rng, xs), rows, 0, final, rng.choice([rng.randint(0, 3), rng.choice(xs)]))


def _short_table(rng: random.Random, xs: Exprs) -> ci.BoolExpr:
    args = some(rng, xs)
    rows = [[rng.choice([None, "*", *range(-1, 4)]) for _ in args] for _ in range(rng.randint(1, 8))]
    rows.append([None] + [1] * (len(args) - 1) if rng.random() < 0.9 else [None] * len(args))
    return ci.table(args, rows)


def _conditions(rng: random.Random, xs: Exprs) -> list[IntLike]:
    limits = [rng.choice(some(rng, xs)) <= rng.randint(0, 2) for _ in range(rng.randint(0, 4))]
    return [*limits, *rng.choice([[], [True], [rng.choice(xs) == rng.choice(xs)], [False]])]


def _arcs(rng: random.Random, xs: Exprs, depot: int | None = None) -> list[tuple[int, int, object]]:
    """Arcs of few nodes, some of them twice, with conditions on few variables."""
    nodes = range(rng.randint(1 if depot is None else 2, 4))
    ends = [(i, j) for i in nodes for j in nodes if i != j or (i != depot and rng.random() < 0.3)]
    ends = rng.sample(ends, rng.randint(len(ends) // 2, len(ends))) or [(0, 0)]
    if depot is not None and not any(depot in pair for pair in ends):
        ends.append((depot, 1 - depot))
    if rng.random() < 0.3 and (ends[0][0] != ends[0][1]):
        ends.append(ends[0])
    return [(tail, head, rng.choice([rng.choice(xs) == head, rng.choice(xs) <= tail])) for tail, head in ends]


def _routes(rng: random.Random, xs: Exprs) -> ci.BoolExpr:
    depot = rng.randint(0, 1)
    return ci.routes(_arcs(rng, xs, depot), depot)


def _element_2d(rng: random.Random, xs: Exprs) -> ci.IntExpr:
    width = rng.randint(1, 4)
    rows = [[rng.randint(-2, 4) for _ in range(width)] for _ in range(rng.randint(1, 4))]
    if rng.random() < 0.5:
        rows = [[rng.choice([entry, *some(rng, xs)]) for entry in row] for row in rows]
    return ci.element_2d(rows, rng.choice(xs), rng.choice(xs))


OWN: dict[str, Draw] = {
    "all_different": lambda r, xs: ci.all_different(
        some(r, xs, 1, 5), consistency=r.choice(["auto", "value", "bounds", "domain"])
    ),
    "count": lambda r, xs: ci.count(some(r, xs, 0), r.choice([r.randint(0, 3), r.choice(xs)])),
    "among": lambda r, xs: ci.among(some(r, xs, 0), r.sample(range(-1, 5), r.randint(0, 3))),
    "nvalue": lambda r, xs: ci.nvalue(some(r, xs)),
    "global_cardinality": _cardinality,
    "element_2d": _element_2d,
    "inverse": lambda r, xs: ci.inverse(*_pair(r, xs)),
    "circuit": lambda r, xs: ci.circuit(some(r, xs)),
    "arc_circuit": lambda r, xs: ci.circuit(_arcs(r, xs)),
    "routes": _routes,
    "lex_less": lambda r, xs: ci.lex_less(*_pair(r, xs)),
    "lex_less_equal": lambda r, xs: ci.lex_less_equal(*_pair(r, xs)),
    "value_precede": lambda r, xs: ci.value_precede(r.sample(range(4), r.randint(1, 3)), some(r, xs)),
    "no_overlap": _no_overlap,
    "cumulative": _cumulative,
    "no_overlap_optional": _no_overlap_optional,
    "cumulative_optional": _cumulative_optional,
    "diffn": _diffn,
    "regular": lambda r, xs: r.choice([_regular, _automaton])(r, xs),
    "cost_regular": _cost_regular,
    "short_table": _short_table,
    "all_different_except": lambda r, xs: ci.all_different_except(
        some(r, xs, 1, 5), r.choice([0, 1, [], [0, 2], [3]])
    ),
    "subcircuit": lambda r, xs: ci.subcircuit(some(r, xs, 1, 5)),
    "exactly_one": lambda r, xs: ci.exactly_one(_conditions(r, xs)),
    "at_most_one": lambda r, xs: ci.at_most_one(*_conditions(r, xs)),
    "at_least_one": lambda r, xs: ci.at_least_one(_conditions(r, xs)),
    "vector_bin_packing": _vector_packing,
    "bin_packing": _packing,
    "knapsack": _knapsack,
}
"""Those whose arguments must fit together, or have values of interest."""


def by_fields(definition: Definition) -> Draw:
    """Arguments by their kinds: lists of one length, numbers near 0."""

    def draw(rng: random.Random, xs: Exprs) -> ci.IntExpr:
        for _ in range(100):
            length = rng.randint(1, min(4, len(xs) + 1))
            parts = tuple(_part(rng, xs, field, length) for field in definition.fields)
            try:
                return placed(node_of(definition, parts))
            except ci.ModelError as error:
                refused = error
        raise AssertionError(f"{definition.name} refuses what is drawn: draw it in `OWN`") from refused

    return draw


def _part(rng: random.Random, xs: Exprs, field: Field, length: int) -> object:
    def exprs() -> tuple[ci.IntExpr, ...]:
        return tuple(some(rng, xs, 1, 1)[0] for _ in range(length))

    def ints() -> tuple[int, ...]:
        return tuple(rng.randint(-1, 4) for _ in range(length))

    return {  # type: ignore[no-untyped-call]
        "expr": lambda: exprs()[0],
        "exprs": exprs,
        "matrix": lambda: (exprs(), exprs()),
        "int": lambda: rng.randint(0, 4),
        "ints": ints,
        "rows": lambda: tuple(ints() for _ in range(rng.randint(1, 4))),
        "patterns": lambda: tuple((None, *ints()[1:]) for _ in range(rng.randint(1, 4))),
        "word": lambda: rng.choice(field.words),
    }[field.kind]()


DRAWN: dict[str, Draw] = {name: OWN.get(name) or by_fields(found) for name, found in GLOBALS.items()}
assert not OWN.keys() - GLOBALS.keys()


def draw_condition(name: str, rng: random.Random, xs: Exprs) -> ci.BoolExpr:
    """A condition of a global constraint: itself, or a comparison of the number that it is."""
    drawn = DRAWN[name](rng, xs)
    if isinstance(drawn, ci.BoolExpr):
        return drawn
    other: Any = rng.choice([rng.randint(-1, 4), rng.choice(xs)])
    return rng.choice([drawn == other, drawn <= other, drawn > other, drawn != other])  # type: ignore[no-any-return]


def draw_variables(rng: random.Random, model: ci.Model) -> list[ci.IntExpr]:
    """A few variables of a few values each."""
    drawn: list[ci.IntExpr] = []
    for i in range(rng.randint(2, 4)):
        low = rng.choice([0, 0, 0, -1, 1])
        if rng.random() < 0.3:
            drawn.append(model.int_var(f"x{i}", values=rng.sample(range(-1, 6), rng.randint(2, 4))))
        else:
            drawn.append(model.int_var(f"x{i}", low, low + rng.randint(1, 3)))
    if rng.random() < 0.3:
        drawn.append(model.bool_var("b"))
    return drawn


def draw_model(name: str, seed: int) -> ci.Model:
    """A model with one global constraint that must hold, does not, or is part of a condition."""
    rng = random.Random(f"{name} {seed}")
    model = ci.Model()
    xs = draw_variables(rng, model)
    condition = draw_condition(name, rng, xs)
    other = rng.choice(xs) <= rng.randint(0, 2)
    forms = [condition] * 4 + [~condition] * 2
    forms += [condition | other, condition == other, condition.implies(other), condition + 2 * other >= 2]
    model.add(rng.choice(forms))
    if rng.random() < 0.3:
        model.add(draw_condition(rng.choice(list(DRAWN)), rng, xs))
    return model


def assignments(model: ci.Model) -> Iterator[dict[IntExpr, int]]:
    variables = list(model.variables.values())
    domains = [[0, 1] if isinstance(v, ci.BoolVar) else list(v.domain) for v in variables]
    for point in itertools.product(*domains):
        yield dict(zip(variables, point, strict=True))


def value(expr: ci.IntExpr, assignment: Any) -> int | None:
    try:
        return int(expr.evaluate(assignment))
    except ci.Undefined:
        return None


def holds(model: ci.Model, assignment: Any) -> bool:
    return all(value(constraint.expr, assignment) for constraint in model.constraints)


def expected(model: ci.Model) -> list[tuple[int, ...]]:
    """The solutions, by evaluating every assignment."""
    return sorted(tuple(a.values()) for a in assignments(model) if holds(model, a))
