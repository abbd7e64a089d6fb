"""The CUDA struct of a cell without R.

Its interface is that of kernels/scan/cells/minlstm.cuh if the cell is h' = a h + b of numbers, that which
kernels/scan/common/tile_pass.cuh describes if it is so of arrays, and else `step` and `backward` as
kernels/scan/common/steps.cuh has them.
"""

from __future__ import annotations

from collections.abc import Sequence

from kerneltune.cells.cuda import STRUCT, function_of, sized
from kerneltune.cells.cuda_terms import Terms
from kerneltune.cells.derivation import Derivation
from kerneltune.cells.graph import Node, behind
from kerneltune.cells.linear import Coefficients, Links


def scan_struct_of(derivation: Derivation) -> str:
    """The struct, in the namespace `kerneltune`; what it includes is relative to the kernels folder."""
    if derivation.array_links:
        body = _of_arrays(derivation, derivation.array_links)
    elif derivation.coefficients:
        body = _scanned(derivation, derivation.coefficients)
    else:
        linked = _linked(derivation, derivation.links) if derivation.links else []
        body = [*_constants(derivation), *linked, *_step(derivation), *_backward(derivation)[:-1]]
    inside = "\n".join(f"  {line}" if line else "" for line in body)
    headers = ["common/numeric/activations.cuh", "common/numeric/choices.cuh"]
    headers += ["scan/common/factors.cuh"] if derivation.links or derivation.array_links else []
    headers += [] if derivation.coefficients or derivation.array_links else ["common/numeric/gate.cuh"]
    included = "".join(f'#include "{name}"\n' for name in headers)
    return (
        f"{included}\nnamespace kerneltune {{\n\n"
        f"struct {STRUCT} {{\n{inside}\n}};\n\n}}  // namespace kerneltune"
    )


def _constants(derivation: Derivation) -> list[str]:
    equations = derivation.equations
    numbers = {
        "inputs": len(equations.gates),
        "weights": len(equations.weights),
        "states": len(equations.states),
    }
    lines = [f"static constexpr int {name} = {value};" for name, value in numbers.items()]
    return [*lines, "static constexpr bool computes = true;", ""]


def _scanned(derivation: Derivation, coefficients: Coefficients) -> list[str]:
    numbers = {"inputs": len(derivation.equations.gates), "gradient_inputs": gradient_inputs(derivation)}
    lines = [f"static constexpr int {name} = {value};" for name, value in numbers.items()]
    lines += [f"static constexpr bool computes = {str(coefficients.computes).lower()};", ""]
    return [*lines, *_coefficients(derivation, coefficients), *_gradients(derivation)[:-1]]


def gradient_inputs(derivation: Derivation) -> int:
    """The number of first arrays that the gradients of h' = a h + b depend on."""
    values = [*derivation.backward.input, *derivation.backward.before]
    last = max((int(node.value) for node in behind(values) if node.op == "input"), default=-1)
    return sum(one.first <= last for one in derivation.equations.input_arrays)


def _of_arrays(derivation: Derivation, links: Links) -> list[str]:
    """A cell with arrays of several numbers: its functions have all numbers of a channel, flat."""
    equations = derivation.equations
    numbers = {
        "inputs": len(equations.gates),
        "arrays": len(equations.input_arrays),
        "first_width": equations.input_arrays[0].width,
        "gradient_arrays": gradient_inputs(derivation),
    }
    head = [f"using Factor = {links.factor};"]
    head += [f"static constexpr int {name} = {value};" for name, value in numbers.items()]
    nodes, labels = equations.graph.nodes, equations.labels
    read = "const float (&x)[inputs]"
    terms = Terms([*links.numbers, *links.b], _leaves(nodes, "before"), labels)
    lines = [*terms.lines, *_written("a", links.numbers, terms), *_written("b", links.b, terms)]
    parameters = [read, "float (&a)[Factor::numbers]", "float (&b)[Factor::states]"]
    forward = function_of("coefficients", parameters, lines, "class Math")
    by_input = derivation.backward.input
    known = _leaves(nodes, "before") | {n: f"gradient[{int(n.value)}]" for n in nodes if n.op == "seed"}
    terms = Terms(by_input, known, labels)
    lines = [*terms.lines, *_written("by_input", by_input, terms)]
    states = [f"const float (&{name})[Factor::states]" for name in ("before", "gradient")]
    parameters = [read, *states, "float (&by_input)[inputs]"]
    return [*head, "", *forward, *function_of("gradients", parameters, lines, "class Math")[:-1]]


