"""A cell's CUDA struct that is written by hand: a file NAME.cuh beside NAME.cell.

It counts for kernels alone. What it computes is what the equations say, with which every kernel is compared.
`kerneltune cell cuda NAME.cell` prints the struct that is generated otherwise, whose interface it has.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from kerneltune.errors import InputError

if TYPE_CHECKING:
    from kerneltune.cells.equations import Equations
    from kerneltune.cells.saving import Saved
    from kerneltune.cells.syntax import Source

_STRUCT = re.compile(r"^struct (\w+) \{", re.MULTILINE)
_NUMBER = re.compile(r"static constexpr int (\w+) =\s*(-?\d+);")
_WORK = re.compile(r"^// work: fast (\d+) (\d+), exact (\d+) (\d+)$", re.MULTILINE)
_SAVES = re.compile(r"^// saves:[ \t]*(.*)$", re.MULTILINE)
_ONCE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once[ \t]*$", re.MULTILINE)


@dataclass(frozen=True)
class Override:
    """The struct.

    Attributes:
        source: The file, for messages.
        text: Its text. A line `// saves: EXPRESSION`, in the words of the cell's equations after their last
            line, says what training saves as the next value; without such lines the values are those that
            are saved of the equations. A line `// work: fast STEP GRADIENT, exact STEP GRADIENT` says the
            cycles for which a warp holds a sub-partition (`kerneltune.cells.costs`), which the cost model
            uses; without it they are those of the equations.
    """

    source: str
    text: str

    @cached_property
    def struct(self) -> str:
        """The struct's name."""
        names = _STRUCT.findall(self.text)
        if len(names) != 1:
            raise InputError(
                f"{self.source}: a cell's header has one line 'struct NAME {{', here are {len(names)}"
            )
        return str(names[0])

    @property
    def declaration(self) -> str:
        """The text in a translation unit, where it is not a header."""
        return _ONCE.sub("", self.text)

    def saved(self, equations: Equations) -> Saved | None:
        """The values that training saves, if lines say them; they become values of the equations' graph."""
        from kerneltune.cells.saving import Saved

        lines = list(_SAVES.finditer(self.text))
        if not lines:
            return None
        values = tuple(equations.words.value(self._expression(line)) for line in lines)
        hidden, states = self._number("hidden_read"), self._number("saved_states")
        if not 0 <= states < len(equations.states):
            raise InputError(f"{self.source}: saved_states is {states}, of {len(equations.states)} states")
        return Saved(values, states, hidden, ())

    def work(self, counted: dict[str, dict[str, int]]) -> dict[str, dict[str, int]]:
        """The work counted in the equations, with what a line says of it in its place."""
        if (line := _WORK.search(self.text)) is None:
            return counted
        said = iter(map(int, line.groups()))
        return {
            accuracy: counted[accuracy] | {"step_work": next(said), "gradient_work": next(said)}
            for accuracy in ("fast", "exact")
        }

    def _expression(self, line: re.Match[str]) -> Source:
        from kerneltune.cells.syntax import Source

        ahead = " " * (line.start(1) - line.start())  # so that columns are those of the file
        return Source(self.source, ahead + line[1], 1 + self.text.count("\n", 0, line.start()))

    def _number(self, name: str) -> int:
        found: Sequence[str] = [value for key, value in _NUMBER.findall(self.text) if key == name]
        if len(found) != 1:
            raise InputError(f"{self.source}: a line 'static constexpr int {name} = NUMBER;' is missing")
        return int(found[0])
