"""The base of the documents that `--json` prints, and their numbers."""

from __future__ import annotations

from typing import Annotated

import msgspec

Value = int | float | str | bool
Configuration = dict[str, Value]
Count = Annotated[int, msgspec.Meta(ge=0)]
Milliseconds = Annotated[float, msgspec.Meta(gt=0, description="milliseconds")]
Seconds = Annotated[float, msgspec.Meta(ge=0, description="seconds")]


class Document(msgspec.Struct, forbid_unknown_fields=True):
    """The base of all documents: each field is there, and no other."""
