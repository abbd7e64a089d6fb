"""The use of an accepted model that may be large although its text is short."""

from __future__ import annotations

from constrint import Model, ModelError
from fuzz.using import SMALL, solve, use_model

MOST_VARIABLES = 500
LONGEST = (
    20_000  # characters of a model that is written as text and read again, which takes a second for more
)


def use_any(model: Model) -> None:
    """The whole round trip for a small model; otherwise what does not write it out."""
    repr(model)
    if len(model.variables) > MOST_VARIABLES:
        return
    written = model.to_json()
    if len(written) > LONGEST or _length(model) > LONGEST:
        Model.from_json(written)
        return
    use_model(model)
    if len(written) > SMALL:
        solve(model)


def _length(model: Model) -> int:
    """Characters of the model as text; 0 where it has no such form."""
    try:
        return len(model.to_text())
    except ModelError:
        return 0
