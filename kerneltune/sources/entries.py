"""The kernels of a source: the one that is meant, those that it has, and templates of the same names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from kerneltune.errors import InputError, nearest
from kerneltune.sources.kernel import CALLABLE, PTX, TRITON

ENTRY = re.compile(r"__global__\s[^;{]*?\b([A-Za-z_]\w*)\s*\(")
INCLUDE = re.compile(r'^\s*#\s*include\s+"', re.M)
PTX_ENTRY = re.compile(r"\.entry\s+([A-Za-z_$][\w$]*)")
TEMPLATE = re.compile(r"\btemplate\s*<([^<>]*)>")
NOT_CODE = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
ATTRIBUTE = re.compile(r"__(?:launch_bounds|maxnreg|cluster_dims)__\s*\((?:[^()]|\([^()]*\))*\)")


def check_templates(text: str, names: Iterable[str]) -> None:
    """Raise `InputError` for a template's parameter with the name of a tuning parameter, which is a macro."""
    for found in TEMPLATE.finditer(text):
        words = set(re.findall(r"\w+", found[1]))
        for name in names:
            if name in words:
                line = text.count("\n", 0, found.start()) + 1
                raise InputError(
                    f"line {line} of the source: the template has a parameter {name}, but {name} is a tuning "
                    f"parameter, which the compiler gets as a macro: give the template's another name, and "
                    f"write entry: KERNEL<{name}>"
                )


def check_entries(entries: Iterable[str | None], text: str) -> None:
    """Raise `InputError` for a kernel that the source does not have; macros and headers may make names."""
    if "##" in text or INCLUDE.search(text):
        return
    words = set(re.findall(r"\w+", text))
    for entry in entries:
        name = re.split(r"[<(]", entry or "")[0].rpartition("::")[2].strip()
        if text and name and name not in words:
            has = _kernels(text)
            raise InputError(f"entry: the source has no kernel '{name}': {nearest(name, has)}")


def _kernels(text: str) -> list[str]:
    """The names of the kernels that a text of CUDA declares."""
    return sorted(set(ENTRY.findall(ATTRIBUTE.sub("", NOT_CODE.sub(" ", text)))))


def only_entry(text: str, kind: str, source: Any) -> str:
    """The name of a source's only kernel; raises `InputError` if it has none or several."""
    if kind in (TRITON, CALLABLE):
        plain = getattr(source, "fn", source)
        return str(getattr(plain, "__name__", type(source).__name__))
    if hasattr(source, "code"):
        return str(source.name)
    found = sorted(set(PTX_ENTRY.findall(text))) if kind == PTX else _kernels(text)
    if len(found) != 1:
        listed = ", ".join(found) or "none is found"
        raise InputError(f"entry is missing: say which kernel of the source is meant ({listed})")
    return str(found[0])
