"""Pictures: their numbers against the listed solutions, and valid SVG and HTML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from random_models import draw_model

from constrint import EmptySpaceError, Model, ModelError
from constrint.diagrams.marginals import pair_shares, value_counts
from constrint.pictures.facts import facts_of
from constrint.solutions.solutionset import SolutionSet
from constrint.tuning.spaces import from_tune_params

SPACE = from_tune_params(
    {"bx": [16, 32, 64, 128], "f": [0.5, 2], "s": ["<row>", "col & x"], "one": [7], "wide": range(100)},
    ["bx * f <= 64", "s == '<row>' or bx > 16", "wide % 3 == 1 or bx == 16"],
)


def sets() -> Iterator[tuple[int, SolutionSet]]:
    for seed in range(90_000, 90_120):
        solutions = draw_model(seed).build().solutions()
        if solutions.size > 1:
            yield seed, solutions


def test_counts_of_values_are_those_of_the_list() -> None:
    for seed, solutions in sets():
        listed = solutions.to_columns()
        for diagram in solutions.diagrams:
            for v, (values, counts) in zip(diagram.variables, value_counts(diagram), strict=True):
                want_values, want = np.unique(listed[solutions.names[v]], return_counts=True)
                assert values.tolist() == want_values.tolist(), f"seed {seed}"
                assert [n * (solutions.size // diagram.size) for n in counts] == want.tolist(), f"seed {seed}"


def test_shares_of_pairs_are_those_of_the_list() -> None:
    pairs = 0
    for seed, solutions in sets():
        for diagram in solutions.diagrams:
            listed = diagram.columns(0, diagram.size)
            distinct = [np.unique(column) for column in listed]
            bins = {k: np.arange(len(values)) // 2 for k, values in enumerate(distinct)}
            for (j, k), shares in pair_shares(diagram, bins).items():
                want = np.zeros(shares.shape)
                rows, columns = (bins[i][np.searchsorted(distinct[i], listed[i])] for i in (j, k))
                np.add.at(want, (rows, columns), 1)
                assert np.array_equal(np.rint(shares * diagram.size), want), f"seed {seed}"
                assert np.array_equal(shares > 0, want > 0), f"seed {seed}"
                pairs += 1
    assert pairs > 40


def test_pairs_across_components_multiply() -> None:
    facts = facts_of(SPACE)
    listed = SPACE.to_pandas()
    assert len(facts.pairs) == 6
    for pair in facts.pairs:
        assert pair.shares.sum() == pytest.approx(1)
        if len(pair.row.bins) == len(pair.row.counts) and len(pair.column.bins) == len(pair.column.counts):
            table = listed.groupby([pair.row.name, pair.column.name]).size()
            assert int((pair.shares > 0).sum()) == len(table)
            assert sorted(np.rint(pair.shares[pair.shares > 0] * SPACE.size)) == sorted(table)


def test_bins_hold_every_solution_once() -> None:
    wide = next(h for h in facts_of(SPACE).histograms if h.name == "wide")
    assert len(wide.counts) == 32
    assert sum(wide.counts) == SPACE.size
    assert wide.labels[0] == "0 … 3"
    assert wide.labels[-1] == "97 … 99"


def test_a_picture_is_svg_with_its_numbers(tmp_path: Path) -> None:
    path = tmp_path / "space.svg"
    SPACE.picture(path)
    root = ElementTree.parse(path).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    texts = ["".join(node.itertext()) for node in root.iter("{http://www.w3.org/2000/svg}text")]
    assert f"{SPACE.size:,} solutions" in texts
    assert "always: one = 7" in texts
    tips = ["".join(node.itertext()) for node in root.iter("{http://www.w3.org/2000/svg}title")]
    count = SPACE.value_counts("s")["<row>"]
    assert any(tip.startswith(f"s = <row>: {count:,} (") for tip in tips)
    places = [float(x) for x in re.findall(r' x="([-0-9.]+)"', path.read_text(encoding="utf-8"))]
    assert min(places) >= 0
    assert max(places) <= float(root.attrib["width"])


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open, self.seen = [], []  # type: ignore[var-annotated]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        assert not any(name in ("src", "href") for name, _ in attrs)
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag: Any, attrs: Any) -> None:
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize(("most_edges", "pictures", "details"), [(None, 0, 3), (0, 1, 5)])
def test_a_page_is_whole_and_needs_no_other_file(
    most_edges: int | None, pictures: int, details: int, tmp_path: Path
) -> None:
    path = tmp_path / "space.html"
    SPACE.picture(path, variables=["bx", "s"], most_edges=most_edges)
    text = path.read_text(encoding="utf-8")
    tags = Tags()
    tags.feed(text)
    assert tags.open == []
    assert tags.seen.count("svg") == pictures
    assert tags.seen.count("details") == details
    assert ("url(" in text, "@import" in text) == (False, False)
    assert ("\\u003crow\\u003e" if most_edges is None else "&lt;row&gt;") in text
    assert "<row>" not in text


def test_a_notebook_shows_a_set() -> None:
    assert SPACE._repr_html_().startswith("<svg")
    m = Model()
    x = m.int_var("x", 0, 9)
    m.add(x > 8, x < 8)
    assert m.solutions()._repr_html_() == "<div><strong>SolutionSet(0 solutions of x)</strong></div>"


def test_names_and_values_that_svg_cannot_hold(tmp_path: Path) -> None:
    m = Model()
    m.int_var("a\x01<b", 0, 3)
    labels = from_tune_params({"a": ["\x00", "\ud800", "\"&<>'", "\n", "x" * 99]})
    for solutions in (m.solutions(), labels):
        for suffix in ("svg", "html"):
            solutions.picture(tmp_path / f"odd.{suffix}")
        assert ElementTree.parse(tmp_path / "odd.svg").getroot().tag.endswith("svg")


def test_a_huge_set_is_drawn(tmp_path: Path) -> None:
    m = Model()
    x = [m.int_var(f"x{i}", 0, 99) for i in range(330)]
    m.add(x[0] <= x[1] + 90, *[abs(a - b) <= 90 for a, b in pairwise(x[2:30])])
    solutions = m.solutions()
    assert solutions.size > 10**600
    solutions.picture(tmp_path / "huge.svg", variables=["x0", "x1"])
    text = (tmp_path / "huge.svg").read_text(encoding="utf-8")
    assert f"about {str(solutions.size)[0]}." in text
    (pair,) = facts_of(solutions, ["x0", "x1"]).pairs
    assert (pair.shares > 0).sum() < pair.shares.size
    assert pair.shares.sum() == pytest.approx(1)


def test_what_cannot_be_drawn(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"ends in \.svg or \.html"):
        SPACE.picture(tmp_path / "space.png")
    with pytest.raises(ModelError, match="no variable is named 'q'"):
        SPACE.picture(tmp_path / "space.svg", variables=["q"])
    with pytest.raises(ModelError, match="there is no folder"):
        SPACE.picture(tmp_path / "none" / "space.svg")
    empty = from_tune_params({"a": [1, 2]}, ["a > 2"])
    with pytest.raises(EmptySpaceError, match="'a > 2' excludes all"):
        empty.picture(tmp_path / "space.svg")
    with pytest.raises(ModelError, match="nothing to draw"):
        SPACE.given(bx=1).picture(tmp_path / "space.svg")
    assert list(tmp_path.iterdir()) == []
