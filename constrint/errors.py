"""The exceptions of constrint, and source positions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Position:
    """A range in the user's source; lines and columns count from 1.

    Attributes:
        file: File name, or a name in angle brackets if there is no file.
        line: First line.
        column: First column.
        end_line: Last line.
        end_column: Column after the last character.
        text: The source text of the range; may be empty.
    """

    file: str
    line: int
    column: int
    end_line: int | None = None
    end_column: int | None = None
    text: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class ConstrintError(Exception):
    """Base of all exceptions that constrint raises on purpose."""


class ModelError(ConstrintError):
    """A model was built or used wrongly in Python; the message has the fix."""


class EmptySpaceError(ModelError):
    """An empty search space was sampled or listed.

    The message names the restrictions that exclude everything.
    """


class UnboundedError(ConstrintError):
    """Search would have to branch on a variable without finite bounds: whether there is a solution is open.

    Attributes:
        variable: Name of the variable.
    """

    def __init__(self, variable: str) -> None:
        self.variable = variable
        super().__init__(
            f"'{variable}' has no finite bounds even after propagation, so it cannot be searched, and "
            f"whether there is a solution, or a better one, is not known: "
            f"give it both bounds, or add constraints that bound it"
        )

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.variable,)


class LimitError(ConstrintError):
    """A limit was reached before there was an answer."""


class InternalError(ConstrintError):
    """A result failed the exact check against the model: a bug in constrint, never in the model."""


MOST_SHOWN = 300
"""The most characters of a message, or of a line of input, that are shown."""


def shown(text: str, most: int = MOST_SHOWN) -> str:
    """A text for a message: shortened in the middle, with unprintable characters escaped."""
    if len(text) > most:
        text = f"{text[: most // 2]} … {text[-(most // 2) :]}"
    return printable(text, "\n")


def printable(text: str, kept: str = "") -> str:
    """A text whose unprintable characters are escaped: it adds no line, and steers no terminal.

    Args:
        text: The text.
        kept: Characters that stay.
    """
    if text.isprintable():
        return text
    return "".join([c if c.isprintable() or c in kept else ascii(c)[1:-1] for c in text])


LONG_BITS = 10_000
"""Integers beyond this are shown in hexadecimal: Python writes no longer decimal ones."""


def shown_number(number: float | Fraction) -> str:
    """An integer for a message, shortened where it is long."""
    if not isinstance(number, int):
        return str(number)
    if number.bit_length() <= LONG_BITS:
        return str(number)
    return shown(hex(number))


def _excerpt(line: str, column: int) -> tuple[str, int]:
    """The part of a line around a column, and the column within that part."""
    start = max(0, column - 1 - MOST_SHOWN // 2) if len(line) > MOST_SHOWN else 0
    text = line[start : start + MOST_SHOWN]
    before, after = "… " * (start > 0), " …" * (start + MOST_SHOWN < len(line))
    plain = "".join([c if c.isprintable() else " " if c == "\t" else "?" for c in text])
    return f"{before}{plain}{after}", column - start + len(before)


class ParseError(ConstrintError):
    """Model text could not be read.

    Attributes:
        filename: Name of the text.
        line: Line of the mistake, from 1.
        column: Column of the mistake, from 1.
        message: What is wrong.
        hint: What to write instead (may be empty).
        source_line: The whole line, shown with a caret.
    """

    def __init__(
        self, message: str, *, filename: str, line: int, column: int, hint: str = "", source_line: str = ""
    ) -> None:
        self.message = message = shown(message)
        hint = shown(hint)
        self.filename = filename
        self.line = line
        self.column = column
        self.hint = hint
        self.source_line = source_line
        super().__init__(str(self))

    def __reduce__(self) -> tuple[object, ...]:
        kept = ("message", "filename", "line", "column", "hint", "source_line")
        return _parse_error, tuple([getattr(self, name) for name in kept])

    def __str__(self) -> str:
        lines = [f"{self.filename}:{self.line}:{self.column}: {self.message}"]
        if self.source_line:
            excerpt, column = _excerpt(self.source_line, self.column)
            lines += [f"    {excerpt}", "    " + " " * (column - 1) + "^"]
        if self.hint:
            lines.append(f"hint: {self.hint}")
        return "\n".join(lines)


def _parse_error(message: str, filename: str, line: int, column: int, hint: str, text: str) -> ParseError:
    """The error with these attributes, as a copy or a pickle makes it."""
    return ParseError(message, filename=filename, line=line, column=column, hint=hint, source_line=text)


class Undefined(ArithmeticError):  # noqa: N818 - a state of an expression, not a fault of the user
    """An expression is undefined here: division by zero, a negative exponent, an index out of range."""
