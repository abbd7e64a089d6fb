"""The log of a learning search: what it started from, every clause it learned, and every solution.

A proof is text, one step a line, that a checker can follow without this package:

    search                                      what follows is one search; each goal has its own
    variable 3 in 0 .. 9                        a variable and its root domain (or: in 0 4 6, a list)
    constraint LinearLe {"terms": [[1, 3], …    a constraint of the normal form
    goal min 3
    learned 3 >= 5 or 4 <= 2                    follows from all above by propagation of the opposite
    solution 3=7 4=2 …                          from here on the goal must be better
    exhausted                                   all above contradicts itself by propagation

It starts from the normal form that presolve left.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from constrint.engine.build import Box
from constrint.errors import ModelError
from constrint.learning.entries import Atom
from constrint.propagators import Propagator


class ProofLog:
    """Writes a proof to an open file."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def begin(self, box: Box, nodes: Sequence[Propagator], goal: tuple[int, str] | None) -> None:
        """Write the start of a search: its domains and constraints."""
        self._line("search")
        for v, values in enumerate(box.values):
            low, high, step = box.lo[v], box.hi[v], box.step[v]
            if values is None and step == 1:
                self._line(f"variable {v} in {low} .. {high}")
            elif values is None:
                self._line(f"variable {v} in {low} .. {high} step {step}")
            else:
                self._line(f"variable {v} in {' '.join(map(str, values))}")
        for node in nodes:
            self._line(f"constraint {type(node).__name__} {json.dumps(_arguments(node))}")
        if goal is not None:
            self._line(f"goal {goal[1]} {goal[0]}")

    def learned(self, atoms: Iterable[Atom]) -> None:
        """Write a learned clause."""
        self._line("learned " + " or ".join(_written(atom) for atom in atoms))

    def clauses(self, cells: Sequence[int]) -> None:
        """Write the clauses of a learner's log."""
        at = 0
        while at < len(cells):
            end = at + 1 + 2 * cells[at]
            self.learned((int(cells[i]), int(cells[i + 1])) for i in range(at + 1, end, 2))
            at = end

    def solution(self, values: Iterable[tuple[int, int]]) -> None:
        """Write a solution: (variable, value) pairs."""
        self._line("solution " + " ".join(f"{v}={value}" for v, value in values))

    def exhausted(self) -> None:
        """Write that the search space is exhausted."""
        self._line("exhausted")

    def presolved(self) -> None:
        """Write that presolve proved that there is no solution; this log cannot justify it."""
        self._line("presolved")

    def _line(self, text: str) -> None:
        self._file.write(text + "\n")


@contextmanager
def proof_in(path: str | Path) -> Iterator[ProofLog]:
    """A proof log that writes to a file."""
    try:
        with Path(path).open("w", encoding="utf-8") as file:
            yield ProofLog(file)
    except BrokenPipeError:
        raise
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise ModelError(f"cannot write the proof to {path}: {why}") from None


def _written(atom: Atom) -> str:
    b, k = atom
    return f"{b >> 1} <= {-k}" if b & 1 else f"{b >> 1} >= {k}"


def _arguments(node: Propagator) -> dict[str, Any]:
    return {name: getattr(node, name) for name in node.__match_args__}  # type: ignore[attr-defined] # every node is a record
