"""Files in the LP and MPS formats: what they mean, by HiGHS and by brute force, and what is refused."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import ceil, floor, isinf
from pathlib import Path
from typing import Any

import highspy
import pytest
from highspy.highs import Highs

from constrint import Model, ModelError, ParseError, read
from constrint.frontends.linear.lp import read_lp
from constrint.frontends.linear.mps import read_mps
from constrint.support.limits import LimitExceeded, Limits

SEEDS = range(60)


def highs(path: Path) -> Highs:
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("mip_rel_gap", 0.0)
    assert solver.readModel(str(path)) != highspy.HighsStatus.kError
    return solver


def optimum(path: Path) -> Any:
    """HiGHS's optimum of a file; None where there is no solution."""
    solver = highs(path)
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    return round(solver.getInfo().objective_function_value, 6)


def drawn(seed: int) -> Any:
    """A linear model that is drawn, with all that a linear program can hold."""
    rng = random.Random(seed)
    m = Model(f"drawn {seed}")
    xs = [
        m.int_var("x[0,1]", -2, 3),
        m.int_var("free", 0, 4, step=2),
        m.int_var("e5", values=[-3, 0, 1, 5]),
        m.int_var("a b", -1, 2),
        m.bool_var("b"),
        m.bool_var("c"),
    ]
    for i in range(rng.randint(1, 4)):
        total = sum((rng.randint(-3, 3) * x for x in rng.sample(xs, 3)), rng.randint(-2, 2))
        bound = rng.randint(-2, 6)
        name = rng.choice([None, "row", "obj", "c1", f"r {i}"])
        ways = [total <= bound, total >= -bound, total == bound, ~(total > bound), bound > total]
        m.add(rng.choice(ways) & (xs[0] <= 3), name=name)
    b, c = xs[4:]
    m.add(rng.choice([b | c, ~(b & c), b.implies(~c), b.iff(c), ~(b | c), xs[3].is_in(range(3))]))  # type: ignore[attr-defined]
    goal = sum((rng.randint(-4, 4) * x for x in xs), rng.randint(-3, 3))
    (m.maximize if seed % 2 else m.minimize)(goal)
    return m


def rounded(bound: float, way: Callable[..., Any]) -> int | None:
    """A bound of HiGHS as a bound of integers."""
    return None if isinf(bound) else way(bound)


def solutions(m: Model, count: int) -> set[tuple[int, ...]]:
    """The solutions, over the first variables in their order."""
    return {tuple(list(r.values.values())[:count]) for r in m.iter_solutions()}


@pytest.mark.parametrize("ending", ["lp", "mps"])
@pytest.mark.parametrize("seed", SEEDS)
def test_written_models_mean_the_same(seed: int, ending: str, tmp_path: Path) -> None:
    m = drawn(seed)
    path = tmp_path / f"m.{ending}"
    m.write(path)
    again = read(path)
    assert solutions(again, 6) == solutions(m, 6)
    best = m.solve()
    assert again.solve().objective == best.objective
    assert optimum(path) == best.objective


def _value(rng: random.Random) -> str:
    return rng.choice(["1", "-1", "2.5", "-0.25", "3e0", "1.5E+1", "+4", ".5", "-3.", "0"])


def drawn_mps(seed: int) -> str:
    """A file in the MPS format with every kind of row, range and bound."""
    rng = random.Random(seed)
    rows = [f"r{i}" for i in range(3)]
    kinds = [rng.choice("ELG") for _ in rows]
    columns = ["x", "y", "z[1]"]
    lines = [f"NAME drawn{seed}", *(["OBJSENSE", "    MAX"] if seed % 3 == 0 else []), "ROWS", " N cost"]
    lines += [" N other", *[f" {kind}  {row}" for kind, row in zip(kinds, rows, strict=True)], "COLUMNS"]
    lines.append(" M1 'MARKER' 'INTORG'")
    for column in columns:
        used = rng.sample([*rows, "cost"], rng.randint(1, 4))
        pairs = [f"{row} {_value(rng)}" for row in used]
        lines += [f" {column} {'  '.join(pairs[i : i + 2])}" for i in range(0, len(pairs), 2)]
    lines.append(" M2 'MARKER' 'INTEND'")
    lines.append("RHS")
    lines += [f" RHS {row} {_value(rng)}" for row in rng.sample([*rows, "cost"], 3)]
    lines.append("RANGES")
    lines += [f" RNG {row} {rng.choice(['2', '-3', '1.5', '4'])}" for row in rng.sample(rows, 2)]
    lines.append("BOUNDS")
    for column in columns:
        ways = [
            [],
            [f" UP BND {column} {rng.choice(['0', '3', '2.5'])}"],
            [f" LO BND {column} {rng.choice(['-3', '1', '-0.5'])}", f" UP BND {column} 4"],
            [f" UP {column} 4", f" LO {column} -4"],
            [f" FX BND {column} 2"],
            [f" BV BND {column}"],
            [f" LI BND {column} -2", f" UI BND {column} 2"],
            [f" MI BND {column}", f" UP BND {column} -1"],
            [f" FR BND {column}"],
            [f" PL BND {column}"],
        ]
        lines += rng.choice(ways)
    return "\n".join([*lines, "ENDATA", ""])


