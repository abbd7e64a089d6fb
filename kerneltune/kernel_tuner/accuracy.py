"""Arguments whose array, or its precision, depends on a parameter, and an observer of the error."""

from __future__ import annotations

import importlib
from collections import UserDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kerneltune.errors import InputError, nearest
from kerneltune.kernel_tuner.launches import value_of
from kerneltune.kernel_tuner.observers import OutputObserver

TYPES = {
    "half": ("float16", "f16", "__half", "khalf", "16"),
    "float": ("single", "float32", "f32", "kfloat", "32"),
    "double": ("float64", "f64", "kdouble", "64"),
    "bfloat16": ("bf16", "kbfloat16", "__nv_bfloat16"),
}
"""The names of the precisions, with their other names."""
DTYPES = {"half": np.float16, "float": np.float32, "double": np.float64}
Numbers: TypeAlias = NDArray[np.float64]
Metric = Callable[[Any, Any], float]


class Tunable(UserDict[Any, Any]):
    """An argument of several arrays, of which a configuration takes one.

    Args:
        param_key: The parameter whose value chooses; or an expression, or a function of the configuration.
        arrays: The arrays by the value that chooses them; a list has them by place.
    """

    def __init__(self, param_key: Any, arrays: Mapping[Any, Any] | Sequence[Any]) -> None:
        listed = dict(enumerate(arrays)) if isinstance(arrays, list | tuple) else arrays
        super().__init__(listed)
        self.param_key = param_key

    def option_of(self, params: Mapping[str, object]) -> object:
        """The value that chooses for a configuration."""
        if callable(self.param_key):
            option = self.param_key(params)
        elif self.param_key in params:
            option = params[self.param_key]
        else:
            option = value_of(str(self.param_key), "Tunable", params)
        if option not in self.data:
            raise KeyError(f"{option!r} chooses no array; there are: {', '.join(map(repr, self.data))}")
        return option

    def select_for_configuration(self, params: Mapping[str, Any]) -> Any:
        """The array of a configuration."""
        found = self.data[self.option_of(params)]
        return found.select_for_configuration(params) if isinstance(found, Tunable) else found

    def __call__(self, params: Mapping[str, Any]) -> Any:
        """The array of a configuration."""
        return self.select_for_configuration(params)


class TunablePrecision(Tunable):
    """An array in several precisions, of which a configuration takes one.

    Args:
        param_key: The parameter whose value names the precision.
        array: The array, or a number of numpy's.
        dtypes: Types by name, or names; by default half, float and double.
    """

    def __init__(
        self, param_key: Any, array: Any, dtypes: Mapping[str, Any] | Sequence[str] | None = None
    ) -> None:
        given = dtypes or DTYPES
        types = given if isinstance(given, Mapping) else {name: dtype_named(name) for name in given}
        plain = array if isinstance(array, np.generic) else np.asarray(array)
        super().__init__(param_key, {name: plain.astype(dtype) for name, dtype in types.items()})


def dtype_named(name: str) -> Any:
    """The type with a name, such as half or f32.

    Raises:
        InputError: There is no such type, or its package is missing.
    """
    lowered = str(name).lower()
    known = next((one for one, others in TYPES.items() if lowered == one or lowered in others), None)
    if known == "bfloat16":
        try:
            return importlib.import_module("ml_dtypes").bfloat16
        except ImportError:
            raise InputError("bfloat16 needs ml_dtypes: pip install ml_dtypes") from None
    if known is not None:
        return DTYPES[known]
    try:
        return np.dtype(name)
    except TypeError:
        raise InputError(f"there is no type '{name}': {nearest(lowered, TYPES)}") from None


def _relative(answer: Numbers, output: Numbers, least: float) -> Numbers:
    return np.abs(answer - output) / np.maximum(np.abs(answer), least)


def _in_decades(answer: Numbers, output: Numbers, least: float) -> Numbers:
    found: Numbers = np.abs(np.log10(answer + least) - np.log10(output + least))
    return found


METRICS: dict[str, Callable[[Numbers, Numbers, float], np.floating]] = {
    "mse": lambda a, o, least: np.mean((a - o) ** 2),
    "rmse": lambda a, o, least: np.sqrt(np.mean((a - o) ** 2)),
    "nrmse": lambda a, o, least: np.sqrt(np.mean((a - o) ** 2) / max(float(np.mean(a**2)), least**2)),
    "mae": lambda a, o, least: np.mean(np.abs(a - o)),
    "mre": lambda a, o, least: np.mean(_relative(a, o, least)),
    "rmsre": lambda a, o, least: np.sqrt(np.mean(_relative(a, o, least) ** 2)),
    "male": lambda a, o, least: np.mean(_in_decades(a, o, least)),
    "rmsle": lambda a, o, least: np.sqrt(np.mean(_in_decades(a, o, least) ** 2)),
    "max": lambda a, o, least: np.max(np.abs(a - o)),
    "max rel": lambda a, o, least: np.max(_relative(a, o, least)),
}
"""Errors of an output by name: of the answer, the output, and the least divisor."""
IN_WORDS = {
    "mean squared": "mse",
    "root mean squared": "rmse",
    "normalized root mean squared": "nrmse",
    "absolute": "mae",
    "mean absolute": "mae",
    "relative": "mre",
    "mean relative": "mre",
    "root mean squared relative": "rmsre",
    "mean absolute logarithmic": "male",
    "root mean squared logarithmic": "rmsle",
    "maximum": "max",
    "maximum absolute": "max",
    "maximum relative": "max rel",
}
"""Their names in words."""
ABBREVIATED = {
    **dict.fromkeys(("average", "avg"), "mean"),
    **dict.fromkeys(("square", "sq"), "squared"),
    "max": "maximum",
    "rel": "relative",
    "abs": "absolute",
    "log": "logarithmic",
}


def error_metric_from_name(user_key: str, EPS: float = 1e-8) -> Metric:  # noqa: N803
    """The error with a name, as a function of answer and output; EPS is the least divisor.

    Raises:
        ValueError: There is no such error.
    """
    words = str(user_key).lower().replace("_", " ").replace("-", " ").split()
    whole = " ".join(ABBREVIATED.get(word, word) for word in words if word != "error")
    key = IN_WORDS.get(whole, whole)
    if key not in METRICS:
        raise ValueError(f"there is no error metric {user_key!r}: {nearest(whole, [*METRICS, *IN_WORDS])}")
    metric = METRICS[key]
    return lambda answer, output: float(
        metric(np.asarray(answer, np.float64), np.asarray(output, np.float64), EPS)
    )


class AccuracyObserver(OutputObserver):
    """Tells the greatest error of a configuration's outputs.

    Args:
        metric: The name of an error, or a function of answer and output; by default the root of the mean
            square.
        key: Its name in the results.
        atol: The least divisor of relative errors.
    """

    def __init__(self, metric: str | Metric | None = None, key: str = "error", *, atol: float = 1e-8) -> None:
        self.metric = metric if callable(metric) else error_metric_from_name(metric or "rmse", atol)
        self.key = key
        self.result: float | None = None

    def process_output(self, answer: Sequence[Any], output: Sequence[Any]) -> None:
        """Compare the outputs for which there is an answer."""
        pairs = [(one, other) for one, other in zip(answer, output, strict=True) if one is not None]
        self.result = max(self.metric(one, other) for one, other in pairs) if pairs else None

    def get_results(self) -> dict[str, Any]:
        """The error by its name."""
        return {} if self.result is None else {self.key: self.result}
