"""Conditions that are compared with a known truth value: lowered as they are, not as a fixed literal."""

from __future__ import annotations

import itertools
from random import Random

import pytest

from constrint import BoolExpr, IntExpr, Model
from constrint.errors import Undefined
from constrint.expr import BoolConst
from constrint.frontends.flatzinc import read_flatzinc
from constrint.modelling.objectives import as_goals
from constrint.preparing.prepared import Prepared
from constrint.propagators import Clause, LinearLe, NoOverlap


def condition(random: Random, numbers: list[IntExpr], truths: list[BoolExpr], depth: int) -> BoolExpr:
    """A drawn condition; some have terms that are undefined for some values."""
    if depth == 0 or random.random() < 0.2:
        x, y = random.sample(numbers, 2)
        return random.choice(
            [random.choice(truths), x <= y, x + y == random.randint(0, 4), x // y >= 1, x % y != 1]
        )
    one, other = (condition(random, numbers, truths, depth - 1) for _ in range(2))
    value = BoolConst(random.random() < 0.5)
    return random.choice(
        [one & other, one | other, ~one, one.implies(other), one.iff(other), one.iff(value), one | value,
         value.implies(one), one.implies(value), value.iff(one)]
    )  # fmt: skip


@pytest.mark.parametrize("block", range(4))
def test_solutions_against_brute_force(block: int) -> None:
    some = 0
    for seed in range(150 * block, 150 * (block + 1)):
        random = Random(seed)
        m = Model()
        numbers: list[IntExpr] = [m.int_var(f"x{i}", -1, 2) for i in range(3)]
        truths: list[BoolExpr] = [m.bool_var(f"b{i}") for i in range(2)]
        wanted = condition(random, numbers, truths, 3)
        value = BoolConst(random.random() < 0.5)
        given = random.choice([wanted.iff(value), value.iff(wanted), ~wanted, value.implies(wanted)])
        m.add(given)

        def holds(values: tuple[int, ...], given: BoolExpr = given, of: Model = m) -> bool:
            try:
                return bool(given.evaluate(dict(zip(of.variables.values(), values, strict=True))))
            except Undefined:
                return False

        domains = [range(-1, 3)] * 3 + [range(2)] * 2
        expected = {values for values in itertools.product(*domains) if holds(values)}
        found = [tuple(int(r[name]) for name in m.variables) for r in m.iter_solutions(engine="interpreted")]
        assert (set(found), len(found)) == (expected, len(expected)), f"seed {seed}: {given}"
        some += 0 < len(expected) < 256
    assert some > 75


TEXTS = {
    "array_bool_or([a,b],true)": [Clause((2, 4))],
    "bool_or(a,b,true)": [Clause((2, 4))],
    "array_bool_and([a,b],false)": [Clause((3, 5))],
    "array_bool_or([a,b],false)": [],
    "array_bool_and([a,b],true)": [],
    "bool_clause_reif([a],[b],true)": [Clause((2, 5))],
    "int_le_reif(x,y,true)": [LinearLe(((1, 3), (-1, 4)), 0)],
    "int_le_imp(x,y,true)": [LinearLe(((1, 3), (-1, 4)), 0)],
}


@pytest.mark.parametrize("text", TEXTS)
def test_known_truth_needs_no_variable(text: str) -> None:
    declared = "var bool: a; var bool: b; var 0..9: x; var 0..9: y;"
    m = read_flatzinc(f"{declared} constraint {text}; solve satisfy;").model
    root = Prepared(m, (), ()).root
    assert root is not None
    assert list(root.propagators) == TEXTS[text]
    assert len(root.box.lo) == 5  # with the constant


def test_disjunctions_by_array_bool_or_are_machines() -> None:
    """An open shop as MiniZinc writes it: its machines are found, so the optimum needs no long search."""
    random, n = Random(3), 4
    lengths = [[random.randint(1, 20) for _ in range(n)] for _ in range(n)]
    lines = [f"var 0..200: s{i}_{j};" for i in range(n) for j in range(n)] + ["var 0..200: z;"]
    constraints = [f"int_lin_le([1,-1],[s{i}_{j},z],-{lengths[i][j]})" for i in range(n) for j in range(n)]
    cells = list(itertools.product(range(n), repeat=2))
    for (i, j), (k, h) in itertools.combinations(cells, 2):
        if (i == k) != (j == h):
            orders = ((i, j, k, h), (k, h, i, j))
            names = [f"o{a}{b}{c}{d}" for a, b, c, d in orders]
            for name, (a, b, c, d) in zip(names, orders, strict=True):
                lines.append(f"var bool: {name};")
                order = f"[1,-1],[s{a}_{b},s{c}_{d}],-{lengths[a][b]}"
                constraints.append(f"int_lin_le_reif({order},{name}) :: defines_var({name})")
            constraints.append(f"array_bool_or([{','.join(names)}],true)")
    text = "\n".join([*lines, *[f"constraint {one};" for one in constraints], "solve minimize z;"])
    m = Model.of(read_flatzinc(text).model)
    root = Prepared(m, as_goals(m.goals), ()).root
    assert root is not None
    machines = [node for node in root.propagators if isinstance(node, NoOverlap)]
    assert sorted(len(node.starts) for node in machines) == [n] * (2 * n)
