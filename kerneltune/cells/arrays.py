"""Cells whose numbers of a channel lie side by side in memory: which of them there are kernels for."""

from __future__ import annotations

from kerneltune.cells.equations import Array, Equations
from kerneltune.cells.structure import Structure

STATES = 2
"""The numbers of h, and of every array behind the first (`kernels/scan/common/tile_pass.cuh`)."""
WIDTHS_OF_FIRST = (1, 2, 4)
"""The numbers that the first array may have."""


def check_arrays(equations: Equations) -> None:
    """Raise `InputError`, with line and column, for arrays of several numbers that there is no kernel for."""
    problem = _of_cell(equations) or _of_states(equations) or _of_inputs(equations.input_arrays)
    if problem:
        name, said = problem
        raise equations.words.source.error(equations.words.places[name], said)


_Problem = tuple[str, str] | None
"""The name at whose declaration something is wrong, and what."""


def _of_cell(equations: Equations) -> _Problem:
    if equations.recurs:
        gate = Structure(equations).gates_with_product[0]
        return gate, f"'{gate}' has R h, but arrays of several numbers are for cells without R"
    if equations.learnable:
        name = equations.learnable[0]
        return name, f"a cell with arrays of several numbers has no learnable option, such as '{name}'"
    if equations.weights:
        name = equations.weights[0]
        return name, f"a cell with arrays of several numbers has no weights of units, such as '{name}'"
    if equations.positive:
        name = equations.positive[0]
        return name, f"states in arrays of several numbers may have any sign: '{name}' is listed as positive"
    return None


def _of_states(equations: Equations) -> _Problem:
    arrays = equations.state_arrays
    if [one.width for one in arrays] != [STATES]:
        wrong = next((one for one in arrays if one.width != STATES), arrays[-1])
        return (
            _declared(wrong, equations.states),
            "beside arrays of several numbers the states are one array of two, such as h(p q), not "
            + " ".join(f"{one.name} of {one.width}" for one in arrays),
        )
    structure = Structure(equations)
    for state, reason in structure.nonlinear.items():
        return state, f"{state}' {reason}: arrays of several numbers are for cells linear in their states"
    for state in equations.states:
        if state not in structure.carried:
            return state, f"no step reads '{state}': each number of a state's array is carried"
    return None


def _of_inputs(arrays: tuple[Array, ...]) -> _Problem:
    first, *others = arrays
    if first.width not in WIDTHS_OF_FIRST:
        return first.name, f"the first array has 1, 2 or 4 numbers, but '{first.name}' has {first.width}"
    for one in others or [first]:
        if one.width != STATES:
            place = "the last array" if one is arrays[-1] else "an array behind the first"
            return one.name, f"{place} has two numbers, as the states, but '{one.name}' has {one.width}"
    return None


def _declared(array: Array, names: tuple[str, ...]) -> str:
    """The name that an array, or a number alone, was declared with."""
    return array.name if array.width > 1 else names[array.first]
