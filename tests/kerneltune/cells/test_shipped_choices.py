"""What training saves of the shipped cells, as it comes with them."""

from __future__ import annotations

from kerneltune.cells.derivation import Derivation
from kerneltune.cells.equations import read_equations
from kerneltune.inputs.descriptions import discover
from kerneltune.inputs.equation_cell import EquationCell, shipped_choices
from kerneltune.inputs.shipped_choices import choices


def test_what_shipped_cells_save_was_chosen_as_it_is_chosen() -> None:
    """`python -m kerneltune.inputs.shipped_choices` writes the file."""
    made = choices(discover().root / "cells")
    assert shipped_choices() == made
    for key, choice in made.items():
        cell = discover().cell(key.partition("@")[0])
        if isinstance(cell, EquationCell):
            assert cell.derivation.choice == choice
            known = made_of(cell).saved
            assert [str(one) for one in cell.derivation.saved.values] == [str(one) for one in known.values]
            assert cell.derivation.saved.states == known.states


def test_a_choice_of_another_graph_is_made_anew() -> None:
    cell = EquationCell.of_file(discover().root / "cells" / "gru.cell")
    stale = {**shipped_choices()[cell.key], "nodes": 3, "values": [0]}
    found = Derivation(read_equations(cell.name, cell.text_source), stale).saved
    assert len(found.values) == 4


def made_of(cell: EquationCell) -> Derivation:
    return Derivation(read_equations(cell.name, cell.text_source))