@pytest.mark.parametrize("seed", SEEDS)
def test_mps_means_what_highs_says(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "m.mps"
    text = drawn_mps(seed)
    # The set of bounds is named everywhere or nowhere.
    path.write_text(text.replace(" BND ", " "), encoding="utf-8")
    solver = highs(path)
    lp = solver.getLp()
    m = read(path)
    assert list(m.variables) == list(lp.col_names_)
    for variable, lo, hi in zip(m.variables.values(), lp.col_lower_, lp.col_upper_, strict=True):
        assert (variable.domain.lo, variable.domain.hi) == (rounded(lo, ceil), rounded(hi, floor))
    best = m.solve()
    expected = optimum(path)
    assert (best.objective if best else None) == expected


def drawn_lp(seed: int) -> str:
    """A file in the LP format in many spellings, over x, y, z within -3 .. 4."""
    rng = random.Random(seed)

    def total() -> Any:
        terms = []
        for name in rng.sample(["x", "y.1", "z(2)"], rng.randint(1, 3)):
            number = rng.choice(["", "2 ", "0.5 ", "3", "1.25e1 ", "- "])
            terms.append(f"{rng.choice(['+', '-'])} {number}{name}" if number != "- " else f"- {name}")
        return " ".join(terms).removeprefix("+ ")

    rows = []
    for i in range(rng.randint(1, 4)):
        label = rng.choice([f"c{i}: ", "", f"row.{i}:"])
        sense = rng.choice(["<=", ">=", "="])
        number = rng.choice(["1", "-2.5", "+3", "4e0"])
        rows.append(f" {label}{total()} {sense} {number}")
    head = rng.choice(["Minimize", "MAXIMUM", "min", "max"])
    is_binary = rng.random() < 0.3  # HiGHS keeps other bounds of binary variables
    bounds = [
        rng.choice([" -3 <= x <= 4", " x >= -3\n x <= 4", " x free\n -3 <= x <= 4", " x = 2", " 4 >= x"]),
        rng.choice([" y.1 <= 3", " -inf <= y.1 <= 2\n y.1 >= -2", " 0.5 <= y.1 <= 2.5"]),
        *([] if is_binary else [" z(2) <= 4"]),
    ]
    return "\n".join(
        [
            rf"\ drawn {seed}",
            head,
            f" {rng.choice(['obj: ', ''])}{total()} {rng.choice(['', '+ 3', '- 2.5'])}",
            rng.choice(["Subject To", "such that", "ST", "s.t."]),
            *rows,
            "Bounds",
            *bounds,
            rng.choice(["General", "Integers", "gen"]),
            " x y.1",
            "Binary\n z(2)" if is_binary else "General\n z(2)",
            "End",
        ]
    )


@pytest.mark.parametrize("seed", range(120))
def test_lp_means_what_highs_says(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "m.lp"
    text = drawn_lp(seed)
    path.write_text(text, encoding="utf-8")
    lp = highs(path).getLp()
    m = read(path)
    own = {name: (v.domain.lo, v.domain.hi) for name, v in m.variables.items()}
    for name, lo, hi in zip(lp.col_names_, lp.col_lower_, lp.col_upper_, strict=True):
        assert own[name] == (rounded(lo, ceil), rounded(hi, floor))
    best, expected = m.solve(), optimum(path)
    assert bool(best) == (expected is not None)
    if expected is not None:
        assert best.objective == expected
        costs = dict(zip(lp.col_names_, lp.col_cost_, strict=True))
        exact = sum(Fraction(costs[n]) * best[n] for n in costs) + Fraction(lp.offset_)
        assert float(exact) == expected


def test_numbers_are_exact() -> None:
    m = read_lp("min\n 0.1 x\nst\n a: 0.1 x + 0.2 y >= 0.3\n b: 123456789012345678901 x <= 5e19\n"
                "bounds\n x <= 9007199254740993\n y <= 1\ngeneral\n x y\nend\n")  # fmt: skip
    assert Model.of(m).to_text().splitlines() == [
        "x in 0..9007199254740993",
        "y in 0..1",
        "a: 0.1 * x + 0.2 * y >= 0.3",
        "b: 123456789012345678901 * x <= 50000000000000000000",
        "minimize 0.1 * x",
    ]


def test_an_objective_beyond_floats_is_exact() -> None:
    m = Model.of(read_lp("min\n 0.5 x + 1e400\nst\n x >= 3\nbounds\n x <= 5\ngeneral\n x\nend"))
    assert m.solve().objective == Fraction(3, 2) + 10**400


def test_conventions_of_bounds() -> None:
    head = "NAME\nROWS\n N c\nCOLUMNS\n M 'MARKER' 'INTORG'\n x c 1\n y c 1\n M 'MARKER' 'INTEND'\nBOUNDS\n"
    m = read_mps(head + " UP B x -5\n UP B y 1e30\nENDATA\n")
    assert [str(v.domain) for v in m.variables.values()] == ["..-5", "0.."]
    m = read_lp("min\n x + y\nst\nbounds\n x <= -5\n y >= -1e30\ngeneral\n x y\nend")
    assert [str(v.domain) for v in m.variables.values()] == ["{}", ".."]


def test_an_indicator_is_an_implication() -> None:
    m = Model.of(read_lp("max\n x\nst\n c: b = 1 -> x <= 2\nbounds\n x <= 5\nbinary\n b\ngeneral\n x\nend"))
    expected = {(x, b) for x, b in product(range(6), range(2)) if b == 0 or x <= 2}
    assert {(r["x"], r["b"]) for r in m.iter_solutions()} == expected


LP = {
    "min\n x\nst\n x <= 3\nend": (2, r"'x' is a continuous variable(.|\n)*General"),
    "min\n [ x ^ 2 ]\nst\nend": (2, "quadratic"),
    "min\n x\nst\n x + y\n z <= 3\nend": (5, "a comparison is missing"),
    "min\n x\nst\n x <= y\nend": (4, "move all variables to the left"),
    "min\n x\nst\n x <= 3\ngeneral\n x": (6, "without End"),
    "x <= 3\nend": (1, "begins with the objective"),
    "min\n x\nst\n c: x <= 3\n c: x >= 1\nend": (5, "a second row is named 'c'"),
    "min\n x\nst\nbounds\n x <= 3 x >= 1\nend": (5, "a line of its own"),
    "min\n x\nsos1\n s: x\nend": (3, "special ordered sets"),
    "min\n x\nst\n x ? 3 <= 2\nend": (4, "a comparison is missing"),
    "min\n x\nst\n y = 2 -> x <= 2\nend": (4, "0 or 1"),
}
MPS_HEAD = "NAME\nROWS\n N c\n L r\nCOLUMNS\n M 'MARKER' 'INTORG'\n x c 1 r 1\n"
MPS = {
    "ROWS\n N c\n L r\nCOLUMNS\n x c 1\nENDATA": (5, "'x' is a continuous variable(.|\n)*MARKER"),
    MPS_HEAD: (8, "without ENDATA"),
    MPS_HEAD + " x r 2\nENDATA": (8, "second coefficient"),
    MPS_HEAD + " y q 2\nENDATA": (8, "no row 'q'"),
    MPS_HEAD + " y r two\nENDATA": (8, "'two' is not a number"),
    MPS_HEAD + "RHS\n A r 1\n B c 1\nENDATA": (10, "second one"),
    MPS_HEAD + "BOUNDS\n SC B x 4\nENDATA": (9, "semi-continuous"),
    MPS_HEAD + "BOUNDS\n UP B z 4\nENDATA": (9, "no column 'z'"),
    MPS_HEAD + "QUADOBJ\n x x 1\nENDATA": (8, "quadratic"),
    MPS_HEAD + "ROWS\n N c\nENDATA": (9, "declared twice"),
    MPS_HEAD + "FOO\nENDATA": (8, "no section 'FOO'"),
    " x 1\nENDATA": (1, "no section"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("dialect", "text", "line", "message"),
    [("lp", text, *error) for text, error in LP.items()]
    + [("mps", text, *error) for text, error in MPS.items()],
)
def test_errors_name_their_line(dialect: str, text: str, line: int, message: str) -> None:
    with pytest.raises(ParseError, match=message) as error:
        Model.from_text(text, dialect=dialect)
    assert error.value.line == line


@pytest.mark.parametrize("dialect", ["lp", "mps"])
def test_reading_is_limited(dialect: str) -> None:
    m = Model()
    xs = m.int_vars("x", 30, 0, 9)
    m.add(sum(x * 12345 for x in xs) <= 99999)
    text = m.to_text(dialect=dialect)
    Model.from_text(text, dialect=dialect)
    for name, value in {"variables": 29, "nodes": 30, "digits": 4, "bytes": 100}.items():
        with pytest.raises(LimitExceeded):
            Model.from_text(text, dialect=dialect, limits=Limits(**{name: value}))
    with pytest.raises(LimitExceeded, match="digits"):
        Model.from_text(text.replace("99999", "1e999999999"), dialect=dialect)


@pytest.mark.parametrize("dialect", ["lp", "mps"])
@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda m, x, y: m.add(x * y <= 5, name="area"), r"area: x \* y <= 5: a product"),
        (lambda m, x, y: m.add(x != m.int_var("w", 0, None)), "!= needs bounds of all its variables"),
        (lambda m, x, y: m.add(x // 2 == y), "floordiv is not linear"),
        (lambda m, x, y: m.add((x <= 2) | (y <= 2)), "comparison is not linear"),
        (lambda m, x, y: m.maximize(x, y), "several goals"),
        (lambda m, x, y: m.prefer((x, "max"), (y, "max")), "several goals"),
        (lambda m, x, y: m.minimize(x * y), "the objective: a product"),
        (lambda m, x, y: m.add(x + y <= 10**21), r"10\^20"),
        (lambda m, x, y: m.int_var("z", 0, 10**21), r"'z' has a number beyond 10\^20"),
    ],
)
def test_what_is_not_linear_is_refused_with_the_constraint(
    dialect: str, build: Callable[..., Any], message: str
) -> None:
    m = Model()
    x, y = m.int_var("x", 0, 9), m.int_var("y", 0, 9)
    build(m, x, y)
    with pytest.raises(ModelError, match=message):
        m.to_text(dialect=dialect)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("RANGES\n", "RANGES\n R obj 3\n"), "of kind N, and has no range"),
        (("ROWS\n", "ROWS free\n"), "stands behind the section's name"),
        (("ROWS\n", "OBJSENSE\n MAX\nOBJSENSE MIN\nROWS\n"), "second direction"),
    ],
)
def test_no_line_of_mps_is_dropped(change: Any, message: str) -> None:
    text = (
        "NAME a b\nROWS\n N obj\n L c\nCOLUMNS\n M MARKER INTORG\n x obj 1\n x c 1\n"
        "RHS\n RHS c 4\nRANGES\nENDATA\n"
    )
    read_mps(text)
    with pytest.raises(ParseError, match=message):
        read_mps(text.replace(*change))


