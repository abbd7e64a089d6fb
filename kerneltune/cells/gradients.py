"""Reverse mode: the gradients by a step's operands, as values of the same graph.

A gradient is a known gradient, its seed, and the factors since. Factors are applied when the gradient is
used, so that a product that several gradients share is computed once, and sums of gradients with one seed
become a product with the sum of their factors.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kerneltune.cells.graph import CONDITIONS, Graph, Node, behind
from kerneltune.cells.slopes import DIFFERENTIATED, Factor, Factors, slopes


@dataclass(frozen=True)
class Gradient:
    """A gradient by a value: a known one and the factors that it is multiplied with."""

    seed: Node
    factors: Factors = ()


def gradients(graph: Graph, after: Sequence[Node]) -> dict[Node, Gradient]:
    """The gradients by all leaves that the states after a step depend on.

    Args:
        graph: The values; gradients are added to it.
        after: The states; the gradient by each is the leaf `seed` of its number.

    Returns:
        The gradients by leaf. Leaves without one do not occur.
    """
    arrived: defaultdict[Node, list[Gradient]] = defaultdict(list)
    for number, node in enumerate(after):
        arrived[node].append(Gradient(graph.leaf("seed", number)))
    found: dict[Node, Gradient] = {}
    for node in reversed(behind(after)):
        if not arrived[node] or node.op == "constant" or node.op in CONDITIONS or node.op == "sign":
            continue
        gradient = _joined(graph, arrived[node])
        if not node.args:
            found[node] = gradient
            continue
        reached = DIFFERENTIATED.get(node.op, range(len(node.args)))
        local = slopes(graph, node)
        for place in reached:
            one = Gradient(gradient.seed, (*gradient.factors, *local[place]))
            arrived[node.args[place]].append(one)
    return found


def value_of(graph: Graph, gradient: Gradient) -> Node:
    """A gradient as a value."""
    factors = gradient.factors
    if graph.factors_first and _is_product(factors):
        return graph.mul(gradient.seed, applied(graph, graph.constant(1.0), factors))
    return applied(graph, gradient.seed, factors)


def value_by_last(graph: Graph, gradient: Gradient) -> Node:
    """A gradient as the product of its last factor and what comes before, which others often are as well."""
    *before, last = gradient.factors or (None,)
    if last is None or last.node is None:
        return value_of(graph, gradient)
    return applied(graph, value_of(graph, Gradient(gradient.seed, tuple(before))), (last,))


def _is_product(factors: Factors) -> bool:
    return all(factor.kind in ("times", "negated") for factor in factors)


def applied(graph: Graph, value: Node, factors: Factors) -> Node:
    """A value times some factors."""
    zero = graph.constant(0.0)
    for factor in factors:
        node = factor.node
        if node is None:
            value = graph.neg(value)
        elif factor.kind == "times":
            value = graph.mul(value, node)
        elif factor.kind == "if":
            value = graph.apply("select", node, value, zero)
        else:
            value = graph.apply("select", node, zero, value)
    return value


def _joined(graph: Graph, parts: Sequence[Gradient]) -> Gradient:
    """The sum of gradients: those with one seed first, then the sums of these."""
    of_seeds: defaultdict[Node, list[Gradient]] = defaultdict(list)
    for part in parts:
        of_seeds[part.seed].append(part)
    joined = [_of_one_seed(graph, those) for those in of_seeds.values()]
    if len(joined) == 1:
        return joined[0]
    # The latest is added last, and bare gradients first: each product is one instruction with the sum so far.
    joined.sort(key=lambda one: (bool(one.factors), graph.lateness(one.seed)))
    latest = graph.lateness(joined[-1].seed)
    total = graph.constant(0.0)
    for one in joined:
        is_late = graph.lateness(one.seed) == latest
        total = _added(graph, total, value_of(graph, one) if is_late else value_by_last(graph, one))
    return Gradient(total)


def _of_one_seed(graph: Graph, parts: Sequence[Gradient]) -> Gradient:
    """The sum of gradients with one seed."""
    if len(parts) == 1:
        return parts[0]
    shared = _shared(parts)
    if shared is None:
        ordered = sorted(parts, key=lambda part: not part.factors)
        return Gradient(sum_of(graph, [value_of(graph, part) for part in ordered]))
    seed, prefix = shared
    suffixes = [part.factors[len(prefix) :] for part in parts]
    one = graph.constant(1.0)
    total = sum_of(graph, [applied(graph, one, suffix) for suffix in suffixes])
    return Gradient(seed, (*prefix, Factor("times", total)))


def _shared(parts: Sequence[Gradient]) -> tuple[Node, Factors] | None:
    """The seed and the first factors that all have, if no other factor is a condition."""
    length = 0
    while all(len(part.factors) > length for part in parts):
        if len({part.factors[length] for part in parts}) > 1:
            break
        length += 1
    rest = [factor for part in parts for factor in part.factors[length:]]
    if any(factor.kind in ("if", "unless") for factor in rest):
        return None
    return parts[0].seed, parts[0].factors[:length]


def sum_of(graph: Graph, values: Sequence[Node]) -> Node:
    """The sum of some values."""
    total = values[0]
    for value in values[1:]:
        total = graph.add(total, value) if "neg" not in (value.op, total.op) else _added(graph, total, value)
    return total


def _added(graph: Graph, total: Node, value: Node) -> Node:
    """A value plus a sum, in which a product as the value is one instruction with the sum."""
    if value.op == "neg":
        return graph.sub(total, value.args[0])
    return graph.sub(value, total.args[0]) if total.op == "neg" else graph.add(value, total)


def by_gate(found: Mapping[Node, Gradient], graph: Graph, gates: int) -> tuple[list[Node], list[Node]]:
    """The gradients by W x and by R h + b of each gate; 0 where there is none."""
    zero = graph.constant(0.0)
    by_input, by_product = [zero] * gates, [zero] * gates
    for node, gradient in found.items():
        number = int(node.value)
        if node.op in ("total", "input"):
            by_input[number] = graph.add(by_input[number], value_of(graph, gradient))
        if node.op in ("total", "product"):
            by_product[number] = graph.add(by_product[number], value_of(graph, gradient))
    return by_input, by_product
