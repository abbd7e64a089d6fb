"""element on lists of expressions: one propagator, not a chain of choices; answers against brute force."""

from __future__ import annotations

import itertools
from pathlib import Path
from random import Random
from typing import Any

import pytest
from proved import is_proved

from constrint import Model, Status, element, if_then_else, sum_
from constrint.preparing.prepared import Prepared
from constrint.propagators import Element, LinearEq, Selection


def drawn(seed: int) -> tuple[Model, list[int]]:
    """A model, its variables, the truth of its conditions and its goal."""
    random = Random(seed)
    n = random.randint(3, 4)
    bounds = [(low := random.randint(-3, 3), low + random.randint(0, 4)) for _ in range(n)]
    first = random.randint(-1, 1)
    m = Model()
    xs = [m.int_var(f"x{i}", low, high) for i, (low, high) in enumerate(bounds)]
    place = m.int_var("place", first, first + n)
    shift, limit = random.randint(-1, 1), random.randint(-4, 8)
    factors = [random.choice((1, 1, 2, -1)) for _ in range(n)]
    chosen = element([a * x for a, x in zip(factors, xs, strict=True)], place + shift)
    m.add(chosen + xs[0] >= limit, chosen != xs[-1])
    weights = [random.randint(-3, 3) for _ in range(n + 1)]
    m.minimize(sum_(w * x for w, x in zip(weights, [*xs, place], strict=True)) + chosen)

    def goal(values: Any) -> int | None:
        *entries, at = values
        if not 0 <= at + shift < n:
            return None
        entry = factors[at + shift] * entries[at + shift]
        if entry + entries[0] < limit or entry == entries[-1]:
            return None
        return sum(w * x for w, x in zip(weights, values, strict=True)) + entry  # type: ignore[no-any-return]

    domains = [*(range(low, high + 1) for low, high in bounds), range(first, first + n + 1)]
    worth = [value for values in itertools.product(*domains) if (value := goal(values)) is not None]
    return m, worth


@pytest.mark.parametrize("learn", [False, True])
def test_optima_and_counts_against_brute_force(learn: bool) -> None:
    feasible = 0
    for seed in range(150):
        m, worth = drawn(seed)
        r = m.solve(learn=learn, engine="interpreted")
        assert r.objective == min(worth, default=None), f"seed {seed}"
        assert r.status is (Status.OPTIMAL if worth else Status.INFEASIBLE)
        if not learn:
            assert sum(1 for _ in m.iter_solutions(engine="interpreted")) == len(worth)
        feasible += bool(worth)
    assert 50 < feasible < 150


def test_proofs_follow(tmp_path: Path) -> None:
    path = tmp_path / "proof"
    followed = 0
    for seed in range(60):
        m, _ = drawn(seed)
        m.solve(learn=True, proof=path, engine="interpreted")
        text = path.read_text(encoding="utf-8")
        if "\nsearch" in text:
            assert is_proved(text)
            followed += "Selection {" in text
    assert followed > 20


def kinds(m: Model) -> list[type]:
    root = Prepared(m, (), ()).root
    assert root is not None
    return [type(node) for node in root.propagators]


def test_a_list_of_expressions_is_one_constraint() -> None:
    m = Model()
    xs = [m.int_var(f"x{i}", 0, 9) for i in range(6)]
    i, j, z = m.int_var("i", 0, 5), m.int_var("j", 0, 5), m.int_var("z", 3, 20)
    m.add(element(xs, i) + element([x + 1 for x in xs], j) == z)
    found = kinds(m)
    assert found.count(Selection) == 2


def test_choices_that_are_written_out_select_by_their_conditions() -> None:
    m = Model()
    x, y, z, i = (m.int_var(name, 0, 4) for name in "xyzi")
    inside = element([0, 1, 2], i)
    m.add(if_then_else(inside == 1, x, if_then_else(inside == 0, y, z)) == x + 1)
    root = Prepared(m, (), ()).root
    assert root is not None
    assert {len(node.xs) for node in root.propagators if isinstance(node, Selection)} == {2}
    r = m.solve(minimize=x + y + z + i)
    assert (r["x"], r["y"], r["i"]) == (0, 1, 0)


def test_what_bounds_tell() -> None:
    m = Model()
    xs = [m.int_var("a", 0, 3), m.int_var("b", 5, 8), m.int_var("c", 4, 6)]
    i, z = m.int_var("i", 0, 9), m.int_var("z", 5, 30)
    m.add(element(xs, i) == z)
    prepared = Prepared(m, (), ())
    assert prepared.root is not None
    box = prepared.root.box
    assert (box.lo[prepared.variables[i]], box.hi[prepared.variables[i]]) == (1, 2)
    assert (box.lo[prepared.variables[z]], box.hi[prepared.variables[z]]) == (5, 8)
    m.add(z >= 7)
    r = m.solve(engine="interpreted")
    assert (r["i"], r["b"]) == (1, r["z"])


@pytest.mark.parametrize("constants", [True, False])
@pytest.mark.parametrize("first", [0, 1, 3, 16])
def test_a_list_that_counts_from_a_small_number_needs_no_variable_for_its_index(
    first: int, constants: bool
) -> None:
    m = Model()
    i = m.int_var("i", first - 2, first + 9)
    values: list[Any] = [7, 1, 9, 4] if constants else [*m.int_vars("x", 4, 0, 2)]
    z = m.int_var("z", 0, 9)
    m.add(element(values, i - first) == z)
    root = Prepared(m, (), ()).root
    assert root is not None
    assert sum(isinstance(node, LinearEq) for node in root.propagators) == 1  # the element equals z
    assert sum(isinstance(node, Selection | Element) for node in root.propagators) == 1
    found = {(r["i"], r["z"], *(r[x] for x in values if not constants)) for r in m.iter_solutions()}
    rows = [tuple(values)] if constants else list(itertools.product(range(3), repeat=4))
    wanted = {(first + place, row[place], *(() if constants else row)) for row in rows for place in range(4)}
    assert found == wanted
