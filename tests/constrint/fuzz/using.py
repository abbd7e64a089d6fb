"""The use of an accepted model: it is written, read again, and solved briefly."""

from __future__ import annotations

from constrint import LimitExceeded, Model
from constrint.errors import ConstrintError, ModelError, Undefined

SMALL = 1500  # characters of a model that is solved, too
MOMENT = 0.1  # seconds


def use_model(model: Model) -> None:
    """Write a model in both formats, read both again, and solve a small one."""
    written = model.to_json()
    _read_again(lambda: Model.from_json(written), "JSON")
    try:
        text = model.to_text()
    except ModelError:
        text = None  # not every model has a form in the text language
    if text is not None:
        _read_again(lambda: Model.from_text(text), "text")
    repr(model)
    model._repr_html_()
    if len(written) <= SMALL:
        solve(model)


def solve(model: Model) -> None:
    """A moment of search; the result is printable."""
    try:
        result = model.solve(time_limit=MOMENT, engine="interpreted", learn=False)
    except ConstrintError:
        return
    str(result)


def _read_again(read: object, what: str) -> None:
    try:
        read()  # type: ignore[operator]
    except (LimitExceeded, Undefined):
        return
    except ConstrintError as error:
        raise AssertionError(f"what was written as {what} cannot be read: {error}") from error
