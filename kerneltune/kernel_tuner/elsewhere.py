"""Calls that are left to Kernel Tuner itself: other languages, devices and strategies."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from constrint.support.files import read_file
from kerneltune.errors import MissingExtraError

CUDA = {None, "cuda", "cupy", "nvcuda"}
OUTSIDE = ("device", "platform", "texmem_args", "compiler", "parallel")


def needs_kernel_tuner(given: Mapping[str, Any]) -> bool:
    """Whether a call needs features that only Kernel Tuner has."""
    if not isinstance(given.get("strategy") or "", str) or len(given.get("objectives") or ()) > 1:
        return True
    if _language(given["kernel_source"], given["lang"]) not in CUDA:
        return True
    return not given.get("simulation_mode") and any(given.get(name) for name in OUTSIDE)


def by_kernel_tuner(function: str, given: Mapping[str, Any]) -> Any:
    """A call of Kernel Tuner itself; raises `MissingExtraError` where it is not installed."""
    try:
        package: object = importlib.import_module("kernel_tuner.interface")
    except ImportError:
        raise MissingExtraError.said(
            "kerneltune tunes CUDA kernels by its own searches; other languages and strategy objects need "
            "Kernel Tuner: pip install kernel-tuner"
        ) from None
    return getattr(package, function)(**given)


def _language(source: object, lang: str | None) -> str | None:
    """The language in lower case; None for CUDA that is not named."""
    if lang is not None:
        return str(lang).lower()
    text = source if isinstance(source, str) else ""
    if "\n" not in text and Path(text).is_file():
        text = read_file(text).decode("utf-8", "replace")
    if callable(source) or "__global__" in text:
        return None
    return "opencl" if "__kernel" in text else "c"
