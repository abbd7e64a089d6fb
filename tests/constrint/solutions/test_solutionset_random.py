"""Every method of a solution set, on random models and random spaces, compared with the list."""

from __future__ import annotations

import csv
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import pyarrow.parquet  # type: ignore[import-untyped]
import pytest
from random_models import draw_model

from constrint import ModelError
from constrint.solutions.solutionset import SolutionSet
from constrint.tuning.spaces import from_tune_params

LABELS = [
    [0.5, 2, 3.25],
    ["row", "col & x", ""],
    [False, True],
    [1, "one", None, (1, 2)],
    [2**70, 5, -(2**80)],
]
TESTS = ["{} != {}", "{} == {} or {} == {}", "not ({} == {})", "{} in ({}, {})"]


def random_space(seed: int) -> SolutionSet:
    random = Random(seed)
    values: dict[str, list[Any]] = {}
    for i in range(random.randint(1, 5)):
        given: Any = random.choice([*LABELS, list(range(random.randint(1, 6))), [3, 1, 2, -200]])
        values[f"p{i}"] = random.sample(given, len(given))
    plain = [
        name
        for name in values
        if all(isinstance(v, int | float) and v in range(-9999, 9999) for v in values[name])
    ]
    texts = []
    for _ in range(random.randint(0, 2)):
        if len(plain) > 1:
            a, b = random.sample(plain, 2)
            texts.append(random.choice(["{} <= {}", "{} + {} > 2", "{} * {} != 4"]).format(a, b))
    return from_tune_params(values, texts)


def _is_small(value: Any) -> bool:
    return isinstance(value, int | float) and abs(value) < 9999


def check(solutions: SolutionSet, random: Random) -> None:
    """Compare every answer with the list."""
    rows = list(solutions)
    assert len(rows) == solutions.size == len(solutions)
    assert len({repr(row) for row in rows}) == len(rows)
    check_numbers(solutions, rows, random)
    check_lists(solutions, rows)
    check_questions(solutions, rows, random)
    check_neighbours(solutions, rows, random)


