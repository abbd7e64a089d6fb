"""The parameters of a CUDA kernel as its source declares them, compared with the arguments that are given."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from kerneltune.errors import InputError
from kerneltune.sources.arguments import NUMBER, Argument

NOT_CODE = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
QUALIFIERS = re.compile(r"\b(?:const|volatile|restrict|__restrict__|__restrict|__grid_constant__|signed)\b")
DECLARATOR = re.compile(r"[A-Za-z_]\w*\s*(?P<array>(?:\[[^\]]*\]\s*)*)$")
WHOLE = {
    **dict.fromkeys(("short", "short int", "int16_t", "unsigned short", "uint16_t", "ushort"), 2),
    **dict.fromkeys(("int", "int32_t", "unsigned", "unsigned int", "uint32_t", "uint"), 4),
    **dict.fromkeys(("long long", "long long int", "int64_t", "size_t", "ssize_t", "ptrdiff_t"), 8),
    **dict.fromkeys(("unsigned long long", "unsigned long long int", "uint64_t"), 8),
}
REAL = {"float": 4, "double": 8, "half": 2, "__half": 2}
"""Bytes of the types that are compared; of others, as of vectors, structures and macros, nothing is known."""


def check_arguments(text: str, entry: str, arguments: Sequence[Argument], own: Sequence[str] = ()) -> None:
    """Raise `InputError` for arguments of other kinds, sizes or number than a kernel declares.

    Args:
        text: The source.
        entry: The kernel, with template arguments or not.
        arguments: What it is given, in order.
        own: Parameters of the space, which are macros: what they make of a type is not known.
    """
    name = re.split(r"[<(]", entry)[0].rpartition("::")[2].strip()
    found = list(_declared(NOT_CODE.sub(" ", text), name))
    complaints = [_complaint(one, arguments, own) for one in found]
    if found and all(complaints):  # one of several definitions may be meant
        raise InputError(f"arguments: the kernel {name} {complaints[0]}")


def _declared(text: str, name: str) -> Iterator[list[str]]:
    """The parameters of each definition of a kernel that can be read."""
    for found in re.finditer(rf"\b{re.escape(name)}\s*\(([^()]*)\)\s*\{{", text):
        before = text[: found.start()].rstrip().rpartition(";")[2]
        if "__global__" not in before and "##" not in text:
            continue
        listed = [one.strip() for one in _parted(found[1])]
        if "..." not in found[1] and "#" not in found[1]:
            yield [one for one in listed if one not in ("", "void")]


def _parted(text: str) -> list[str]:
    """The parts between commas that are in no template arguments."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "<") - (letter == ">")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _complaint(declared: Sequence[str], arguments: Sequence[Argument], own: Sequence[str]) -> str | None:
    if len(declared) != len(arguments):
        return f"has {len(declared)} parameters, but {len(arguments)} arguments are given"
    for place, (text, one) in enumerate(zip(declared, arguments, strict=True), 1):
        kind = _kind(text, own)
        said = None if kind is None else _difference(*kind, one)
        if said is not None:
            called = f"'{one.name}'" if one.name else f"number {place}"
            return f"declares '{' '.join(text.split())}', but the argument {called} is {said}"
    return None


def _kind(text: str, own: Sequence[str]) -> tuple[bool, str] | None:
    """Whether a parameter is a pointer, and its plain type; None where it is not known."""
    plain = " ".join(QUALIFIERS.sub(" ", text.partition("=")[0]).split())
    declarator = DECLARATOR.search(plain)
    if declarator is None or "&" in plain or "(" in plain:
        return None
    stars = plain.count("*") + bool(declarator["array"])
    base = " ".join(plain[: declarator.start()].replace("*", " ").split()).removeprefix("std::")
    if stars > 1 or base in own or not base:
        return None
    return bool(stars), base


def _difference(is_pointer: bool, base: str, one: Argument) -> str | None:
    """How an argument differs from a declared type; None: it fits, or nothing is known of the type."""
    dtype = np.asarray(one.value).dtype if one.kind == NUMBER else one.value.dtype
    size = WHOLE.get(base) or REAL.get(base)
    if is_pointer != (one.kind != NUMBER):
        known = is_pointer or size is not None or base == "bool"
        return ("an array" if one.kind != NUMBER else f"a number, {dtype}") if known else None
    if size is None or dtype.kind not in "iuf":
        return None
    if is_pointer and size == dtype.itemsize and not (base in ("float", "double") and dtype.kind != "f"):
        return None  # bits may be read as another type of the same size
    if not is_pointer and size == dtype.itemsize and (base in REAL) == (dtype.kind == "f"):
        return None
    return f"{dtype}"
