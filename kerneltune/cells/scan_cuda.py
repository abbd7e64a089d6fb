"""The CUDA struct of a cell without R, with the interface of kernels/scan/cells/diag_gru/cell.cuh."""

from __future__ import annotations

from collections.abc import Sequence

from kerneltune.cells.cuda import STRUCT, function_of
from kerneltune.cells.cuda_terms import Terms
from kerneltune.cells.derivation import Derivation
from kerneltune.cells.graph import SPECIAL, Node, behind


def scan_struct_of(derivation: Derivation) -> str:
    """The struct, in the namespace `kerneltune`; what it includes is relative to the kernels folder."""
    equations = derivation.equations
    numbers = {
        "inputs": len(equations.gates),
        "weights": len(equations.weights),
        "states": len(equations.states),
    }
    body = [f"static constexpr int {name} = {value};" for name, value in numbers.items()]
    body += ["static constexpr bool computes = true;", "", *_step(derivation), *_backward(derivation)[:-1]]
    inside = "\n".join(f"  {line}" if line else "" for line in body)
    return (
        '#include "common/numeric/activations.cuh"\n#include "common/numeric/choices.cuh"\n\n'
        f"namespace kerneltune {{\n\nstruct {STRUCT} {{\n{inside}\n}};\n\n}}  // namespace kerneltune"
    )


def chain(derivation: Derivation) -> int:
    """The most special functions one after the other from a state before a step to one after it."""
    found: dict[Node, int | None] = {}  # None: does not depend on a state
    for node in behind(derivation.equations.after):
        lengths = [length for arg in node.args if (length := found[arg]) is not None]
        if node.op == "before":
            found[node] = 0
        else:
            found[node] = max(lengths) + (node.op in SPECIAL) if lengths else None
    return max((length for n in derivation.equations.after if (length := found[n]) is not None), default=0)


def _leaves(nodes: Sequence[Node], state: str) -> dict[Node, str]:
    names = {"input": "x", "before": state, "weight": "u"}
    found = {n: f"{names[n.op]}[{int(n.value)}]" for n in nodes if n.op in names}
    return found | {n: f"gradient_{int(n.value)}" for n in nodes if n.op == "seed"}


_READ = ("const float (&x)[inputs]", "const float (&u)[weights]")


def _step(derivation: Derivation) -> list[str]:
    equations = derivation.equations
    terms = Terms(equations.after, _leaves(equations.graph.nodes, "state"), equations.labels)
    lines = [*terms.lines]
    # All are computed before the first is written over.
    lines += [f"const float after_{n} = {terms.of(node)};" for n, node in enumerate(equations.after)]
    lines += [f"state[{number}] = after_{number};" for number in range(len(equations.after))]
    return function_of("step", [*_READ, "float (&state)[states]"], lines, "class Math")


def _backward(derivation: Derivation) -> list[str]:
    equations, backward = derivation.equations, derivation.backward
    results = [*backward.input, *backward.weight, *backward.before]
    terms = Terms(results, _leaves(equations.graph.nodes, "before"), equations.labels)
    lines = [f"const float gradient_{n} = gradient[{n}];" for n in range(len(equations.states))]
    lines += terms.lines
    for name, nodes in (("by_input", backward.input), ("by_weight", backward.weight)):
        lines += [f"{name}[{number}] = {terms.of(node)};" for number, node in enumerate(nodes)]
    lines += [f"gradient[{number}] = {terms.of(node)};" for number, node in enumerate(backward.before)]
    parameters = [
        *_READ,
        "const float (&before)[states]",
        "float (&gradient)[states]",
        "float (&by_input)[inputs]",
        "float (&by_weight)[weights]",
    ]
    return function_of("backward", parameters, lines, "class Math")
