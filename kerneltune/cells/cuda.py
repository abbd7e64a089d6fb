"""The CUDA struct of a recurrent cell, with the interface of kernels/cells/slstm.cuh."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kerneltune.cells.cuda_terms import Terms
from kerneltune.cells.derivation import Derivation
from kerneltune.cells.graph import CONDITIONS, Node, behind

STRUCT = "DerivedCell"


def struct_of(derivation: Derivation) -> str:
    """The struct, in the namespace `kerneltune`; what it includes is relative to the kernels folder."""
    parts = (*_constants(derivation), *_adds_input(derivation), *_step(derivation))
    body = [*parts, *_begin_backward(derivation), *_backward(derivation), *_end_backward(derivation)]
    inside = "\n".join(f"  {line}" if line else "" for line in body)
    return (
        '#include "common/numeric/activations.cuh"\n#include "common/numeric/choices.cuh"\n'
        '#include "common/numeric/gate.cuh"\n\n'
        f"namespace kerneltune {{\n\nstruct {STRUCT} {{\n{inside}\n}};\n\n}}  // namespace kerneltune"
    )


def _constants(derivation: Derivation) -> list[str]:
    numbers = {
        **derivation.constants,
        "carried": len(derivation.equations.states),
        "hidden_read": derivation.saved.hidden,
    }
    if derivation.equations.weights:
        numbers["weights"] = len(derivation.equations.weights)
    flags = {
        "separate_gradients": derivation.separate_gradients,
        "reads_hidden": any(n.op == "before" and n.value == 0 for n in behind(derivation.equations.after)),
    }
    found = [f"static constexpr int {name} = {value};" for name, value in numbers.items()]
    found += [f"static constexpr bool {name} = {str(value).lower()};" for name, value in flags.items()]
    return [*found, ""]


def _adds_input(derivation: Derivation) -> list[str]:
    equations = derivation.equations
    apart = [g for g in range(len(equations.gates)) if not equations.adds_input(g)]
    parameter = "int gate" if apart else "int"
    condition = " && ".join(f"gate != {gate}" for gate in apart) or "true"
    return [
        f"static constexpr __host__ __device__ bool adds_input({parameter}) {{ return {condition}; }}",
        "",
    ]


def sized(count: int) -> int:
    """The length of an array in the interface: an array has one element at least."""
    return max(1, count)


def function_of(name: str, parameters: Sequence[str], lines: Sequence[str], template: str = "") -> list[str]:
    """A device function, and an empty line."""
    head = [f"template <{template}>"] if template else []
    head.append(f"static __device__ __forceinline__ void {name}({', '.join(parameters)}) {{")
    return [*head, *(f"  {line}" for line in lines), "}", ""]


def _gate_leaves(derivation: Derivation, nodes: Sequence[Node]) -> dict[Node, str]:
    """Expressions of the gates' sums and parts in a step."""
    found = {}
    for node in nodes:
        gate = int(node.value)
        if node.op == "total":
            apart = not derivation.equations.adds_input(gate)
            found[node] = f"(sum[{gate}] + input[{gate}])" if apart else f"sum[{gate}]"
        elif node.op == "product":
            found[node] = f"sum[{gate}]"
        elif node.op == "input":
            found[node] = f"input[{gate}]"
        elif node.op == "before":
            found[node] = f"state[{gate}]"
        elif node.op == "weight":
            found[node] = f"weight[{gate}]"
    return found


def _step(derivation: Derivation) -> list[str]:
    equations, saved = derivation.equations, derivation.saved
    results = [*equations.after, *saved.values]
    known = _gate_leaves(derivation, equations.graph.nodes)
    terms = Terms(results, known, equations.labels, late=("total", "product"), products=True)
    lines = list(terms.lines)
    # All are computed before the first is written over.
    for number, node in enumerate(equations.after):
        lines.append(f"const float after_{number} = {terms.of(node)};")
    for number, node in enumerate(saved.values):
        lines.append(f"saved[{number}] = {_as_number(terms, node)};")
    lines += [f"saved[{number}] = 0.0f;" for number in range(len(saved.values), saved.slots)]
    lines += [f"state[{number}] = after_{number};" for number in range(len(equations.after))]
    parameters = [
        "const float (&sum)[gates]",
        "const float (&input)[gates]",
        *_weights(derivation),
        "float (&state)[states]",
        f"float (&saved)[{sized(saved.slots)}]",
    ]
    return function_of("step", parameters, lines, "class Math")


