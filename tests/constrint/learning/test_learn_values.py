"""All different by sums over values in the learning search."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from random import Random

import pytest
from proved import is_proved

from constrint import Model, Status, all_different, circuit, sum_, table
from constrint.learning import values
from constrint.learning.decompose import Decomposition
from constrint.preparing.prepared import Prepared
from constrint.propagators import LinearEqIf, LinearLe, LinearNe
from constrint.settings import DEFAULT


def parts_of(m: Model) -> list[type]:
    """The kinds of parts that a model without presolve's help is made of."""
    root = Prepared(m, (), ()).root
    return [type(node) for node in Decomposition(root).root.propagators]  # type: ignore[arg-type]


def test_each_value_is_in_a_sum() -> None:
    n = DEFAULT.learning.least_holders
    m = Model()
    xs = [m.int_var(f"x{i}", i % 2, n + 3) for i in range(n)]
    m.add(all_different(xs))
    kinds = parts_of(m)
    assert kinds.count(LinearLe) == n + 4  # the values 0 … n + 3
    assert LinearNe not in kinds
    assert kinds.count(LinearEqIf) == sum(n + 4 - i % 2 for i in range(n))


def test_tours_and_short_ones_are_pairs() -> None:
    n = DEFAULT.learning.least_holders
    for make, count in ((circuit, n), (all_different, n - 1)):
        m = Model()
        m.add(make([m.int_var(f"x{i}", 0, n) for i in range(count)]))
        assert LinearLe not in parts_of(m)


def test_optima_by_sums_and_their_proofs(tmp_path: Path) -> None:
    proofs = 0
    for seed in range(25):
        random = Random(seed)
        m = Model()
        m.settings = DEFAULT.with_fields(learning={"least_holders": 3})
        domains = [range(random.randint(0, 1), random.randint(4, 6)) for _ in range(5)]
        xs = [m.int_var(f"x{i}", values=domain) for i, domain in enumerate(domains)]
        views = [random.choice((x, -x, x + random.randint(0, 4), 3 - x)) for x in xs]
        m.add(all_different(views))
        factors = [random.randint(-3, 4) for _ in xs]
        m.add(sum_(a * x for a, x in zip(factors, xs, strict=True)) <= 6)
        goal = sum_(random.randint(-9, 9) * x for x in xs)
        r = m.solve(minimize=goal, learn=True, engine="interpreted", proof=tmp_path / "proof")
        worth = []
        for row in product(*domains):
            given = dict(zip(xs, row, strict=True))
            is_small = sum(a * v for a, v in zip(factors, row, strict=True)) <= 6
            if is_small and len({view.evaluate(given) for view in views}) == 5:
                worth.append(goal.evaluate(given))
        assert (r.status, r.objective) == (
            (Status.OPTIMAL, min(worth)) if worth else (Status.INFEASIBLE, None)
        ), f"seed {seed}"
        text = (tmp_path / "proof").read_text(encoding="utf-8")
        if "\nsearch" in text:
            proofs += 1
            assert is_proved(text), f"seed {seed}"
    assert proofs > 8


def test_optima_of_tables_and_their_proofs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Tables with a variable that has another value in each row, and without; rows beyond the domains."""
    by_key = 0
    made = values._key
    keys: list[int | None] = []
    monkeypatch.setattr(values, "_key", lambda node: (keys.append(made(node)), keys[-1])[1])  # type: ignore[func-returns-value]
    for seed in range(25):
        random = Random(seed)
        m = Model()
        domains = [range(random.randint(-1, 1), random.randint(3, 5)) for _ in range(4)]
        domains += [range(random.randint(8, 20))] * 2  # the latter tell rows apart
        xs = [m.int_var(f"x{i}", values=domain) for i, domain in enumerate(domains)]
        tables = []
        for key in (4, 5):
            scope = random.sample(range(4), 2) if random.random() < 0.8 else random.choices(range(4), k=2)
            rows = [tuple(random.randint(-1, 4) for _ in scope) for _ in range(random.randint(10, 22))]
            keys_of_rows = (
                list(range(len(rows))) if random.random() < 0.7 else random.choices(range(9), k=len(rows))
            )
            scope.insert(place := random.randint(0, 2), key)
            rows = [(*row[:place], k, *row[place:]) for k, row in zip(keys_of_rows, rows, strict=True)]
            tables.append((scope, set(rows)))
            m.add(table([xs[i] for i in scope], rows))
        factors = [random.randint(-9, 9) for _ in xs]
        goal = sum_(a * x for a, x in zip(factors, xs, strict=True))
        keys.clear()
        r = m.solve(minimize=goal, learn=True, engine="interpreted", proof=tmp_path / "proof")
        by_key += any(key is not None for key in keys)
        worth = [
            sum(a * v for a, v in zip(factors, row, strict=True))
            for row in product(*domains)
            if all(tuple(row[i] for i in scope) in rows for scope, rows in tables)
        ]
        assert r.status is (Status.OPTIMAL if worth else Status.INFEASIBLE), seed
        if worth:
            assert r.objective == min(worth), seed
        if r.statistics.method == "learning":
            assert is_proved((tmp_path / "proof").read_text("utf-8"))
    assert by_key > 10
