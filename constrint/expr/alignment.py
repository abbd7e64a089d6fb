"""Labels of arrays, series and data frames that stand beside each other element by element.

Elements go by their places. Where both sides have labels, the places of the same label must agree: a series
or a frame of pandas is taken in the order of the other side, anything else is an error. The numbers of a
pandas index are the places of its rows, unless rows were put in another order: then places and labels
disagree, and which of them is meant is not known.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import FrameType
from typing import Any

from constrint.errors import ModelError
from constrint.expr.array_shapes import Labels, label_text

_MOST_LISTED = 6  # labels that a message lists


def labels_along(value: object) -> Labels:
    """The labels of each axis of an array of expressions, a series or a frame; None for an axis without.

    Empty for everything else, which never has labels.
    """
    labels: Labels | None = getattr(value, "labels", None) if hasattr(value, "flat") else None
    if labels is not None:
        return labels
    if not (hasattr(value, "to_numpy") and hasattr(value, "axes")):
        return ()
    return tuple(map(_of_index, value.axes))


def _of_index(index: Any) -> tuple[Any, ...] | None:
    """The labels of an index of pandas; None for numbers, which count rows."""
    if type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1):
        return None
    labels = tuple(index.tolist())
    if not all(isinstance(label, int) for label in labels):
        return labels
    if labels != tuple(range(len(labels))) and sorted(labels) == list(range(len(labels))):
        raise ModelError(
            f"the rows of this series or frame are in another order than their numbers, {_listed(labels)}: "
            "write series.to_numpy() to take them by their places, series.sort_index() by their numbers"
        )
    return None


def paired(left: Any, right: Any, axes: Sequence[tuple[int, int]] = ((-1, -1), (-2, -2), (-3, -3))) -> Any:
    """The two sides of an operation, the labels of which agree.

    Args:
        left: An array, a series, a frame, or anything else.
        right: The other side.
        axes: The axes that go together, counted from the last.
    """
    mine, other = labels_along(left), labels_along(right)
    if not mine or not other:
        return left, right
    for axis, opposite in axes:
        if -axis > len(mine) or -opposite > len(other):
            continue
        own, others = mine[axis], other[opposite]
        if own is None or others is None or own == others or len(own) != len(others):
            continue
        if hasattr(right, "to_numpy"):
            right = _ordered(right, opposite, others, own)
        elif hasattr(left, "to_numpy"):
            left = _ordered(left, axis, own, others)
        else:
            raise ModelError(
                "two arrays with other labels stand beside each other element by element: take the "
                "elements in one order, as in x[['ann', 'bob']], or drop the labels by array(x.flat)"
            )
    return left, right


def _ordered(frame: Any, axis: int, labels: tuple[Any, ...], wanted: tuple[Any, ...]) -> Any:
    """A series or frame along an axis in the order of the labels of an array."""
    places = {label: place for place, label in enumerate(labels)}
    names = wanted if places.keys() == set(wanted) else tuple(map(label_text, wanted))
    if places.keys() != set(names) or len(places) < len(labels):
        raise ModelError(
            f"the array has the labels {_listed(wanted)}, and the series or frame beside it has "
            f"{_listed(labels)}: give it those of the array, or write series.to_numpy() to go by places"
        )
    number = axis % len(frame.axes)
    return frame.take([places[name] for name in names], axis=number).set_axis(list(wanted), axis=number)


def by_column(values: Any, rows: Any) -> Any:
    """The rows of a table; of a frame with the names or labels of the values, in the order of the values."""
    if not hasattr(rows, "columns") or not hasattr(rows, "take"):
        return rows
    columns, wanted = tuple(rows.columns), _names_of(values)
    return _ordered(rows, -1, columns, wanted) if wanted != columns and set(wanted) == set(columns) else rows


def parallel(arguments: Sequence[Any]) -> list[Any]:
    """The arguments of a constraint, of which some are lists that go together by their places.

    A series with the labels of an array among them, or the names in a list, is taken in that order.
    """
    given = list(arguments)
    of_pandas = [place for place, one in enumerate(given) if hasattr(one, "to_numpy")]
    if not of_pandas or len(given) == 1:
        return given
    names = next(filter(None, map(_names_of, given)), ())
    for place in of_pandas:
        labels = labels_along(given[place])
        if len(labels) == 1 and labels[0] and labels[0] != names and set(labels[0]) == set(names):
            given[place] = _ordered(given[place], -1, labels[0], names)
    return given


def _names_of(values: object) -> tuple[object, ...]:
    """The labels of an array along one axis, or the names of variables or intervals in a list; or none."""
    if isinstance(values, list | tuple):
        names = tuple([getattr(one, "name", None) for one in values])
        return () if None in names else names
    labels = labels_along(values) if hasattr(values, "flat") else ()
    return (labels[0] or ()) if len(labels) == 1 else ()


def check_pandas_product(array: object, asking: FrameType) -> None:
    """Raise `ModelError` if pandas asks for an array to multiply it, `series @ array`, in another order."""
    if asking.f_code.co_name == "dot" and asking.f_globals.get("__name__", "").startswith("pandas."):
        labels, own = labels_along(asking.f_locals.get("self")), labels_along(array)
        opposite = own[-2:-1] or own
        if labels and opposite and None not in (labels[-1], opposite[0]) and labels[-1] != opposite[0]:
            raise ModelError(
                f"the series or frame has the labels {_listed(labels[-1] or ())}, and the array "
                f"{_listed(opposite[0] or ())}: write array(series) @ x, in the order of the array's labels"
            )


def _listed(labels: Sequence[object]) -> str:
    return ", ".join(map(repr, labels[:_MOST_LISTED])) + (", …" if len(labels) > _MOST_LISTED else "")


def usable(labels: Labels) -> Labels | None:
    """The labels that an array can have: those of axes with other labels than numbers, each once."""
    kept = tuple([own if own and _are_names(own) else None for own in labels])
    return kept if any(own is not None for own in kept) else None


def _are_names(labels: tuple[object, ...]) -> bool:
    return len(set(labels)) == len(labels) and not any(hasattr(label, "__index__") for label in labels)
