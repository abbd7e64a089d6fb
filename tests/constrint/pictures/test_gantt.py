"""Gantt charts: their bars stand where the schedule says, in SVG that others can read."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import constrint as ci
from constrint import Interval, Result
from constrint.pictures import gantt, write_gantt

SVG = "{http://www.w3.org/2000/svg}"


def bars(text: Any) -> Any:
    """The rectangles and the tip of each bar."""
    found = {}
    for group in ElementTree.fromstring(text).iter(f"{SVG}g"):
        boxes = [{k: float(box.get(k)) for k in ("x", "y", "width")} for box in group.iter(f"{SVG}rect")]  # type: ignore[arg-type]
        found[group.find(f"{SVG}title").text] = boxes  # type: ignore[union-attr]
    return found


def texts(text: Any) -> list[str]:
    return [one.text for one in ElementTree.fromstring(text).iter(f"{SVG}text")]  # type: ignore[misc]


@pytest.fixture
def shop() -> tuple[Result, tuple[Interval, Interval, Interval, Interval]]:
    m = ci.Model()
    a = m.interval("a <1>", 0, 4)
    b = m.interval("b", 2, 4, breaks=[(3, 5)])
    c = m.interval("c", 4, 0)
    d = m.interval("d", (0, 9), 2, optional=True)
    m.add(~d.presence)
    return m.solve(), (a, b, c, d)


def test_bars_are_in_proportion_and_overlaps_have_lanes(shop: tuple[Result, tuple[Interval, ...]]) -> None:
    result, (a, b, c, d) = shop
    text = gantt(result, {"one & all": [a, b, c], "none": [d]}, title="T").svg
    found = bars(text)
    first, second, third = (
        found["a <1>: 0 to 4, size 4"],
        found["b: 2 to 8, size 4"],
        found["c: 4 to 4, size 0"],
    )
    unit = first[0]["width"] / 4
    assert [piece["width"] for piece in second] == pytest.approx([unit, 3 * unit], abs=0.02)
    assert [(piece["x"] - first[0]["x"]) / unit for piece in second] == pytest.approx([2, 5], abs=0.01)
    assert (third[0]["x"] - first[0]["x"]) / unit == pytest.approx(4, abs=0.01)
    assert second[0]["y"] > first[0]["y"] == third[0]["y"]
    assert {"T", "one & all", "none", "absent: d", "a <1>"} <= set(texts(text))
    assert {str(hour) for hour in range(9)} <= set(texts(text))


def test_each_interval_has_a_row_by_default(shop: tuple[Result, tuple[Interval, ...]]) -> None:
    chart = gantt(shop[0])
    assert [row.name for row in chart.rows] == ["a <1>", "b", "c", "d"]
    assert chart._repr_svg_() == chart._repr_html_() == chart.svg
    assert "absent" in texts(chart.svg)
    assert len({bar.colour for row in chart.rows for bar in row.bars}) == 1


def test_colours_follow_their_groups(shop: tuple[Result, tuple[Interval, ...]]) -> None:
    chart = gantt(shop[0], {"all": ["a <1>", "b", "c"]}, colours={"x": ["a <1>", "c"], "y": ["b"]})
    colour = {bar.name: bar.colour for bar in chart.rows[0].bars}
    assert colour["a <1>"] == colour["c"] != colour["b"]


def test_a_file_is_written(shop: tuple[Result, tuple[Interval, ...]], tmp_path: Path) -> None:
    write_gantt(shop[0], tmp_path / "chart.svg")
    assert ElementTree.parse(tmp_path / "chart.svg").getroot().tag == f"{SVG}svg"
    with pytest.raises(ci.ModelError, match=r"chart ends in \.svg"):
        write_gantt(shop[0], tmp_path / "chart.png")


def test_mistakes_are_explained(shop: tuple[Result, tuple[Interval, ...]]) -> None:
    with pytest.raises(
        ci.ModelError, match="no interval of the result is named 'e'; there are: a <1>, b, c, d"
    ):
        gantt(shop[0], {"row": ["e"]})
    with pytest.raises(ci.ModelError, match="the model has no intervals"):
        gantt(ci.Model().solve())
    m = ci.Model()
    m.add(m.interval("a", (0, 3), 2).start > 5)
    with pytest.raises(ci.ModelError, match="no schedule to draw: the status is infeasible"):
        gantt(m.solve())


def test_long_horizons_have_few_ticks_and_names_are_cut() -> None:
    m = ci.Model()
    m.interval("n" * 200 + "\0", -500_000, 1_234_567)
    text = gantt(m.solve()).svg
    shown = texts(text)
    assert {"-400,000", "600,000"} <= set(shown)
    assert len(shown) < 20
    assert max(map(len, shown)) < 130
