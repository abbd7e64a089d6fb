"""Reading a row of a store: every column is checked before use."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kerneltune.errors import InputError
from kerneltune.inputs.problem import checked
from kerneltune.running.measure import Measurement
from kerneltune.tiling.candidate import Candidate

DAMAGES = (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError, InputError)


@dataclass(frozen=True)
class StoredRow:
    """The content of a row.

    Attributes:
        key: The trial's key.
        measured: Its time, UTC.
        candidate: The candidate.
        measurement: The result, or None.
        failure: The reason why there is no result, or None.
    """

    key: str
    measured: str
    candidate: Candidate
    measurement: Measurement | None
    failure: str | None

    @classmethod
    def read(
        cls, path: Path, key: Any, measured: Any, candidate: Any, measurement: Any, failure: Any
    ) -> StoredRow:
        """Check the columns of a row; raises `InputError` with the store and the trial."""
        try:
            return cls(
                _text(key, "key"),
                _text(measured, "measured"),
                Candidate.from_json(json.loads(_text(candidate, "candidate"))),
                None
                if measurement is None
                else Measurement.from_json(json.loads(_text(measurement, "measurement"))),
                None if failure is None else _text(failure, "failure"),
            )
        except DAMAGES as error:
            named = ascii(key[:12])[1:-1] if isinstance(key, str) else "without a key"
            said = f"{error} is missing" if isinstance(error, KeyError) else ascii(str(error)[:200])[1:-1]
            raise InputError(f"the store {path} has a damaged trial {named}: {said}") from None


def _text(value: Any, name: str) -> str:
    text: str = checked(value, str, name)
    text.encode()  # a lone surrogate cannot be shown
    return text
