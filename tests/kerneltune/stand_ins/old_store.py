"""Stores of version 0.1, as they were written."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kerneltune.tiling.candidate import Candidate

SCHEMA = """
create table if not exists trials (
  key text primary key, measured text not null, gpu text not null, device text, problem text not null,
  strategy text not null, candidate text not null, measurement text, failure text, died integer not null
);
create index if not exists trials_of_problem on trials (gpu, problem);
"""
LIMITS = "create table if not exists limits (key text primary key, seconds real not null)"
MEASUREMENT = {
    "device": "GPU",
    "seed": 1,
    "relative_error": 1e-3,
    "right": True,
    "verdict": "relative error 1.00e-03, within 5e-03",
    "runs": 3,
    "runs_with_same_bits": 3,
    "milliseconds": 0.5,
    "fastest": 0.4,
    "microseconds_per_step": 0.5,
    "predicted_microseconds_per_step": 0.4,
    "ratio": 1.25,
    "passed": True,
}


def row(
    key: str,
    candidate: Candidate,
    measurement: dict[str, Any] | None,
    failure: str | None = None,
    died: int = 0,
) -> tuple[Any, ...]:
    """The columns of a trial."""
    return (
        *(key, "2026-01-01T00:00:00+00:00", candidate.gpu, measurement and measurement["device"]),
        json.dumps(asdict(candidate.problem), sort_keys=True),
        candidate.strategy,
        json.dumps(candidate.to_json(), sort_keys=True),
        None if measurement is None else json.dumps(measurement, sort_keys=True),
        *(failure, died),
    )


def write(
    path: Path,
    rows: Iterable[tuple[Any, ...]],
    limits: Iterable[tuple[str, float]] | None = (),
    strict: bool = True,
) -> None:
    """A store with these rows and limits; without ``strict`` it takes any value.

    A store without limits (None) is older than those.
    """
    connection = sqlite3.connect(path)
    schema = SCHEMA if strict else SCHEMA.replace(" not null", "")
    connection.executescript(f"{schema} {LIMITS if limits is not None else ''}; pragma user_version = 1;")
    connection.executemany("insert or replace into trials values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    if limits is not None:
        connection.executemany("insert into limits values (?, ?)", limits)
    connection.commit()
    connection.close()
