"""What an optimum of a relaxation says of variables."""

from __future__ import annotations

import pytest

from constrint.engine.state_arrays import Box
from constrint.propagators import LinearEqIf
from constrint.relaxation.columns import Columns
from constrint.relaxation.point import Point


@pytest.fixture
def columns() -> Columns:
    """Variable 0 as a column; members of 1; of 2 both; 3 by literals of the model (4, the opposite of 5)."""
    box = Box([0] * 7, [9, 3, 3, 3, 1, 1, 9], [1] * 7, [None] * 7)
    nodes = [LinearEqIf(2 * 4, ((1, 3),), 1), LinearEqIf(2 * 5 + 1, ((1, 3),), 2)]
    found = Columns(box, nodes, 100)
    found.of(0)
    found.equals(1, 0)
    found.equals(1, 2)
    found.of(2)
    found.equals(2, 3)
    found.equals(3, 1)
    found.equals(3, 2)
    found.free(7, 0)
    return found


def test_values_and_agreements(columns: Columns) -> None:
    assert columns.variable == [0, 1, 1, 2, 2, 4, 5, -7]
    assert columns.value == [None, 0, 2, None, 3, None, None, 0]
    point = Point(columns, [4.75, 0.125, 0.25, 1.5, 0.25, 0.0, 0.375, 1.0])
    assert [point.value(v) for v in (0, 1, 2, 3, 4, 6)] == [5, 2, 2, 2, 0, None]
    assert (point.agreement(0, 5), point.agreement(0, 4), point.agreement(0, 9)) == (0.75, 0.25, 0.0)
    assert (point.agreement(1, 2), point.agreement(1, 0), point.agreement(1, 1)) == (0.25, 0.125, 0.625)
    assert (point.agreement(2, 3), point.agreement(2, 1)) == (0.25, 0.5)
    assert (point.agreement(3, 1), point.agreement(3, 2)) == (0.0, 0.625)
    assert point.agreement(6, 0) is None


def test_a_member_that_has_most_stands_before_the_variable(columns: Columns) -> None:
    point = Point(columns, [0, 0, 1, 1.5, 0.75, 0, 0, 0])
    assert point.value(2) == 3
