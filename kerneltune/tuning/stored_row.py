"""A row of a store as it is read: whatever stands in the file is checked before anything is made of it."""

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
    """What a row says.

    Attributes:
        key: The trial's key.
        measured: When it was made, UTC.
        candidate: What was tried.
        measurement: What was found, or None.
        failure: Why nothing was found, or None.
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
    text.encode()  # half of a character cannot be shown
    return text
