"""Drawn cells: random graphs of up to 6 gates and 3 states, of all functions.

python tests/kerneltune/stand_ins/drawn_cells.py COUNT FOLDER     writes so many files
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

ONE = [
    "sigmoid({})",
    "tanh({})",
    "relu({})",
    "softplus({})",
    "gelu({})",
    "silu({})",
    "abs({})",
    "exp(0.5 * tanh({}))",
    "log(1.5 + tanh({}))",
    "sqrt(1 + abs({}))",
    "(0.5 * tanh({}))**3",
    "1 / (1 + abs({}))",
    "clip({}, -0.7, 0.9)",
    "-{}",
    "(1 - {})",
]
TWO = [
    "({} + {})",
    "({} - {})",
    "{} * {}",
    "min({}, {})",
    "max({}, {})",
    "where({0} < {1}, {0}, 0.5 * {1})",
    "{} / (1.5 + tanh({}))",
]


class DrawnCell:
    """A cell's text, and how it was drawn."""

    def __init__(self, seed: int, *, weights: bool = True, parts: bool = True) -> None:
        draw = random.Random(f"cell {seed}")
        self.gates = [f"g{number}" for number in range(draw.randint(1, 6))]
        self.states = ["h", "c", "n"][: draw.randint(1, 3)]
        self.weights = [f"p{number}" for number in range(draw.randint(0, 3) if weights else 0)]
        self._draw, self._left = draw, []
        for gate in self.gates:
            split = parts and draw.random() < 0.2
            self._left += [f"W.{gate}", f"R.{gate}"] if split else [gate]
        self._left += self.weights
        self._known = [*self._left, *self.states]
        self.text = "\n".join([*self._head(), *self._values(), *self._ends(), ""])

    def _head(self) -> list[str]:
        lists = {"gates": self.gates, "states": self.states, "weights": self.weights}
        return [f"{kind} {' '.join(names)}" for kind, names in lists.items() if names]

    def _operand(self) -> str:
        """A name: mostly one that was not used yet, or a state before the step."""
        if self._draw.random() < 0.25:
            return self._draw.choice(self.states)
        if self._left and self._draw.random() < 0.7:
            return self._left.pop(self._draw.randrange(len(self._left)))
        return self._draw.choice(self._known)

    def _values(self) -> list[str]:
        lines = []
        for number in range(self._draw.randint(1, 6)):
            name = f"v{number}"
            lines.append(f"{name} = {self._expression()}")
            self._left.append(name)
            self._known.append(name)
        return lines

    def _expression(self) -> str:
        if self._draw.random() < 0.5:
            return self._draw.choice(ONE).format(self._operand())
        inner = self._draw.choice(ONE).format(self._operand())
        return self._draw.choice(TWO).format(self._operand(), inner)

    def _ends(self) -> list[str]:
        """The states, of all that was not used yet; each is bounded, so that many steps stay finite."""
        lines = []
        for state in reversed(self.states):
            last = state == self.states[0]
            count = len(self._left) if last else self._draw.randint(0, min(2, len(self._left)))
            parts = [self._left.pop() for _ in range(count)] or [self._operand()]
            lines.append(f"{state}' = tanh({' + '.join(parts)})")
            if not last:
                self._known.append(f"{state}'")
        return lines


def main(count: str, folder: str) -> None:
    """Write cells as files."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    for seed in range(int(count)):
        Path(folder, f"drawn_{seed}.cell").write_text(DrawnCell(seed, weights=False).text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
