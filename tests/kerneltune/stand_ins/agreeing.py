"""Whether a document that a command printed agrees with its schema."""

from __future__ import annotations

import importlib
from typing import Any

from kerneltune.cli.documents import schema_of


def agrees(document: Any, command: str) -> None:
    """Raise the error of jsonschema for a document that does not agree."""
    jsonschema: Any = importlib.import_module("jsonschema")
    jsonschema.Draft202012Validator(schema_of(command)).validate(document)