def _weights(derivation: Derivation) -> list[str]:
    return ["const float (&weight)[weights]"] if derivation.equations.weights else []


def _as_number(terms: Terms, node: Node) -> str:
    text = terms.of(node)
    return f"({text}) ? 1.0f : 0.0f" if node.op in CONDITIONS else text


def _backward_leaves(derivation: Derivation) -> Mapping[Node, str]:
    """The names that the backward pass reads, by the values that it stands for."""
    equations, saved = derivation.equations, derivation.saved
    found: dict[Node, str] = {}
    for node in equations.graph.nodes:
        number = int(node.value)
        if node.op == "seed":
            found[node] = f"gradient_{number}" if number else "hidden_gradient"
        elif node.op == "before" and 1 <= number <= saved.states:
            found[node] = f"record.before[{number - 1}]"
        elif node.op == "before" and number == 0 and saved.hidden == 0:
            found[node] = "record.hidden"
        elif node.op == "weight":
            found[node] = f"weight[{number}]"
        elif node.op == "not_above_zero" and node.args[0] is equations.after[0] and saved.hidden == 1:
            found[node] = "record.hidden <= 0.0f"
    for number, node in enumerate(equations.after[1 : saved.states + 1]):
        found.setdefault(node, f"after[{number}]")
    for number, node in enumerate(saved.values):
        text = f"record.value[{number}]"
        found[node] = f"{text} > 0.0f" if node.op in CONDITIONS else text
    return found


def _backward(derivation: Derivation) -> list[str]:
    equations, backward = derivation.equations, derivation.backward
    gates, states = range(len(equations.gates)), range(len(equations.states))
    results = [*backward.product, *backward.before]
    results += backward.input if derivation.separate_gradients else ()
    terms = Terms(results, _backward_leaves(derivation), equations.labels)
    lines = [f"const float gradient_{state} = carried[{state}];" for state in states if state]
    lines += terms.lines
    for gate in gates:
        lines.append(f"recurrent_gradient[{gate}] = {terms.of(backward.product[gate])};")
    for gate in gates:
        given = (
            terms.of(backward.input[gate]) if derivation.separate_gradients else f"recurrent_gradient[{gate}]"
        )
        lines.append(f"input_gradient[{gate}] = {given};")
    for state in states:
        lines.append(f"carried[{state}] = {terms.of(backward.before[state])};")
    parameters = [
        "float hidden_gradient",
        "const Record& record",
        f"const float (&after)[{sized(derivation.saved.states)}]",
        *_weights(derivation),
        "float (&carried)[states]",
        "float (&input_gradient)[gates]",
        "float (&recurrent_gradient)[gates]",
    ]
    return function_of("backward", parameters, lines, "class Math, class Record")


def _begin_backward(derivation: Derivation) -> list[str]:
    kept = sized(derivation.saved.states)
    parameters = ["const float (&gradient)[states]", f"const float (&)[{kept}]", "float (&carried)[states]"]
    lines = [f"carried[{state}] = gradient[{state}];" for state in range(len(derivation.equations.states))]
    return function_of("begin_backward", parameters, lines)


def _end_backward(derivation: Derivation) -> list[str]:
    kept = sized(derivation.saved.states)
    parameters = [
        "float hidden_gradient",
        f"const float (&)[{kept}]",
        "const float (&carried)[states]",
        "float (&gradient)[states]",
    ]
    others = range(1, len(derivation.equations.states))
    lines = ["gradient[0] = hidden_gradient;", *(f"gradient[{s}] = carried[{s}];" for s in others)]
    return function_of("end_backward", parameters, lines)[:-1]
