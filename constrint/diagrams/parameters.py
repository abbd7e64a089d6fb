"""A tuner's parameters: checked values, and the codes that stand for them in diagrams."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from constrint.diagrams.planner import Planner
from constrint.diagrams.reading import read
from constrint.diagrams.restrictions import Parameters
from constrint.diagrams.terms import FLOAT, INT64, OBJECT, Array
from constrint.errors import ModelError
from constrint.support.deadline import check_deadline

EXACT_FLOAT = 1 << 53


def checked(tune_params: Mapping[str, Iterable[object]]) -> dict[str, list[object]]:
    """The values of each parameter as a list of Python objects; raises `ModelError` for invalid ones."""
    if not isinstance(tune_params, Mapping):
        raise ModelError(f"the parameters are a dict of lists of values, not {tune_params!r}")
    found: dict[str, list[Any]] = {}
    for name, given in tune_params.items():
        check_deadline()
        if not isinstance(name, str) or not name.isidentifier():
            raise ModelError(f"a parameter's name must be an identifier, not {_short(name)}")
        if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
            raise ModelError(f"'{name}': the values must be a list, not {_short(given)}")
        values = list(given)
        if not values:
            raise ModelError(f"'{name}' has no values")
        kinds = _types(values)
        if any(issubclass(kind, np.generic) for kind in kinds):
            values = [value.item() if isinstance(value, np.generic) else value for value in values]
            kinds = _types(values)
        if any(issubclass(kind, np.ndarray) for kind in kinds):
            raise ModelError(f"'{name}' has arrays as values, which have no equality: write tuples")
        _check_distinct(name, values, kinds)
        _check_numbers(name, values, kinds)
        found[name] = values
    return found


def _types(values: Iterable[object]) -> set[type]:
    """The types among values: lists may have millions of values, so they are not looked at one by one."""
    return set(map(type, values))


def _short(value: object) -> str:
    """A value for a message."""
    text = repr(value[:80] if isinstance(value, str | bytes) else value)
    return text if len(text) <= 200 else f"{text[:200]}…"


def _check_distinct(name: str, values: list[object], kinds: set[type]) -> None:
    hashable = all(issubclass(kind, bool | int | float | str) for kind in kinds)
    if len(set(values) if hashable else {_key(value) for value in values}) == len(values):
        return
    seen: list[object] = []
    for value in values:
        if value in seen:
            other = seen[seen.index(value)]
            equal = "" if repr(other) == repr(value) else f" ({_short(other)} equals it)"
            raise ModelError(f"'{name}' has the value {_short(value)} twice{equal}")
        seen.append(value)


def _key(value: object) -> object:
    try:
        hash(value)
    except TypeError:
        return repr(value)
    return value


def _check_numbers(name: str, values: list[object], kinds: set[type]) -> None:
    floats = any(issubclass(kind, float) for kind in kinds)
    if not floats:
        return
    if any(isinstance(value, float) and value != value for value in values):
        raise ModelError(f"'{name}' has the value nan, which is equal to nothing, itself included")
    if all(issubclass(kind, bool | int | float) for kind in kinds):
        wide = [value for value in values if isinstance(value, int) and abs(value) > EXACT_FLOAT]
        if wide:
            raise ModelError(
                f"'{name}' has fractions beside {wide[0]}, which a float does not hold: use integers only"
            )


def coded(
    values: Mapping[str, list[Any]],
) -> tuple[list[Array], list[tuple[int, int]], dict[int, dict[Any, Any]]]:
    """Codes of the values of each parameter, their limits, and the labels of codes that are not values."""
    domains: list[Array] = []
    limits: list[tuple[int, int]] = []
    labels: dict[int, dict[Any, Any]] = {}
    for v, given in enumerate(values.values()):
        check_deadline()
        kinds = _types(given)
        if kinds == {int}:
            wide = max(max(given), -min(given)) >= 1 << 62
            domains.append(np.array(sorted(given), dtype=OBJECT if wide else INT64))
        elif all(issubclass(kind, bool | int | float) for kind in kinds):
            labels[v] = dict(sorted((_number(value), value) for value in given))
            domains.append(np.array(list(labels[v])))
        else:
            labels[v] = dict(enumerate(given))
            domains.append(np.arange(len(given)))
        low, high = domains[-1][0], domains[-1][-1]
        limits.append((0, 0) if domains[-1].dtype == FLOAT else (int(low), int(high)))
    return domains, limits, labels


def _number(value: object) -> object:
    return int(value) if isinstance(value, bool) else value


def planned(tune_params: Mapping[str, list[object]], texts: Sequence[str]) -> Planner:
    """The plan of a space, remade by a worker."""
    domains, limits, labels = coded(tune_params)
    parameters = Parameters({name: v for v, name in enumerate(tune_params)}, labels)
    values = list(tune_params.values())
    return Planner(domains, limits, [part for text in texts for part in read(text, parameters, values)])