def _written(name: str, nodes: Sequence[Node], terms: Terms) -> list[str]:
    return [f"{name}[{number}] = {terms.of(node)};" for number, node in enumerate(nodes)]


def _coefficients(derivation: Derivation, coefficients: Coefficients) -> list[str]:
    equations, results = derivation.equations, [coefficients.a, coefficients.b]
    names = {n: f"input[{int(n.value)}]" for n in equations.graph.nodes if n.op == "input"}
    terms = Terms(results, names, equations.labels)
    lines = [*terms.lines, f"a = {terms.of(coefficients.a)};", f"b = {terms.of(coefficients.b)};"]
    return function_of(
        "coefficients", ["const float (&input)[inputs]", "float& a", "float& b"], lines, "class Math"
    )


def _linked(derivation: Derivation, links: Links) -> list[str]:
    """The links of the steps, for states_segment.cuh."""
    *others, last = links.carried
    parameter = "int number" if others else "int"
    place = "".join(f"number == {n} ? {state} : " for n, state in enumerate(others)) + f"{last}"
    head = [
        f"using Linked = {links.factor};",
        "// Of a number that is carried, the state that it is.",
        f"static constexpr __host__ __device__ int place({parameter}) {{ return {place}; }}",
        "",
    ]
    terms = Terms(
        [*links.numbers, *links.b],
        _leaves(derivation.equations.graph.nodes, "state"),
        derivation.equations.labels,
    )
    lines = list(terms.lines)
    lines += [*_written("a", links.numbers, terms), *_written("b", links.b, terms)]
    written = ["float (&a)[Linked::numbers]", "float (&b)[Linked::states]"]
    return [*head, *function_of("coefficients", [*_read(derivation), *written], lines, "class Math")]


def _gradients(derivation: Derivation) -> list[str]:
    equations, results = derivation.equations, derivation.backward.input
    names = {"input": "input[{}]", "before": "before", "seed": "gradient"}
    known = {n: names[n.op].format(int(n.value)) for n in equations.graph.nodes if n.op in names}
    terms = Terms(results, known, equations.labels)
    lines = [*terms.lines, *_written("by_input", results, terms)]
    parameters = [
        "const float (&input)[inputs]",
        "float before",
        "float gradient",
        "float (&by_input)[inputs]",
    ]
    return function_of("gradients", parameters, lines, "class Math")


def _leaves(nodes: Sequence[Node], state: str) -> dict[Node, str]:
    names = {"input": "x", "before": state, "weight": "u"}
    found = {n: f"{names[n.op]}[{int(n.value)}]" for n in nodes if n.op in names}
    return found | {n: f"gradient_{int(n.value)}" for n in nodes if n.op == "seed"}


def _read(derivation: Derivation) -> list[str]:
    weights = sized(len(derivation.equations.weights))
    return ["const float (&x)[inputs]", f"const float (&u)[{weights}]"]


def _step(derivation: Derivation) -> list[str]:
    equations = derivation.equations
    known = _leaves(equations.graph.nodes, "state")
    terms = Terms(equations.after, known, equations.labels, late=("before",))
    lines = [*terms.lines]
    # All are computed before the first is written over.
    lines += [f"const float after_{n} = {terms.of(node)};" for n, node in enumerate(equations.after)]
    lines += [f"state[{number}] = after_{number};" for number in range(len(equations.after))]
    return function_of("step", [*_read(derivation), "float (&state)[states]"], lines, "class Math")


def _backward(derivation: Derivation) -> list[str]:
    equations, backward = derivation.equations, derivation.backward
    results = [*backward.input, *backward.weight, *backward.before]
    # As in the step, so that what is computed once more has the same bits.
    terms = Terms(results, _leaves(equations.graph.nodes, "before"), equations.labels, late=("before",))
    lines = [f"const float gradient_{n} = gradient[{n}];" for n in range(len(equations.states))]
    lines += terms.lines
    lines += [*_written("by_input", backward.input, terms), *_written("by_weight", backward.weight, terms)]
    lines += _written("gradient", backward.before, terms)
    parameters = [
        *_read(derivation),
        "const float (&before)[states]",
        "float (&gradient)[states]",
        "float (&by_input)[inputs]",
        f"float (&by_weight)[{sized(len(equations.weights))}]",
    ]
    return function_of("backward", parameters, lines, "class Math")
