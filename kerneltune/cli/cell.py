"""``kerneltune cell``: what a cell's equations say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kerneltune.cli.failures import print_json, reporting
from kerneltune.cli.options import HELP, json_option
from kerneltune.errors import InputError

if TYPE_CHECKING:
    from kerneltune.inputs.equation_cell import EquationCell

KINDS = {
    "recurrent": "recurrent through R",
    "diagonal": "diagonal: a unit sees its own states only, not linearly",
    "linear": "linear in its states, with coefficients of inputs and weights alone",
}


@click.group(name="cell", context_settings=HELP)
def cell_app() -> None:
    """Recurrent cells that are written as equations."""


@cell_app.command(context_settings=HELP)
@click.argument("cell")
@json_option
def show(cell: str, *, as_json: bool) -> None:
    """Show what follows from a cell's equations: derivatives, what training saves, strategies.

    CELL is a file, such as mine.cell, or the name of a cell that comes with kerneltune.
    """
    with reporting(as_json):
        about = described(_found(cell))
        if as_json:
            print_json(about)
            return
        for line in lines(about):
            click.echo(line)


@cell_app.command(context_settings=HELP)
@click.argument("cell")
def cuda(cell: str) -> None:
    """Print the CUDA struct that is generated from a cell's equations.

    CELL is a file, such as mine.cell, or the name of a cell that comes with kerneltune. A header mine.cuh
    beside mine.cell counts in place of what is generated: this is what to begin with.
    """
    with reporting(as_json=False):
        found = _found(cell)
        click.echo(f"#pragma once\n{type(found).of_texts(*found.texts[:3]).declaration(Path())}")


def _found(name: str) -> EquationCell:
    from kerneltune.inputs.descriptions import discover
    from kerneltune.inputs.equation_cell import EquationCell
    from kerneltune.inputs.scan_descriptions import discover_scans

    kernels = discover_scans() if name in discover_scans().cells else discover()
    found = kernels.cell(name)
    if not isinstance(found, EquationCell):
        raise InputError(f"the cell '{name}' is written in CUDA: there are no equations to show")
    return found


def described(cell: EquationCell) -> dict[str, object]:
    """All that is shown."""
    from kerneltune.cells.shown import Shown

    shown, equations = Shown(cell.derivation), cell.derivation.equations
    structure = shown.structure
    return {
        "name": cell.name,
        "summary": equations.summary,
        **{kind: list(getattr(equations, kind)) for kind in ("gates", "states", "weights")},
        "kind": structure.kind,
        "equations": shown.equations(),
        "jacobian": shown.jacobian(),
        **({"saved": shown.saved()} if structure.kind == "recurrent" else {}),
        "special_functions": shown.special_functions(),
        "strategies": dict.fromkeys(structure.strategies) | structure.refusals,
    }


def lines(about: dict[str, Any]) -> list[str]:
    """The same as text."""
    states = about["states"]
    found = [f"{about['name']}: {about['summary']}" if about["summary"] else about["name"]]
    found += [f"  {kind} {' '.join(about[kind])}" for kind in ("gates", "states", "weights") if about[kind]]
    found += [f"  {KINDS[about['kind']]}", "", "Equations"]
    found += [f"  {line}" for line in about["equations"]]
    found += ["", "Derivatives of the states after a step by those before it, without R h"]
    for after, row in zip(states, about["jacobian"], strict=True):
        shown = [f"by {before}: {one}" for before, one in zip(states, row, strict=True) if one != "0"]
        found.append(f"  {after}'  {',  '.join(shown) or 'none'}")
    found += _saved_lines(about["saved"]) if "saved" in about else []
    counts = [f"{count} {name}" for name, count in about["special_functions"].items()]
    found += ["", f"Special functions of each unit and step: {', '.join(counts)}", "", "Strategies"]
    found += [f"  {name:16} {reason or 'exact'}" for name, reason in about["strategies"].items()]
    return found


def _saved_lines(saved: dict[str, Any]) -> list[str]:
    found = ["", "Training saves of each unit and step"]
    found.append(f"  in the storage type: {', '.join(saved['values']) or 'nothing'}")
    found.append(f"  in float32: {', '.join(saved['states']) or 'nothing'}")
    if saved["reads_hidden"]:
        found.append(f"  h {saved['reads_hidden']} is read")
    found.append(f"  computed again: {', '.join(saved['computed_again']) or 'no special function'}")
    return found
