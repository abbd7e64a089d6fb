"""Every arithmetic function of the registry: each rule of its definition against its `value`.

Nothing here names a function, so a new one is tested once it is registered.
"""

from __future__ import annotations

import itertools
import pickle
import zlib
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from constrint import IntExpr, IntVar, Model, ModelError, Undefined
from constrint.diagrams.ranges import Evaluation
from constrint.expr import FUNCTIONS, Const, IntFunction, definedness
from constrint.expr.arithmetic.base import Bounds
from constrint.expr.domain import Domain
from constrint.expr.ranges import Never, Unsupported, affine
from constrint.expr.written import write_expression

DOCS = Path(__file__).parents[3] / "docs"
OF_NUMBERS = {name: f for name, f in FUNCTIONS.items() if hasattr(f, "value")}
"""The functions whose operands are numbers and that have a value for each of them."""

every = pytest.mark.parametrize("function", OF_NUMBERS.values(), ids=OF_NUMBERS)


def drawn(function: type[IntFunction], salt: int = 0) -> Random:
    """A source of randomness that is the same in every run."""
    return Random(zlib.crc32(function.name.encode()) + salt)


def arity(function: type[IntFunction], random: Random) -> int:
    return random.randint(function.fewest, function.most or function.fewest + 2)


def value(function: type[IntFunction], operands: tuple[int, ...]) -> int | None:
    """The value; None where there is none."""
    try:
        return function.value(*operands)
    except Undefined:
        return None


def meets(function: type[IntFunction], operands: tuple[int, ...]) -> bool:
    return all(operands[i] != 0 if way == "!=" else operands[i] >= 0 for i, way in function.requires.items())


def boxes(function: type[IntFunction], count: int) -> Iterator[tuple[Bounds, ...]]:
    """Small bounds on the operands, now and then of one value."""
    random = drawn(function)
    for _ in range(count):
        found = []
        for _ in range(arity(function, random)):
            lo = random.randint(-9, 12)
            found.append((lo, lo + random.choice([0, 0, 1, 3, 6])))
        yield tuple(found)


def points(box: tuple[Bounds, ...]) -> Iterator[tuple[int, ...]]:
    return itertools.product(*[range(lo, hi + 1) for lo, hi in box])


def test_the_suite_has_functions() -> None:
    assert len(OF_NUMBERS) >= 8
    assert all(name == function.name for name, function in FUNCTIONS.items())


@every
def test_it_has_a_value_exactly_where_its_operands_meet_its_requirements(function: type[IntFunction]) -> None:
    random = drawn(function)
    for _ in range(200):
        operands = tuple([random.randint(-6, 9) for _ in range(arity(function, random))])
        expr = function.of(tuple([Const(operand) for operand in operands]))
        assert (value(function, operands) is not None) == meets(function, operands)
        assert all(need.evaluate({}) for need in definedness(expr)) == meets(function, operands)
        if meets(function, operands):
            assert expr.evaluate({}) == function.value(*operands)
        else:
            with pytest.raises(Undefined):
                expr.evaluate({})


@every
def test_bounds_contain_every_value(function: type[IntFunction]) -> None:
    for box in boxes(function, 300):
        lo, hi = function.bounds(*box)
        found = [value(function, point) for point in points(box)]
        assert all(lo <= known <= hi for known in found if known is not None), (box, lo, hi)
        same = function.same_as(*box)
        if same is not None:
            assert all(value(function, point) in (point[same], None) for point in points(box)), box


@every
def test_it_never_falls_where_it_says_so(function: type[IntFunction]) -> None:
    if not function.is_isotone:
        return
    random = drawn(function)
    for _ in range(300):
        low = [random.randint(0, 40) for _ in range(arity(function, random))]
        high = [operand + random.choice([0, 1, 5]) for operand in low]
        assert function.value(*low) <= function.value(*high)


@every
def test_ranges_contain_every_value(function: type[IntFunction]) -> None:
    random = drawn(function)
    for _ in range(300):
        count, last = arity(function, random), random.randint(0, 5)
        ways = [(random.choice([0, 0, 1, 2, -3, 6]), random.randint(-8, 12)) for _ in range(count)]
        variables = tuple([IntVar(f"v{i}", Domain(None, None)) for i in range(count)])
        known = {f"v{i}": affine(slope, start, (0, last)) for i, (slope, start) in enumerate(ways)}
        evaluation = Evaluation(known)
        values = [
            value(function, tuple([start + slope * k for slope, start in ways])) for k in range(last + 1)
        ]
        try:
            found = evaluation.of(function.of(variables))
        except Never:
            assert values == [None] * (last + 1)
            continue
        except Unsupported:
            continue
        assert evaluation.is_open or None not in values
        for k, known_value in enumerate(values):
            if known_value is None:
                continue
            assert found.lo <= known_value <= found.hi, (ways, k)
            assert known_value == found.residue or (
                found.modulus and (known_value - found.residue) % found.modulus == 0
            )
            if found.slope is not None:
                assert known_value == found.start + found.slope * k


