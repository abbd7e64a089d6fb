"""Clauses and pseudo-Boolean constraints: drawn files against brute force, and errors."""

from __future__ import annotations

import random
from itertools import product
from typing import Any

import pytest

from constrint import Model, ParseError
from constrint.support.limits import LimitExceeded, Limits

N = 4


def found(text: str, dialect: str) -> tuple[Model, set[tuple[int, int, int, int]]]:
    m = Model.from_text(text, dialect=dialect)
    return m, {tuple(r[f"x{i}"] for i in range(1, N + 1)) for r in m.iter_solutions()}


def holds(clause: list[int], values: Any) -> bool:
    return any((values[abs(one) - 1] == 1) == (one > 0) for one in clause)


def drawn_clause(rng: random.Random, least: int = 0) -> list[int]:
    return [rng.choice([-1, 1]) * rng.randint(1, N) for _ in range(rng.randint(least, 3))]


@pytest.mark.parametrize("seed", range(40))
def test_cnf_means_what_brute_force_says(seed: int) -> None:
    rng = random.Random(seed)
    clauses = [drawn_clause(rng, 0 if seed % 9 == 0 else 1) for _ in range(rng.randint(0, 8))]
    gap = rng.choice([" ", "\n", " \t"])
    body = " 0\n".join(gap.join(map(str, clause)) for clause in clauses) + (" 0\n" if clauses else "")
    text = f"c drawn\np cnf {N} {len(clauses)}\n{body}" + ("%\n0\n" if seed % 3 == 0 else "")
    expected = {v for v in product((0, 1), repeat=N) if all(holds(clause, v) for clause in clauses)}
    assert found(text, "cnf")[1] == expected


@pytest.mark.parametrize("form", ["header", "top", "new"])
@pytest.mark.parametrize("seed", range(25))
def test_wcnf_means_what_brute_force_says(seed: int, form: str) -> None:
    rng = random.Random(seed)
    top = 30
    hard = [] if form == "header" else [drawn_clause(rng, 1) for _ in range(rng.randint(0, 3))]
    soft = [(rng.randint(0, 5), drawn_clause(rng)) for _ in range(rng.randint(0, 5))]
    mark = "h" if form == "new" else str(top)
    lines = [f"{mark} {' '.join(map(str, clause))} 0" for clause in hard]
    lines += [f"{weight} {' '.join(map(str, clause))} 0" for weight, clause in soft]
    rng.shuffle(lines)
    mention = [f"0 {i} 0" for i in range(1, N + 1)]
    head = {
        "header": f"p wcnf {N} {len(lines) + N}",
        "top": f"p wcnf {N} {len(lines) + N} {top}",
        "new": "c new",
    }
    m, solutions = found("\n".join([head[form], *lines, *mention]), "wcnf")
    expected = {v for v in product((0, 1), repeat=N) if all(holds(clause, v) for clause in hard)}
    assert solutions == expected
    costs = [sum(w for w, clause in soft if not holds(clause, v)) for v in expected]
    assert m.solve().objective == (min(costs) if costs else None)