def check_numbers(solutions: SolutionSet, rows: list[dict[str, Any]], random: Random) -> None:
    for _ in range(5):
        i = random.randrange(len(rows))
        assert solutions[i] == solutions[i - len(rows)] == rows[i]
        assert solutions.index(rows[i]) == solutions.index(list(rows[i].values())) == i
        start, stop = (random.choice([None, random.randint(-9, 9)]) for _ in range(2))
        cut = slice(start, stop, random.choice([None, 3, -2]))
        assert solutions[cut] == rows[cut]
    drawn = solutions.sample(len(rows) // 2 + 1, seed=1)
    assert len({repr(row) for row in drawn}) == len(drawn) == len(rows) // 2 + 1
    assert all(row in solutions for row in drawn)


def check_lists(solutions: SolutionSet, rows: list[dict[str, Any]]) -> None:
    tuples = [tuple(row.values()) for row in rows]
    assert solutions.to_tuples() == tuples
    assert [tuple(row) for row in solutions.to_numpy().tolist()] == tuples
    assert [tuple(row) for chunk in solutions.iter_chunks(7) for row in chunk.tolist()] == tuples
    columns = solutions.to_columns()
    assert list(zip(*[column.tolist() for column in columns.values()], strict=True)) == tuples
    for part in solutions.iter_columns(7):
        assert {name: column.dtype for name, column in part.items()} == {
            name: solutions.column_type(name) for name in solutions.names
        }
    frame = solutions.to_pandas()
    assert list(frame.columns) == list(solutions.names)
    assert [tuple(row) for row in frame.astype(object).itertuples(index=False)] == tuples
    for v, name in enumerate(solutions.names):
        found = solutions.values_of(name)
        assert sorted(map(repr, found)) == sorted({repr(row[v]) for row in tuples})


def check_questions(solutions: SolutionSet, rows: list[dict[str, Any]], random: Random) -> None:
    name = random.choice(solutions.names)
    counted: dict[str, int] = {}
    for row in rows:
        counted[repr(row[name])] = counted.get(repr(row[name]), 0) + 1
    assert {repr(value): count for value, count in solutions.value_counts(name).items()} == counted
    several = random.sample(solutions.names, random.randint(1, len(solutions.names)))
    wanted = {other: rows[0][other] for other in several}
    given = [row for row in rows if all(row[other] == value for other, value in wanted.items())]
    assert list(solutions.given(**wanted)) == given
    for wrong in (object(), {"no value"}):
        with pytest.raises(ModelError, match="is not a value of"):
            solutions.given(**{name: wrong})
    some = set(random.sample(solutions.values_of(name), random.randint(1, len(solutions.values_of(name)))))
    assert list(solutions.given(**{name: some})) == [row for row in rows if row[name] in some]
    assert list(solutions.given(**{name: range(-1, 3)})) == [row for row in rows if row[name] in range(-1, 3)]
    assert solutions.given(**{name: set()}).size == 0
    kept = random.sample(solutions.names, random.randint(1, len(solutions.names)))
    projected = solutions.project(kept)
    assert projected.names == tuple(kept)
    assert {repr(list(row.values())) for row in projected} == {repr([row[n] for n in kept]) for row in rows}
    assert len(list(projected)) == projected.size
    half = solutions.given(**{name: rows[-1][name]})
    assert (solutions - half) | half == solutions
    rest = list(solutions - half)
    assert len(rest) == sum(row[name] != rows[-1][name] for row in rows)
    assert all(row in rows and row[name] != rows[-1][name] for row in rest)


def check_neighbours(solutions: SolutionSet, rows: list[dict[str, Any]], random: Random) -> None:
    here = random.choice(rows)
    near = solutions.neighbours(here)
    want = [row for row in rows if sum(row[n] != here[n] for n in here) == 1]
    assert sorted(map(repr, near)) == sorted(map(repr, want))
    beside = solutions.neighbours(here, kind="adjacent")
    assert all(row in near for row in beside)
    for row in beside:
        (name,) = (n for n in here if row[n] != here[n])
        values = solutions.values_of(name)
        assert abs(values.index(row[name]) - values.index(here[name])) == 1


def check_files(solutions: SolutionSet, folder: Path) -> None:
    """Files against the list; what a kind of file cannot hold is refused by name."""
    rows = solutions.to_tuples()
    solutions.to_csv(folder / "a.csv", rows=5)
    with (folder / "a.csv").open(newline="", encoding="utf-8") as file:
        read = list(csv.reader(file))
    columns = [column.tolist() for column in solutions.to_columns().values()]
    written = [["" if value is None else str(value) for value in row] for row in zip(*columns, strict=True)]
    assert read == [list(solutions.names), *written]
    if solutions.dtype == object:
        with pytest.raises(ModelError, match="npy holds numbers"):
            solutions.to_npy(folder / "a.npy")
    else:
        solutions.to_npy(folder / "a.npy", rows=5)
        assert np.array_equal(np.load(folder / "a.npy", allow_pickle=False), solutions.to_numpy())
    if any((1, 2) in solutions.values_of(name) for name in solutions.names):
        with pytest.raises(ModelError, match="have no common type in a Parquet file"):
            solutions.to_parquet(folder / "never.parquet")
        assert not (folder / "never.parquet").exists()
        return
    solutions.to_parquet(folder / "a.parquet", rows=5)
    table = pyarrow.parquet.read_table(folder / "a.parquet")
    assert table.column_names == list(solutions.names)
    read = zip(*[table[name].to_pylist() for name in solutions.names], strict=True)  # type: ignore[assignment]
    assert list(read) == rows  # type: ignore[comparison-overlap]
    assert pyarrow.parquet.ParquetFile(folder / "a.parquet").num_row_groups == -(-len(rows) // 5)


@pytest.mark.parametrize("block", range(4))
def test_random_models(block: int, tmp_path: Path) -> None:
    for seed in range(95_000 + 40 * block, 95_000 + 40 * (block + 1)):
        solutions = draw_model(seed).build().solutions()
        if 0 < solutions.size < 3000:
            check(solutions, Random(seed))
            check_files(solutions.project(solutions.names[:2]), tmp_path)


@pytest.mark.parametrize("block", range(4))
def test_random_spaces(block: int, tmp_path: Path) -> None:
    for seed in range(25 * block, 25 * (block + 1)):
        solutions = random_space(seed)
        if 0 < solutions.size < 3000:
            check(solutions, Random(seed))
            check_files(solutions, tmp_path)
            solutions.save(tmp_path / "a.npz")
            again = SolutionSet.load(tmp_path / "a.npz")
            assert again.to_tuples() == solutions.to_tuples()
            assert again == solutions


def test_sets_of_nothing_and_of_no_variables(tmp_path: Path) -> None:
    everything = from_tune_params({"a": [1, 2], "b": ["x", "y"]})
    empty = everything.given(a=3)
    assert empty.to_numpy().shape == (0, 2)
    assert empty.to_pandas().shape == (0, 2)
    assert empty.to_columns()["b"].dtype == object
    assert list(empty) == empty.to_tuples() == empty.sample(4) == list(empty.iter_chunks()) == []  # type: ignore[comparison-overlap]
    assert empty.values_of("a") == []
    assert empty.value_counts("a") == {}
    empty.to_csv(tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text(encoding="utf-8").splitlines() == ["a,b"]
    empty.to_parquet(tmp_path / "a.parquet")
    assert pd.read_parquet(tmp_path / "a.parquet").shape == (0, 2)
    with pytest.raises(IndexError, match="0 solutions"):
        empty[0]
    nothing = from_tune_params({})
    assert nothing.size == 1
    assert list(nothing) == [{}]
    assert nothing.to_tuples() == [()]
    assert nothing[0] == {}
    assert {} in nothing
    assert nothing & nothing == nothing


def test_a_list_that_is_too_long_is_refused() -> None:
    space = from_tune_params({f"p{i}": list(range(100)) for i in range(12)})
    for listing in (space.to_numpy, space.to_tuples, space.to_columns):
        with pytest.raises(ModelError, match="too many for a list: use iter_chunks"):
            listing()
    assert next(space.iter_chunks(3)).tolist() == [[0] * 11 + [i] for i in range(3)]


def test_products_of_all_kinds_of_values() -> None:
    kinds = {f"p{i}": values for i, values in enumerate(LABELS)}
    space = from_tune_params(kinds)  # type: ignore[arg-type]
    want = {repr(row) for row in product(*kinds.values())}  # type: ignore[call-overload]
    assert {repr(row) for row in space.to_tuples()} == want
    assert space.dtype == object