@every
@pytest.mark.parametrize("dtype", [np.int32, np.int64, object])
def test_columns_have_the_values(function: type[IntFunction], dtype: type) -> None:
    for box in boxes(function, 40):
        rows = [point for point in points(box) if meets(function, point)]
        if not rows or (dtype is not object and max(map(abs, function.bounds(*box))) > np.iinfo(dtype).max):
            continue
        operands: Any = [np.array(column, dtype=dtype) for column in zip(*rows, strict=True)]
        found = function.column(operands, box)
        assert [int(x) for x in found] == [function.value(*row) for row in rows]
        assert found.dtype == dtype


@every
def test_its_relation_has_one_result(function: type[IntFunction]) -> None:
    if function.relation.__func__ is IntFunction.relation.__func__:  # type: ignore[attr-defined]
        return
    for box in boxes(function, 60):
        lo, hi = function.bounds(*box)
        for point in [point for point in points(box) if meets(function, point)]:
            operands = [Const(operand) for operand in point]
            found = [
                result
                for result in range(lo - 2, hi + 3)
                if all(part.evaluate({}) for part in function.relation(Const(result), *operands))
            ]
            assert found == [function.value(*point)]


def model_of(function: type[IntFunction], salt: int) -> tuple[Model, set[tuple[int, ...]]]:
    """A small model with the function, and its solutions."""
    random = drawn(function, salt)
    model = Model()
    variables: list[IntVar] = []
    for i in range(arity(function, random)):
        lo = random.randint(-6, 5)
        values = [lo + random.randint(0, 14) for _ in range(4)] if random.random() < 0.3 else None
        hi = lo + random.choice([0, 2, 5, 7])
        variables.append(model.int_var(f"v{i}", values=values) if values else model.int_var(f"v{i}", lo, hi))
    operands: list[IntExpr] = [random.choice([v, v, v + 1, 2 * v, -v]) for v in variables]
    number = function.of(tuple(operands))
    bound = random.choice([0, 1, 2, 3, 6])
    kind = random.choice(["==", "<=", "not", "or", "counted"])
    condition = {
        "==": lambda: number == bound,
        "<=": lambda: number + variables[0] <= bound,
        "not": lambda: ~(number <= bound),
        "or": lambda: (number == bound) | (variables[0] == 1),
        "counted": lambda: (number > bound) + 2 * (variables[-1] > 2) != 1,
    }[kind]()
    model.add(condition)
    found = {
        point
        for point in itertools.product(*[variable.domain for variable in variables])
        if condition.evaluate(dict(zip(variables, point, strict=True)))
    }
    return model, found


@every
def test_models_with_it_have_its_solutions(function: type[IntFunction]) -> None:
    for salt in range(25):
        model, expected = model_of(function, salt)
        names = list(model.variables)
        found = [
            tuple(solution[name] for name in names) for solution in model.iter_solutions(engine="interpreted")
        ]
        assert sorted(found) == sorted(expected), model.to_text()
        assert model.count() == len(expected), model.to_text()


@every
def test_other_languages_have_it(function: type[IntFunction]) -> None:
    pytest.importorskip("sympy")
    for salt in range(6):
        model, expected = model_of(function, salt)
        read = {
            "text": Model.from_text(model.to_text()),
            "json": Model.from_json(model.to_json()),
            "sympy": Model.from_sympy(model.to_sympy()),
            "pickle": pickle.loads(pickle.dumps(model)),  # noqa: S301 - what was just written
        }
        for language, again in read.items():
            assert again.count() == len(expected), (language, model.to_text())
        assert read["text"].to_text() == model.to_text()
        assert [repr(c.expr) for c in read["json"].constraints] == [repr(c.expr) for c in model.constraints]


@every
def test_cp_sat_has_it(function: type[IntFunction]) -> None:
    pytest.importorskip("ortools")
    for salt in range(6):
        model, expected = model_of(function, salt)
        try:
            result = model.solve(backend="cp-sat")
        except ModelError as error:
            assert "CP-SAT" in str(error)  # noqa: PT017 - what it cannot hold, it says so
            continue
        found = tuple([result[name] for name in model.variables]) if result else None
        assert found in expected if expected else found is None


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_the_manual_names_it(function: type[IntFunction]) -> None:
    manual = (DOCS / "constrint-text.md").read_text(encoding="utf-8")
    written = f"`{function.symbol}`" if function.infix and function.symbol else f"`{function.name}("
    assert function.infix or written in manual


def test_the_element_of_expressions_is_one_node() -> None:
    from constrint import element
    from constrint.propagators import Selection

    model = Model()
    x, y, k = model.int_var("x", 0, 9), model.int_var("y", 0, 9), model.int_var("k", -1, 4)
    chosen = element([x, y, x + y], k)
    assert write_expression(chosen) == "[x, y, x + y][k]"
    model.add(chosen == 4)
    expected = sum(
        0 <= c < 3 and [a, b, a + b][c] == 4 for a in range(10) for b in range(10) for c in range(-1, 5)
    )
    for again in (model, Model.from_text(model.to_text()), Model.from_json(model.to_json())):
        assert again.count() == len(list(again.iter_solutions(engine="interpreted"))) == expected
        assert type(again.constraints[0].expr.left) is type(chosen)  # type: ignore[attr-defined]
    from constrint.lowering.conditions import Lowering

    lowering = Lowering()
    for variable in model.variables.values():
        lowering.declare(variable)
    for constraint in model.constraints:
        lowering.require(constraint.expr)
    assert sum(type(node) is Selection for node in lowering.problem.propagators) == 1
