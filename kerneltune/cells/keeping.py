"""Values of a cell's gates that keep its states: for the steps behind the end of a sequence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from kerneltune.cells.derivation import Derivation
from kerneltune.cells.graph import behind
from kerneltune.cells.numbers import computed

MOST_GATES = 7
"""Of a cell with more, no values are looked for: there are three for each gate."""
_DRAWN = 64
_LARGE = 1e3  # what R h + b may be; half of what is drawn is of the order of 1


@dataclass(frozen=True)
class Keeping:
    """Values of W x that keep the states.

    Attributes:
        signs: For each gate -1 for shut, 1 for open, 0 for a W x of zero.
        hidden: Whether the first state, the output, is kept, too, and not only the others.
    """

    signs: tuple[int, ...]
    hidden: bool


def keeping(derivation: Derivation, far: float) -> Keeping | None:
    """The values with the fewest gates away from zero, of those that keep the output if there are any.

    Gates away from zero are `far` or its negative. They are found by trying them on drawn states, weights and
    R h: the states must be the same bit for bit, the output bounded and every gradient finite. None where no
    values keep the states but the output.
    """
    gates = len(derivation.equations.gates)
    if gates > MOST_GATES:
        return None
    signs = sorted(product((0, -1, 1), repeat=gates), key=lambda one: sum(map(abs, one)))
    found = [one for one in (_tried(derivation, each, far) for each in signs) if one is not None]
    return next((one for one in found if one.hidden), found[0] if found else None)


def _tried(derivation: Derivation, signs: Sequence[int], far: float) -> Keeping | None:
    equations = derivation.equations
    draw = np.random.default_rng(0)

    def drawn(scale: float | NDArray[np.float64]) -> NDArray[np.float32]:
        return (scale * draw.standard_normal(_DRAWN)).astype(np.float32)

    before = [drawn(1.0) for _ in equations.states]
    for number, state in enumerate(equations.states):
        if state in equations.positive:
            before[number] = np.abs(before[number]) + np.float32(0.1)
    large = np.where(np.arange(_DRAWN) % 2, _LARGE, 1.0)
    products = [drawn(large) for _ in equations.gates]
    weights = [drawn(1.0) for _ in equations.weights]
    given = {
        "input": [np.full(_DRAWN, far * sign, np.float32) for sign in signs],
        "product": products,
        "total": [np.float32(far * sign) + one for sign, one in zip(signs, products, strict=True)],
        "before": before,
        "weight": weights,
        "seed": [drawn(1.0) for _ in before],
    }
    results = (*equations.after, *derivation.computed)
    known = {node: given[node.op][int(node.value)] for node in behind(results) if node.op in given}
    with np.errstate(all="ignore"):
        values = computed(results, known)
        if not all(np.isfinite(values[node]).all() for node in results):
            return None
    same = [np.array_equal(values[node], old) for node, old in zip(equations.after, before, strict=True)]
    bounded = bool(
        (np.abs(values[equations.after[0]]) <= 10 + max(np.abs(one).max() for one in before)).all()
    )
    return Keeping(tuple(signs), same[0]) if all(same[1:]) and (same[0] or bounded) else None
