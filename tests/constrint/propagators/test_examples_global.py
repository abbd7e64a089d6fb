"""One example of each propagator of a global constraint: domains before, domains after, and why.

Variables are numbered from 0 on in the order of the domains.
"""

from __future__ import annotations

import re
from pathlib import Path

from pruning import pruned

from constrint import propagators as p

PLAIN = [(1, v, 0) for v in range(3)]  # the variables themselves: factor, variable, summand


def test_each_propagator_has_an_example() -> None:
    """`test_example_linear_le` for `LinearLe`, in a file of this folder, with a sentence that says why."""
    text = "".join(
        path.read_text("utf-8") for path in sorted(Path(__file__).parent.glob("test_examples_*.py"))
    )
    explained = set(re.findall(r'^def test_example_(\w+)\(\) -> None:\n    """.+\.\n?', text, re.MULTILINE))
    wanted = {re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind.__name__).lower() for kind in p.REGISTRY}
    assert explained == wanted


def test_example_all_different() -> None:
    """A value that is taken is no other's: 2, and then 3."""
    assert pruned(p.AllDifferent(tuple(PLAIN)), "2", "2..3", "1..9") == ["2", "3", "1, 4..9"]


def test_example_all_different_bounds() -> None:
    """Two variables share 1 and 2, so the third is at least 3: bounds of Hall intervals."""
    assert pruned(p.AllDifferentBounds(tuple(PLAIN)), "1..2", "1..2", "1..5") == ["1, 2", "1, 2", "3..5"]


def test_example_all_different_domain() -> None:
    """Two variables share 1 and 4, which the third loses between its bounds, too."""
    node = p.AllDifferentDomain(tuple(PLAIN), 0, 7)
    assert pruned(node, "1, 4", "1, 4", "0..6") == ["1, 4", "1, 4", "0, 2, 3, 5, 6"]


def test_example_cardinality() -> None:
    """Value 7 is taken twice: both variables that can take it do."""
    node = p.Cardinality((0, 1, 2), (7,), (3,), False)
    assert pruned(node, "1..7", "5..9", "1..3", "2") == ["7", "7", "1..3", "2"]


def test_example_circuit() -> None:
    """From 0 to 1: to return from there would leave out 2. That values differ is for all_different."""
    assert pruned(p.Circuit((0, 1, 2)), "1", "0, 2", "0, 1") == ["1", "2", "0, 1"]


def test_example_subcircuit() -> None:
    """0 goes to 1, which so is on the circuit: it is not its own successor, as nodes off it are."""
    assert pruned(p.Subcircuit((0, 1, 2)), "1", "0..2", "2") == ["1", "0, 2", "2"]


def test_example_inverse() -> None:
    """x[0] is 2, so y[2] is 0; the others share what is left."""
    assert pruned(p.Inverse((0, 1, 2), (3, 4, 5)), "2", *["0..2"] * 5) == [
        *("2", "0, 1", "0, 1", "1, 2", "1, 2", "0")
    ]


def test_example_lexicographic() -> None:
    """(x, y) < (3, 4): x is 3 at most; it is 3, so y is 3 at most."""
    node = p.Lexicographic(0, (1, 2), (3, 4), True)
    assert pruned(node, "1", "3..9", "0..9", "3", "4") == ["1", "3", "0..3", "3", "4"]


def test_example_no_overlap() -> None:
    """A task of 4 that must begin at 1 or before runs at 2 … 3, where the other, of 2, finds no room."""
    node = p.NoOverlap((0, 1), (2, 3))
    assert pruned(node, "0..1", "0..9", "4", "2") == ["0, 1", "4..9", "4", "2"]


def test_example_no_overlap_optional() -> None:
    """Two tasks of 3 do not fit into 0 … 4: the second is absent."""
    node = p.NoOverlapOptional((0, 1), (2, 3), (8, 10))
    assert pruned(node, "0..1", "0..1", "3", "3", "1", "0, 1")[4:] == ["1", "0"]


def test_example_cumulative() -> None:
    """A task runs at 2 and 3 wherever it begins, with 2 of 3 units: the other, of 2 units, waits."""
    node = p.Cumulative((0, 1), (2, 3), (4, 5), 6)
    given = ["0..2", "2..9", "4", "2", "2", "2", "3"]
    assert pruned(node, *given)[:2] == ["0..2", "4..9"]


def test_example_rectangles() -> None:
    """Two squares of 2 on the same rows: the second lies to the right of the first."""
    node = p.Rectangles((0, 1), (2, 3), (4, 5), (6, 7))
    assert pruned(node, "0", "0..5", "0", "1", *["2"] * 4)[:2] == ["0", "2..5"]


def test_example_arcs() -> None:
    """Nodes 1 and 2 are a chain by arc (1, 2), which does not close without the depot, node 0.

    Of the arcs (0, 1), (1, 2), (2, 0), (2, 1), the last is false.
    """
    node = p.Arcs(3, (0, 1, 2, 2), (1, 2, 0, 1), (0, 2, 4, 6), 0)
    assert pruned(node, "0, 1", "1", "0, 1", "0, 1") == ["0, 1", "1", "0, 1", "0"]
