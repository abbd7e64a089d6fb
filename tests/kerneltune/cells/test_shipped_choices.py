"""What training saves of the shipped cells, as it comes with them."""

from __future__ import annotations

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
            assert cell.derivation.saved.to_json() == choice
