"""The cost of a cell's step on a GPU, counted in its equations: instructions, waiting and registers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from kerneltune.cells.costs import ADDITION, EXACT, FAST, FREE, Cost
from kerneltune.cells.derivation import Derivation, uses
from kerneltune.cells.graph import Node, behind

ACCURACIES = {"fast": FAST, "exact": EXACT}


def work_of(derivation: Derivation) -> dict[str, dict[str, int]]:
    """The constants of constraint files that tell a cell's work, by the accuracy of its functions.

    `step_work` and `gradient_work` are the cycles for which a warp holds a sub-partition of an SM, in a step
    (of h' = a h + b: to have a and b) and in its gradients, which have nothing saved but states.
    `step_latency` and `gradient_latency` are the time from a state to the next one, and from a gradient to
    the one before, in additions one after the other. `step_live` and `gradient_live` are the most values at
    a time. Of a recurrent cell there is `step_work` alone.
    """
    step = _step(derivation)
    if derivation.equations.recurs:
        return {accuracy: {"step_work": _work(step, costs)} for accuracy, costs in ACCURACIES.items()}
    gradient = _gradient(derivation)
    return {
        accuracy: {
            "step_work": _work(step, costs),
            "gradient_work": _work(gradient, costs),
            "step_latency": _latency(derivation.equations.after, ("before",), costs),
            "gradient_latency": _latency(derivation.backward.before, ("seed",), costs),
            "step_live": _live(step),
            "gradient_live": _live(gradient),
        }
        for accuracy, costs in ACCURACIES.items()
    }


def _step(derivation: Derivation) -> tuple[Node, ...]:
    if derivation.equations.recurs:
        return (*derivation.equations.after, *derivation.saved.values)
    if links := derivation.array_links:
        return (*links.numbers, *links.b)
    if coefficients := derivation.coefficients:
        return coefficients.a, coefficients.b
    return derivation.equations.after


def _gradient(derivation: Derivation) -> tuple[Node, ...]:
    if derivation.coefficients or derivation.array_links:
        return derivation.backward.input
    return derivation.backward.results


def _work(results: Sequence[Node], costs: Mapping[str, Cost]) -> int:
    used = uses(results)
    fused = _fused(used)
    return sum(_cost(node, costs).work for node in used if node not in fused)


def _cost(node: Node, costs: Mapping[str, Cost]) -> Cost:
    return costs.get(node.op, ADDITION) if node.args else FREE


def _fused(used: Mapping[Node, int]) -> set[Node]:
    """The products that are one instruction with the sum that alone uses them."""
    found: set[Node] = set()
    for node in used:
        if node.op in ("add", "sub"):
            found.update([arg for arg in node.args if arg.op == "mul" and used[arg] == 1][:1])
    return found


def _latency(results: Sequence[Node], start: Collection[str], costs: Mapping[str, Cost]) -> int:
    """The longest way from a leaf of a kind to a result."""
    fused = _fused(uses(results))
    found: dict[Node, int | None] = {}
    for node in behind(results):
        times = [time for arg in node.args if (time := found[arg]) is not None]
        own = 0 if node in fused else _cost(node, costs).latency
        found[node] = 0 if node.op in start else max(times) + own if times else None
    return max((time for node in results if (time := found[node]) is not None), default=0)


def _live(results: Sequence[Node]) -> int:
    """The most values that are computed and still to be used, in the order of the generated code."""
    order = list(dict.fromkeys(node for one in results for node in behind([one]) if node.args))
    last = {arg: place for place, node in enumerate(order) for arg in node.args}
    last |= dict.fromkeys(results, len(order))
    ends: dict[int, int] = {}
    now = most = 0
    for place, node in enumerate(order):
        now += 1 - ends.pop(place, 0)
        ends[last[node]] = ends.get(last[node], 0) + 1
        most = max(most, now)
    return most
