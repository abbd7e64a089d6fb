"""Stores of trials, kerneltune's sqlite files, as `kerneltune report` reads them."""

from __future__ import annotations

import json
import sqlite3
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fuzz.harness import NAME, Format
from kerneltune.cli.tables import show_report
from kerneltune.errors import KernelTuneError
from kerneltune.inputs.problem import Problem
from kerneltune.pipeline.tiling_trial import TilingTrial, configuration_of
from kerneltune.tiling.candidate import Candidate
from kerneltune.tuning.report import make_report
from kerneltune.tuning.store import SCHEMA, Store, StoredTiling

sys.path.append(str(Path(__file__).parents[2] / "kerneltune" / "stand_ins"))
from old_store import MEASUREMENT, write

WORDS = (
    "SQLite format 3\x00", "create table trials", "null", "{}", "[]", '"problem"', '"values"', '"cycles"',
    '"milliseconds"', "NaN", "-Infinity", "1e999", "true", '"\\ud800"', "\xff\xfe", "9" * 400,
    "text not null",
)  # fmt: skip


def read(data: bytes) -> list[StoredTiling]:
    """All trials of a file."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, NAME)
        place.write_bytes(data)
        store = Store(place)
        try:
            return store.tilings()
        finally:
            store.close()


def use(trials: list[StoredTiling]) -> None:
    """The report, as JSON and for people."""
    made = make_report(trials)
    json.dumps(made.to_json(), ensure_ascii=False).encode()
    show_report(made, Path(NAME))


def candidate() -> dict[str, Any]:
    """A candidate as a store has it."""
    names = ("threads", "blocks", "cluster", "shared_memory", "registers", "blocks_per_sm", "cycles")
    values = {name: 8 + i for i, name in enumerate(names)}
    problem = Problem("lstm", 2, 64, 16, "bf16")
    return Candidate("block", problem, "h100_sxm", 1980, {"rows": 16}, values).to_json()


def stored() -> dict[str, Any]:
    """A trial as a store has it."""
    tiling = Candidate.from_json(candidate())
    trial = TilingTrial(
        configuration_of(tiling),
        {"time": 0.5},
        fastest=0.4,
        notes={"runs": 3},
        device="GPU",
        candidate=tiling,
    )
    return trial.to_json()


def store(found: tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]) -> bytes:
    """A file with these rows of version 0.1 and of today, in tables that take anything."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "store")
        write(place, found[0], strict=False)
        connection = sqlite3.connect(place)
        connection.executescript(SCHEMA.replace(" not null", ""))
        connection.executemany("insert or replace into kernels values (?, ?, ?, ?, ?, ?, ?)", found[1])
        connection.commit()
        connection.close()
        return place.read_bytes()


def changed(document: dict[str, Any], path: list[int], value: Any, change: int) -> str:
    """A field, or one of a field's, in another form."""
    inner: Any = document
    for step in path:
        name = sorted(inner)[step % len(inner)]
        if isinstance(inner[name], dict) and inner[name]:
            inner = inner[name]
            continue
        if change == 1:
            inner[name] = value
        elif change == 2:
            del inner[name]
        elif change == 3:
            inner["unknown"] = value
        break
    return json.dumps(document)


def new_row(text: str, place: int, value: Any, number: int) -> tuple[Any, ...]:
    """The columns of a row, of which one may be something else."""
    made: list[Any] = [f"key{number}", "2026", "lstm 2×64", "content", "GPU", '{"steps": 1}', text]
    if place < len(made):
        made[place] = value
    return tuple(made)


def grammar() -> Any:
    """Stores with a row or two, of which a value or a field of its JSON is something else."""
    from hypothesis import strategies as st

    odd = st.sampled_from(
        [
            None,
            1.5,
            "",
            "x",
            -1,
            0,
            2**62,
            True,
            b"\xff\xfe",
            "[]",
            "{}",
            "null",
            "NaN",
            "[" * 3000,
            "\x00",
            "1",
        ]
    )
    plain: Any = st.sampled_from(
        [None, [], {}, "x", -1, 0, 1.5, True, 10**30, "\ud800", [[]], 1e308, {"a": "b"}]
    )

    paths = st.lists(st.integers(0, 30), min_size=1, max_size=3)
    changes = st.sampled_from([0, 0, 1, 1, 1, 2, 3])
    candidates = st.builds(lambda p, v, c: changed(candidate(), p, v, c), paths, plain, changes)
    measured = st.builds(lambda p, v, c: changed(dict(MEASUREMENT), p, v, c), paths, plain, changes)

    def row(text: str, found: str | None, place: int, value: Any, number: int) -> tuple[Any, ...]:
        problem = json.dumps(asdict(Problem("lstm", 2, 64, 16, "bf16")), sort_keys=True)
        made: list[Any] = [
            f"key{number}", "2026-01-01T00:00:00+00:00", "h100_sxm", "GPU", problem, "block", text, found,
            None if found else "why", 0,
        ]  # fmt: skip
        if place < len(made):
            made[place] = value
        return tuple(made)

    trials = st.builds(lambda p, v, c: changed(stored(), p, v, c), paths, plain, changes)
    new = st.builds(new_row, trials, st.integers(0, 20), odd, st.integers(0, 99))
    rows = st.builds(row, candidates, measured | st.none(), st.integers(0, 30), odd, st.integers(0, 99))
    return st.tuples(st.lists(rows, max_size=3), st.lists(new, max_size=3)).map(store)


FORMAT = Format("trials", read, use, grammar, WORDS, refusals=(KernelTuneError,), path_like=True)
