"""The explorable page in headless Chromium: clicks, drags and keys, against `SolutionSet` counts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from chromium import Browser, chromium, needs_chromium

from constrint import Model
from constrint.solutions.solutionset import SolutionSet
from constrint.tuning.spaces import Space, from_json, from_tune_params

DATA = Path(__file__).parents[3] / "benchmarks" / "spaces" / "data"
WIDTHS = (1400, 700, 400)

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def hotspot() -> Space:
    return from_json(json.loads((DATA / "hotspot.json").read_text(encoding="utf-8")))


def shown(browser: Browser, solutions: SolutionSet, path: Path, **how: Any) -> None:
    """Write the page of a set and open it."""
    solutions.picture(path)
    browser.problems.clear()
    browser.open(path, **how)
    browser.until("window.explorer && explorer.pairs.complete")


def bar(variable: str, place: int) -> str:
    """The bar of a value, as a JavaScript expression."""
    label = f"Values of {variable}"
    return f"document.querySelector('[aria-label={json.dumps(label)}]').children[{place}]"


def total(browser: Browser) -> Any:
    return int(
        browser.value("document.getElementById('total').textContent.split(' ')[0].replaceAll(',', '')")
    )


def place(solutions: Space, name: str, value: int) -> int:
    return solutions.values_of(name).index(value)


def settled(browser: Browser) -> None:
    browser.until("explorer.pairs.complete === explorer.pairs.run")


def test_clicks_and_drags_on_values(browser: Browser, hotspot: Space, tmp_path: Path) -> None:
    shown(browser, hotspot, tmp_path / "hotspot.html")
    assert total(browser) == hotspot.size == 349_853
    browser.click(bar("block_size_x", place(hotspot, "block_size_x", 64)))
    assert total(browser) == hotspot.given(block_size_x=64).size
    browser.click(bar("block_size_x", place(hotspot, "block_size_x", 128)))
    assert total(browser) == hotspot.given(block_size_x={64, 128}).size
    start = browser.middle(bar("tile_size_y", 2))
    end = browser.middle(bar("tile_size_y", 6))
    browser.drag(start, ((start[0] + end[0]) / 2, start[1]), end)
    part = hotspot.given(block_size_x={64, 128}, tile_size_y=range(3, 8))
    assert total(browser) == part.size
    counts = browser.value("explorer.state.summary.counts.map((list) => list.map(String))")
    for v, name in enumerate(hotspot.names):
        kept = {"block_size_x": {64, 128}, "tile_size_y": set(range(3, 8))}.get(name)
        want = part.value_counts(name)
        for value, number in zip(hotspot.values_of(name), counts[v], strict=True):
            if kept is None or value in kept:
                assert int(number) == want.get(value, 0)
    outside = hotspot.given(block_size_x=256, tile_size_y=range(3, 8)).size
    assert int(counts[hotspot.names.index("block_size_x")][place(hotspot, "block_size_x", 256)]) == outside
    chips = "[...document.querySelectorAll('.chip')].map((chip) => chip.textContent)"
    assert browser.value(chips) == ["block_size_x in {64, 128} ×", "3 <= tile_size_y <= 7 ×"]
    browser.click("document.querySelector('.chip')")
    assert total(browser) == hotspot.given(tile_size_y=range(3, 8)).size
    browser.click("document.getElementById('clear')")
    assert total(browser) == hotspot.size
    assert browser.problems == []


def test_keys(browser: Browser, hotspot: Space, tmp_path: Path) -> None:
    shown(browser, hotspot, tmp_path / "hotspot.html")
    browser.value(f"{bar('tile_size_x', 0)}.focus()")
    browser.press("ArrowRight")
    browser.press("ArrowRight")
    browser.press(" ")
    assert total(browser) == hotspot.given(tile_size_x=3).size
    browser.press("ArrowRight", shift=True)
    browser.press("ArrowRight", shift=True)
    assert total(browser) == hotspot.given(tile_size_x=range(3, 6)).size
    label = browser.value("document.activeElement.getAttribute('aria-label')")
    assert f"{hotspot.given(tile_size_x=5).size:,} solutions" in label
    browser.press("Escape")
    assert total(browser) == hotspot.size
    settled(browser)
    browser.value("document.querySelector('#pairs canvas').focus()")
    for _ in range(2):
        browser.press("ArrowRight")
    browser.press("ArrowUp")
    browser.press("Enter")
    x, y = hotspot.values_of("block_size_x"), hotspot.values_of("block_size_y")
    chosen = browser.value("explorer.pairs.binsOf(2).first.slice(2, 4)")
    part = hotspot.given(block_size_x=set(x[slice(*chosen)]), block_size_y=y[1])
    assert total(browser) == (part.size or hotspot.size)
    assert browser.problems == []


def test_pairs_and_axes_of_samples(browser: Browser, hotspot: Space, tmp_path: Path) -> None:
    shown(browser, hotspot, tmp_path / "hotspot.html")
    names = hotspot.names
    column, row = names.index("tile_size_x"), names.index("tile_size_y")
    canvas = f"explorer.pairs.maps.get('{column} {row}').canvas"
    x, y = browser.middle(canvas)
    side = browser.value("explorer.pairs.side")
    square = (x - side / 2 + 1.5 * side / 10, y + side / 2 - 3.5 * side / 10)  # the 2nd and the 4th value
    browser.hover(square)
    part = hotspot.given(tile_size_x=2, tile_size_y=4)
    tip = browser.value("document.getElementById('tip').textContent")
    assert tip.startswith(f"tile_size_x = 2, tile_size_y = 4\n{part.size:,} solutions")
    browser.drag(square)
    assert total(browser) == part.size
    browser.click("document.getElementById('clear')")
    left, top = browser.value(
        "(() => { const c = document.getElementById('parallel'); c.scrollIntoView({block: 'center'});"
        " const r = c.getBoundingClientRect(); return [r.x, r.y]; })()"
    )
    axis = browser.value(f"explorer.parallel.axes.indexOf({names.index('temporal_tiling_factor')})")
    at = [
        browser.value(f"[{left} + explorer.parallel.x({axis}), {top} + explorer.parallel.y({axis}, {i}, 0)]")
        for i in (1, 3, 5)
    ]
    browser.drag(*map(tuple, at))
    part = hotspot.given(temporal_tiling_factor=range(2, 7))
    assert total(browser) == part.size
    browser.until("explorer.parallel.shown === explorer.state.conditions")
    variables = "explorer.state.space.variables"
    rows = browser.value(
        f"explorer.parallel.rows.map((row) => Array.from(row, (i, v) => {variables}[v].texts[i]))"
    )
    assert len(rows) == 200
    for one in rows:
        assert [int(text) for text in one] in part
    assert browser.problems == []


def test_the_conditions_are_copied(browser: Browser, tmp_path: Path) -> None:
    space = from_tune_params({"s": ["it's", "b"], "x": range(1, 9), "y": [1, 2, 4]}, ["x >= y"])
    shown(browser, space, tmp_path / "space.html")
    browser.value(
        "window.copies = []; navigator.clipboard.writeText = async (text) => void copies.push(text); 0"
    )
    browser.click(bar("s", 0))
    browser.click(bar("y", 0))
    browser.click(bar("y", 2))
    browser.drag(browser.middle(bar("x", 4)), browser.middle(bar("x", 7)))
    for name in ("constraints", "given", "python"):
        browser.click(f"document.getElementById('copy-{name}')")
    browser.until("copies.length === 3")
    assert browser.value("copies") == [
        's == "it\'s"\nx >= 5\ny in {1, 4}',
        "--given 's in {\"it'\\''s\"}' --given 'x in 5..8' --given 'y in {1, 4}'",
        'given(s="it\'s", x={5, 6, 7, 8}, y={1, 4})',
    ]
    assert "copied" in browser.value("document.getElementById('copied').textContent")


@pytest.mark.parametrize(("variables", "values"), [(11, 40), (14, 61)])
def test_a_set_of_10_to_the_15_and_more(
    browser: Browser, variables: int, values: int, tmp_path: Path
) -> None:
    m = Model()
    x = m.int_vars("x", variables, 0, values - 1)
    m.add(*[abs(a - b) <= 12 for a, b in pairwise(x)])
    solutions = m.solutions()
    assert solutions.size > 10**15
    shown(browser, solutions, tmp_path / "space.html")
    assert total(browser) == solutions.size
    browser.click(bar("x[3]", 7))
    assert total(browser) == solutions.given(**{"x[3]": 7}).size
    browser.drag(browser.middle(bar("x[5]", 9)), browser.middle(bar("x[5]", 20)))
    part = solutions.given(**{"x[3]": 7, "x[5]": range(9, 21)})
    assert total(browser) == part.size
    counts = browser.value("explorer.state.summary.counts[8].map(String)")
    want = part.value_counts("x[8]")
    assert [int(number) for number in counts] == [want.get(value, 0) for value in range(values)]
    assert browser.problems == []


def test_no_overflow_at_any_width_in_light_and_dark(browser: Browser, hotspot: Space, tmp_path: Path) -> None:
    for width in WIDTHS:
        for dark in (False, True):
            shown(browser, hotspot, tmp_path / "hotspot.html", width=width, dark=dark)
            browser.click(bar("block_size_x", 5))
            settled(browser)
            assert browser.value("document.documentElement.scrollWidth") <= width
    assert browser.problems == []


def test_damage_is_told(browser: Browser, hotspot: Space, tmp_path: Path) -> None:
    path = tmp_path / "hotspot.html"
    hotspot.picture(path)
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"size":"349853"', '"size":"349854"'), encoding="utf-8")
    browser.open(path)
    browser.until("!document.getElementById('problem').hidden")
    assert "damaged" in browser.value("document.getElementById('problem').textContent")
