"""Names and values in generated C++: identifiers of the language, or an error; texts as literals."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

from kerneltune.errors import InputError

IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
QUALIFIED = re.compile(r"(::)?[A-Za-z_][A-Za-z0-9_]*(::[A-Za-z_][A-Za-z0-9_]*)*")
KEYWORDS = frozenset(
    {
        "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case",
        "catch", "char", "char8_t", "char16_t", "char32_t", "class", "compl", "concept", "const",
        "consteval", "constexpr", "constinit", "const_cast", "continue", "co_await", "co_return",
        "co_yield", "decltype", "default", "defined", "delete", "do", "double", "dynamic_cast", "else",
        "enum", "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "if",
        "inline", "int", "long", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr",
        "operator", "or", "or_eq", "private", "protected", "public", "register", "reinterpret_cast",
        "requires", "return", "short", "signed", "sizeof", "static", "static_assert", "static_cast",
        "struct", "switch", "template", "this", "thread_local", "throw", "true", "try", "typedef",
        "typeid", "typename", "union", "unsigned", "using", "virtual", "void", "volatile", "wchar_t",
        "while", "xor", "xor_eq",
    }
)  # fmt: skip
# Names that a kernel reads: a macro of that name would change them.
OF_CUDA = frozenset({"threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize"})
COMMENTS = ("//", "/*", "*/")
UNSIGNED, SIGNED = 2**64, 2**63  # the first integers that 64 bits do not have


def check_names(names: Iterable[str], what: str, taken: Iterable[str] = ()) -> None:
    """Raise `InputError` for a name that cannot be an identifier of C++.

    Args:
        names: The names.
        what: What they name, for the message.
        taken: Names that something else has there.
    """
    for name in names:
        reason = _wrong(name, taken)
        if reason is not None:
            raise InputError(f"the {what} {quoted(name)} {reason}: rename it, as to '{_suggested(name)}'")


def _wrong(name: str, taken: Iterable[str]) -> str | None:
    if not IDENTIFIER.fullmatch(name):
        return "is not a name in C++, which has letters, digits and underscores"
    if name in KEYWORDS:
        return "is a keyword of C++"
    if "__" in name or re.match("_[A-Z]", name):
        return "is reserved for compilers by its underscores"
    if name in taken:
        return "is the name of something else in the generated text"
    return None


def _suggested(name: str) -> str:
    plain = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_") or "x"
    plain = plain if plain[0].isalpha() else f"x{plain}"
    return f"{plain[:40]}_" if plain[:40] == name else plain[:40]


def check_line(text: str, what: str) -> None:
    """Raise `InputError` for a text with characters that end a line or steer a terminal."""
    odd = next((one for one in text if not one.isprintable()), None)
    if odd is not None:
        raise InputError(f"the {what} {quoted(text)} has the character {quoted(odd)}: leave it out")


def check_macro(value: object, what: str) -> None:
    """Raise `InputError` for a value that does not stay on the line of its macro."""
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(
            f"the value {value} of {what} is not a number in C++: give the text 'INFINITY' or 'NAN'"
        )
    if isinstance(value, str):
        check_line(value, f"value of {what}")
        found = [one for one in COMMENTS if one in value]
        if found or value.endswith("\\") or 'R"' in value:
            part = found[0] if found else "\\" if value.endswith("\\") else 'R"'
            raise InputError(
                f"the value {quoted(value)} of {what} has {quoted(part)}, which may reach beyond its line: "
                "leave it out"
            )


def quoted(text: str) -> str:
    """A text as a literal of C++, in ASCII: other characters are the bytes of UTF-8."""
    return '"' + "".join(_escaped(byte) for byte in text.encode("utf-8", "surrogateescape")) + '"'


def _escaped(byte: int) -> str:
    # Three octal digits end by themselves, and no two question marks are left that could be a trigraph.
    plain = 32 <= byte < 127 and chr(byte) not in '"\\?'
    return chr(byte) if plain else f"\\{byte:03o}"


def type_of(values: Iterable[Any], what: str) -> str:
    """The type of C++ that all values have; raises `InputError` for integers of more than 64 bits."""
    listed = list(values)
    if all(isinstance(value, bool) for value in listed):
        return "bool"
    if all(isinstance(value, int) for value in listed):
        if all(-SIGNED <= value < SIGNED for value in listed):
            return "long long"
        if all(0 <= value < UNSIGNED for value in listed):
            return "unsigned long long"
        raise InputError(f"{what} has the values {min(listed)} to {max(listed)}: more than 64 bits")
    return "double" if all(isinstance(value, int | float) for value in listed) else "std::string_view"


def literal(value: Any, type_: str) -> str:
    """A value as a literal of a type of `type_of`."""
    if type_ == "std::string_view":
        text = value if isinstance(value, str) else str(value)
        return f"{{{quoted(text)}, {len(text.encode('utf-8', 'surrogateescape'))}}}"
    if type_ == "bool":
        return "true" if value else "false"
    if type_ == "double":
        number = float(value)
        if math.isfinite(number):
            return repr(number)
        limits = "std::numeric_limits<double>::"
        if math.isnan(number):
            return f"{limits}quiet_NaN()"
        return f"{'-' if number < 0 else ''}{limits}infinity()"
    if type_ == "unsigned long long":
        return f"{int(value)}ULL"
    return f"{int(value)}LL" if value > -SIGNED else f"({1 - SIGNED}LL - 1)"


def unused(name: str, taken: Iterable[str]) -> str:
    """A name that nothing has, which begins with the given one."""
    known = set(taken)
    while name in known:
        name += "_"
    return name
