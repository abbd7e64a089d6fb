"""What follows from constraints alone is computed once, and never of other constraints."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from random_models import draw_model

from constrint import Model, sum_
from constrint.engine.state_arrays import Branch, build
from constrint.preparing.branching import reached_by
from constrint.preparing.prepared import Prepared
from constrint.presolve.joint import Row, connected


def test_structure_of_drawn_roots_is_that_of_their_constraints() -> None:
    for seed in range(100):
        prepared = Prepared(draw_model(seed).build(), (), ())
        root = prepared.root
        if root is None:
            continue
        count = len(root.box.lo)
        for one in (root, replace(root, propagators=root.propagators[1:]), root):
            structure = prepared.structure
            assert structure.reached(one) == reached_by(count, one.propagators, prepared.inputs)
            assert structure.reached(one) is structure.reached(one)
            encoding = structure.encoding(one)
            made = build(one.box, one.propagators, Branch(), one.huge, encoding)
            assert made == build(one.box, one.propagators, Branch(), one.huge)
            made.args[:] = [7] * len(made.args)  # constraints keep notes there
            assert build(one.box, one.propagators, Branch(), one.huge, encoding) == build(
                one.box, one.propagators, Branch(), one.huge
            )


def test_nothing_is_kept_of_constraints_that_presolve_still_changes() -> None:
    m = Model()
    x = m.int_vars("x", 3, 0, 9)
    m.add(sum_(x) <= 12, x[0] + x[1] >= 3)
    prepared = Prepared(m, (), (), may_postpone=True)
    root = prepared.root
    assert root is not None
    assert root.postponed
    before = prepared.structure.encoding(root)
    root.propagators.pop()
    assert prepared.structure.encoding(root) != before
    assert len(prepared.structure.reached(root)[1]) < 3


def test_few_structures_are_kept() -> None:
    m = Model()
    x = m.int_vars("x", 3, 0, 9)
    m.add(sum_(x) <= 12, x[0] + x[1] >= 3)
    prepared = Prepared(m, (), ())
    assert prepared.root is not None
    roots = [replace(prepared.root, propagators=list(prepared.root.propagators)) for _ in range(9)]
    first = prepared.structure.reached(roots[0])
    for root in roots:
        prepared.structure.reached(root)
    assert prepared.structure.reached(roots[0]) is not first


def test_connected_rows_are_those_that_share_variables() -> None:
    def by_definition(rows: list[Row], wanted: set[int]) -> list[Row]:
        reached, left, chosen = set(wanted), rows, []
        while near := [row for row in left if any(v in reached for _, v in row[0])]:
            chosen += near
            left = [row for row in left if row not in near]
            reached |= {v for terms, _, _ in near for _, v in terms}
        return chosen

    for seed in range(200):
        random = Random(seed)
        rows: list[Row] = [
            (tuple((1, v) for v in random.sample(range(12), random.randint(1, 3))), None, number)
            for number in range(random.randint(0, 8))
        ]
        wanted = set(random.sample(range(12), random.randint(0, 2)))
        assert connected(rows, wanted) == by_definition(rows, wanted)
