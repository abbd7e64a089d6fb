"""From the Python of compilable functions to the text of LLVM's intermediate language.

Compilable functions are written in a small part of Python: integers and truth values, indexing of the arrays
of a structure, loops over ranges, and calls of each other. Each statement becomes the instructions that it
stands for (`function_text`), and LLVM's optimiser does the rest.

Two ways were measured. Numba reads any Python, which takes it most of the time that it compiles. This small
part needs no type inference: parameters say what they are, and all else is a 64-bit integer.
"""

from __future__ import annotations

from collections.abc import Callable

from constrint.engine.function_text import FunctionText
from constrint.engine.prelude import PRELUDE

ANY_FIELD = 3  # the note of a cell whose field is not known


class TranslationUnit:
    """The text of an entry point and of all functions that it calls.

    Args:
        entry: The function that is called from outside.
        symbol: The name by which it is called.
        checked: Whether an index outside its array ends the process. That costs time; it finds faults.

    Attributes:
        text: The text.
        functions: What it is made from.
    """

    def __init__(self, entry: Callable[..., object], symbol: str, checked: bool = False) -> None:
        self.checked = checked
        self.functions = {entry}
        self._symbols = {id(entry): symbol}
        self._todo: list[Callable[..., object]] = []
        self._fields: dict[str, int] = {}
        parts = [FunctionText(self, entry, f"@{symbol}").text]
        while self._todo:
            function = self._todo.pop()
            parts.append(FunctionText(self, function, f"internal @{self._symbols[id(function)]}").text)
        self.text = "\n".join([PRELUDE, *parts, self._notes()])

    def symbol(self, function: Callable[..., object]) -> str:
        """The name by which to call a function; it is translated, too, if it was not yet."""
        if id(function) not in self._symbols:
            module = function.__module__.rpartition(".")[2]
            self._symbols[id(function)] = f"{module}.{function.__name__}.{len(self._symbols)}"
            self._todo.append(function)
            self.functions.add(function)
        return self._symbols[id(function)]

    def note(self, field: str) -> str:
        """The aliasing metadata of a load or a store: the field of the structure that the cell belongs to.

        Args:
            field: Its name; "" if it is not known.
        """
        if not field:
            return f"!{ANY_FIELD}"
        return f"!{ANY_FIELD + 2 * self._fields.setdefault(field, len(self._fields)) + 1}"

    def _notes(self) -> str:
        """Aliasing metadata: cells of two fields are not the same memory."""
        lines = ["!0 = !{}", '!1 = !{!"constrint"}', '!2 = !{!"cells", !1, i64 0}', "!3 = !{!2, !2, i64 0}"]
        for field, number in self._fields.items():
            access = ANY_FIELD + 2 * number + 1
            lines.append(f"!{access} = !{{!{access + 1}, !{access + 1}, i64 0}}")
            lines.append(f'!{access + 1} = !{{!"{field}", !2, i64 0}}')
        return "\n".join(lines)