@pytest.mark.parametrize("is_soft", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_opb_means_what_brute_force_says(seed: int, is_soft: bool) -> None:
    rng = random.Random(seed)

    def total() -> Any:
        return [
            (
                rng.randint(-3, 4),
                [rng.choice([-1, 1]) * rng.randint(1, N) for _ in range(rng.choice([1, 1, 2]))],
            )
            for _ in range(rng.randint(1, 4))
        ]

    def written(terms: Any) -> Any:
        names = [" ".join(("~" if one < 0 else "") + f"x{abs(one)}" for one in group) for _, group in terms]
        return " ".join(f"{a:+d} {name}" for (a, _), name in zip(terms, names, strict=True))

    def value(terms: Any, v: Any) -> Any:
        return sum(a for a, group in terms if all((v[abs(one) - 1] == 1) == (one > 0) for one in group))

    def true(row: Any, v: Any) -> Any:
        _, terms, relation, bound = row
        return {
            ">=": value(terms, v) >= bound,
            "<=": value(terms, v) <= bound,
            "=": value(terms, v) == bound,
        }[relation]

    rows = []
    for _ in range(rng.randint(1, 4)):
        weight = rng.choice([None, 0, 2, 3]) if is_soft else None
        rows.append((weight, total(), rng.choice([">=", "<=", "="]), rng.randint(-2, 3)))
    goal, top = total(), rng.choice([None, 3, 6])
    lines = [f"* #variable= {N} #constraint= {len(rows)}", "* drawn"]
    lines.append(f"soft: {'' if top is None else top};" if is_soft else f"min: {written(goal)};")
    lines += [f"{'' if w is None else f'[{w}] '}{written(t)} {r} {b} ;" for w, t, r, b in rows]
    m, solutions = found("\n".join(lines), "opb")
    expected = {v for v in product((0, 1), repeat=N) if all(true(row, v) for row in rows if row[0] is None)}
    costs = {v: sum(row[0] for row in rows if row[0] and not true(row, v)) for v in expected}
    if is_soft and top is not None:
        expected = {v for v in expected if costs[v] < top}
    assert solutions == expected
    best = min((costs[v] if is_soft else value(goal, v) for v in expected), default=None)
    assert m.solve().objective == best


WRONG = [
    ("cnf", "1 0\n", 1, "before the header"),
    ("cnf", "p cnf 2 1\n1 3 0\n", 2, "no variable 3"),
    ("cnf", "p cnf 2 2\n1 0\n", 3, "says 2 clauses, and there are 1"),
    ("cnf", "p cnf 2 1\n1 2\n", 3, "has no end"),
    ("cnf", "p cnf 2 1\n1 x 0\n", 2, "'x' is not an integer"),
    ("cnf", "p dnf 2 1\n1 0\n", 1, "not the header of a cnf"),
    ("cnf", "", 1, "no header"),
    ("wcnf", "h 1 0\n-3 2 0\n", 2, "negative"),
    ("wcnf", "h 1 0\nq 2 0\n", 2, "'q' is not an integer"),
    ("wcnf", "0\n", 2, "has no end"),
    ("opb", "* c\n+1 x1 >= 1", 2, "has no end"),
    ("opb", "+1 x1 > 1;", 1, "'>' is not understood"),
    ("opb", "+1 x1 >= x2;", 1, "a sum, >=, <= or =, and a number"),
    ("opb", "\nmin: +1 x1;\nmin: +1 x2;", 3, "second objective"),
    ("opb", "min: +1 x1;\n[2] +1 x1 >= 1;", 2, "soft constraints and an objective"),
    ("opb", "+1 +2 >= 1;", 1, "a variable is missing"),
]


@pytest.mark.parametrize(("dialect", "text", "line", "message"), WRONG)
def test_errors_name_their_line(dialect: str, text: str, line: int, message: str) -> None:
    with pytest.raises(ParseError, match=message) as error:
        Model.from_text(text, dialect=dialect)
    assert error.value.line == line


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("cnf", "p cnf 20 2\n1 2 -3 4 0\n-1 2 3 4 5 0\n"),
        ("wcnf", "h 1 2 -3 4 0\n12345 -1 2 3 4 5 6 7 8 9 10 11 0\n"),
        ("opb", "* #variable= 20 #constraint= 1\n+12345 x1 +2 x2 +3 x3 x4 x5 x6 +2 x8 >= 1;"),
    ],
)
def test_reading_is_limited(dialect: str, text: str) -> None:
    Model.from_text(text, dialect=dialect)
    limits = {"variables": 9, "nodes": 5, "bytes": 20} | ({} if dialect == "cnf" else {"digits": 4})
    for name, value in limits.items():
        with pytest.raises(LimitExceeded):
            Model.from_text(text, dialect=dialect, limits=Limits(**{name: value}))


def test_the_number_of_variables_is_limited_before_they_are_made() -> None:
    with pytest.raises(LimitExceeded, match="variables"):
        Model.from_text("p cnf 999999999999 0\n", dialect="cnf")
