"""A cell as people read it: its equations in LaTeX, its Jacobian, what training saves, the work of a step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from kerneltune.cells.derivation import Derivation
from kerneltune.cells.graph import SPECIAL, Node, behind
from kerneltune.cells.structure import Structure
from kerneltune.cells.symbolic import expressions, sympy_module

_LETTERS = {"input": "W_{{{0}}} x", "product": "(R_{{{0}}} h + b_{{{0}}})"}


@dataclass(frozen=True)
class Shown:
    """A cell, with sympy's help.

    Attributes:
        derivation: The cell.
    """

    derivation: Derivation

    @cached_property
    def structure(self) -> Structure:
        """Its structure."""
        return Structure(self.derivation.equations)

    def equations(self) -> list[str]:
        """Each equation in LaTeX, in order."""
        found = []
        for node, name in self._named.items():
            known = {
                **self._leaves,
                **{n: self._symbol(one) for n, one in self._named.items() if n is not node},
            }
            found.append(f"{_name(name)} = {self._latex([node], known)[0]}")
        return found

    def jacobian(self) -> list[list[str]]:
        """The derivative of each state after a step by each before it, without what passes through R h."""
        structure = self.structure
        rows = []
        for after, row in enumerate(structure.depends):
            slopes = [structure.slope(after, before) for before in range(len(row))]
            rows.append(self._latex(slopes, {**self._leaves, **self._symbols(slopes)}))
        return rows

    def saved(self) -> dict[str, object]:
        """The values that training saves of each unit and step, what backward reads and computes again."""
        saved, states = self.derivation.saved, self.derivation.equations.states
        hidden = {1: "after the step", 0: "before the step", -1: None}[saved.hidden]
        return {
            "values": self.described(saved.values),
            "states": list(states[1 : saved.states + 1]),
            "reads_hidden": hidden,
            "computed_again": self.described(node for node in saved.computed if node.op in SPECIAL),
        }

    def special_functions(self) -> dict[str, int]:
        """Special functions of a unit's step, by pass."""
        after = self.derivation.equations.after
        if self.structure.kind != "recurrent":  # what a scan's backward pass computes is up to its kernel
            return {"forward": _special(behind(after))}
        saved = self.derivation.saved
        return {
            "forward": _special(behind(after)),
            "training": _special(behind((*after, *saved.values))),
            "backward": _special(saved.computed),
        }

    def described(self, nodes: Iterable[Node]) -> list[str]:
        """Values in LaTeX, of the names that equations give."""
        return [
            self._latex([node], {**self._leaves, **self._symbols([node], but=node)})[0]
            if node not in self._named
            else _name(self._named[node])
            for node in nodes
        ]

    @cached_property
    def _named(self) -> dict[Node, str]:
        labels = self.derivation.equations.labels
        return {node: labels[node] for node in sorted(labels, key=lambda node: node.index)}

    @cached_property
    def _leaves(self) -> dict[Node, object]:
        sympy, equations = sympy_module(), self.derivation.equations
        found = {}
        for node in self.derivation.equations.graph.nodes:
            number = int(node.value)
            if node.op == "total":
                name = equations.gates[number]
                shaded = name in equations.labels.values()  # another value has the name, too
                found[node] = sympy.Symbol(f"\\tilde{{{_name(name)}}}" if shaded else _name(name))
            elif node.op == "input" and equations.gates[number] in equations.learnable:
                found[node] = sympy.Symbol(_name(equations.gates[number]))
            elif node.op in _LETTERS:
                found[node] = sympy.Symbol(_LETTERS[node.op].format(_name(equations.gates[number])))
            elif node.op in ("before", "weight"):
                names = equations.states if node.op == "before" else equations.weights
                found[node] = sympy.Symbol(_name(names[number]))
        return found

    def _symbol(self, name: str) -> object:
        return sympy_module().Symbol(_name(name))

    def _symbols(self, results: Sequence[Node], but: Node | None = None) -> dict[Node, object]:
        return {n: self._symbol(name) for n, name in self._named.items() if n is not but}

    def _latex(self, results: Sequence[Node], known: dict[Node, object]) -> list[str]:
        sympy = sympy_module()
        return [sympy.latex(one) for one in expressions(results, known, plain=True)]


def _special(nodes: Iterable[Node]) -> int:
    return sum(node.op in SPECIAL for node in nodes)


def _name(name: str) -> str:
    """A name in LaTeX: what follows an underscore is below."""
    new = "'" if name.endswith("'") else ""
    first, *rest = name.removesuffix("'").split("_")
    letters = first if len(first) == 1 else f"\\mathrm{{{first}}}"
    below = f"_{{{' '.join(rest)}}}" if any(rest) else ""
    return f"{letters}{below}{new}"