def test_no_line_behind_the_end_of_lp_is_dropped() -> None:
    text = "min\n x\nst\n x >= 1\ngeneral\n x\nend\n \\ a comment\n"
    read_lp(text)
    with pytest.raises(ParseError, match=r":9:.*stands behind End"):
        read_lp(text + "x >= 7\n")


@pytest.mark.parametrize("suffix", [".lp", ".mps"])
@pytest.mark.parametrize("seed", range(12))
def test_differences_have_as_many_solutions_when_read_again(tmp_path: Path, suffix: str, seed: int) -> None:
    draw = random.Random(seed)
    m = Model()
    x = [m.int_var(f"x{i}", draw.randint(-3, 0), draw.randint(1, 3)) for i in range(3)]
    for _ in range(draw.randint(1, 3)):
        total = sum((draw.randint(-2, 2) * one for one in x), 0 * x[0] + draw.randint(-3, 3))
        m.add(draw.choice([total != draw.randint(-9, 9), ~(total == 1), x[0] != x[1]]))
    path = tmp_path / f"m{suffix}"
    m.write(path)
    again = read(path)
    names = [one.name for one in x]
    found = [tuple(one[name] for name in names) for one in again.iter_solutions()]
    assert len(found) == len(set(found)) == m.count()
    assert set(found) == {tuple(one.values.values()) for one in m.iter_solutions()}
