"""The layout of a picture: texts, boxes and squares with their places, in SVG user units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import log10

import numpy as np

from constrint.pictures.facts import Facts, Histogram, LayerFacts, Pair
from constrint.support.long_numbers import counted

MARGIN, GAP = 16, 20
HEADING = 30  # height of a section's heading
LINE = 16
CHART, BARS, COLUMNS = (212, 118), 70, 4  # a histogram's size, the height of its bars, the number in a row
CELL, STEP, NAMES = 66, 70, 150  # a heat map's side, the distance to the next, the width for names of rows
ROW, LABELS, LONGEST_BAR = 18, 200, 480  # a layer's height, the width for labels, the longest bar
SHADES = ("#dbe9f6", "#bad6eb", "#89bedc", "#539ecd", "#2b7bba", "#0b559f", "#08306b")


@dataclass(frozen=True)
class Text:
    """A text at a place; `anchor` is SVG's text-anchor."""

    x: float
    y: float
    words: str
    kind: str = "plain"
    anchor: str = "start"


@dataclass(frozen=True)
class BoxShape:
    """A rectangle with a tooltip."""

    x: float
    y: float
    width: float
    height: float
    kind: str
    tip: str = ""


@dataclass(frozen=True)
class Shade:
    """Squares of one colour, as one SVG path."""

    fill: str
    path: str


@dataclass(frozen=True)
class HeatMap:
    """The squares of a pair, on a background that means "no solution"."""

    frame: BoxShape
    shades: list[Shade]


@dataclass
class Drawing:
    """The contents of a picture.

    Attributes:
        width: Width of the whole.
        height: Height of the whole.
        texts: Texts.
        boxes: Rectangles.
        maps: Heat maps.
    """

    width: int = 2 * MARGIN + COLUMNS * CHART[0] + (COLUMNS - 1) * GAP
    height: int = MARGIN
    texts: list[Text] = field(default_factory=list)
    boxes: list[BoxShape] = field(default_factory=list)
    maps: list[HeatMap] = field(default_factory=list)

    def heading(self, words: str) -> None:
        """Begin a section with a heading."""
        self.height += HEADING
        self.texts.append(Text(MARGIN, self.height - 8, words, "heading"))

    def line(self, words: str) -> None:
        """Add a line of text."""
        self.height += LINE
        self.texts.append(Text(MARGIN, self.height - 4, words))


def drawing(facts: Facts, *, diagram: bool = True) -> Drawing:
    """Lay out a picture from top to bottom."""
    found = Drawing()
    found.heading(facts.title)
    for line in facts.lines:
        found.line(line)
    for start in range(0, len(facts.fixed), 4):
        row = facts.fixed[start : start + 4]
        found.line(("always: " if not start else "") + ", ".join(f"{h.name} = {h.labels[0]}" for h in row))
    if facts.histograms:
        found.heading("Values: how many solutions have each")
        _add_histograms(found, facts.histograms, facts.size)
    if facts.pairs:
        found.heading("Pairs: the darker, the more solutions; orange: none")
        _add_pairs(found, facts)
    if diagram and facts.layers:
        found.heading("Diagram: nodes and edges of each layer (logarithmic)")
        _add_layers(found, facts.layers)
    found.height += MARGIN
    return found


def _add_histograms(found: Drawing, histograms: Sequence[Histogram], size: int) -> None:
    for place, histogram in enumerate(histograms):
        column = place % COLUMNS
        if place and not column:
            found.height += CHART[1]
        x, y = MARGIN + column * (CHART[0] + GAP), found.height
        found.texts.append(Text(x, y + 12, _short(histogram.name, 30), "name"))
        bottom = y + 20 + BARS
        found.boxes += _bars(histogram, x, bottom, size)
        found.texts.append(Text(x, bottom + 12, _short(histogram.labels[0], 16), "tick"))
        found.texts.append(Text(x + CHART[0], bottom + 12, _short(histogram.labels[-1], 16), "tick", "end"))
    found.height += CHART[1]


def _bars(histogram: Histogram, x: float, bottom: float, size: int) -> list[BoxShape]:
    """The bars of a histogram, the tallest `BARS` high.

    Args:
        histogram: The bins of a variable's values, with the number of solutions in each.
        x: The left end of the first bar, in SVG user units.
        bottom: Where the bars stand, in SVG user units.
        size: The number of all solutions, of which tooltips state shares.
    """
    most = max(histogram.counts)
    step = CHART[0] / len(histogram.counts)
    bars = []
    for i, (label, count) in enumerate(zip(histogram.labels, histogram.counts, strict=True)):
        height = round(max(1.0, BARS * (count / most)), 1) if count else 0.0
        tip = f"{histogram.name} = {label}: {count:,} ({count / size:.2%})"
        left, width = round(x + i * step, 1), round(max(step - 1, 1), 1)
        bars.append(BoxShape(left, round(bottom - height, 1), width, height, "bar", tip))
    return bars


def _add_pairs(found: Drawing, facts: Facts) -> None:
    """Add a triangle of heat maps: a row for each variable but the first, a column for each but the last."""
    places = {histogram.name: i for i, histogram in enumerate(facts.paired)}
    top, left = found.height, MARGIN + NAMES
    last = len(facts.paired) - 1
    for pair in facts.pairs:
        row, column = places[pair.column.name], places[pair.row.name]
        found.maps.append(_heat_map(pair, left + column * STEP, top + (row - 1) * STEP, facts))
    for i, histogram in enumerate(facts.paired):
        if i:
            y = top + (i - 1) * STEP + CELL / 2 + 4
            found.texts.append(Text(left - 6, y, _short(histogram.name, 22), "tick", "end"))
        if i < last:
            y = top + last * STEP + 8 + 12 * (i % 2)  # names of columns alternate between two lines
            words = _short(histogram.name, 22)
            found.texts.append(Text(left + i * STEP + CELL / 2, y, words, "tick", "middle"))
    found.height = top + last * STEP + 30
    found.width = max(found.width, left + last * STEP + MARGIN)


def _heat_map(pair: Pair, x: float, y: float, facts: Facts) -> HeatMap:
    """A heat map: the column's variable from left to right, the row's variable upwards."""
    across, upwards = pair.row, pair.column
    width, height = CELL / len(across.counts), CELL / len(upwards.counts)
    paths: dict[int, list[str]] = {}
    most = float(pair.shares.max())
    side = f"h{_number(width)}v{_number(height)}h-{_number(width)}z"
    for i, row in enumerate(pair.shares.tolist()):
        for j, share in enumerate(row):
            if share > 0:
                level = min(len(SHADES) - 1, int(len(SHADES) * share / most))
                corner = f"M{_number(x + i * width)} {_number(y + CELL - (j + 1) * height)}"
                paths.setdefault(level, []).append(corner + side)
    possible = int((pair.shares > 0).sum())
    i, j = divmod(int(np.argmax(pair.shares)), pair.shares.shape[1])
    tip = (
        f"{across.name} (across) and {upwards.name} (upwards): {possible} of {pair.shares.size} pairs of "
        f"values are possible; most often {across.labels[i]} and {upwards.labels[j]}, {facts.count(most)}"
    )
    shades = [Shade(SHADES[level], "".join(paths[level])) for level in sorted(paths)]
    return HeatMap(BoxShape(x, y, CELL, CELL, "none", tip), shades)


def _add_layers(found: Drawing, layers: Sequence[LayerFacts]) -> None:
    longest = log10(max(layer.edges for layer in layers) + 1)
    group = layers[0].group
    for layer in layers:
        if layer.group != group:
            group = layer.group
            found.height += 6
        top = found.height
        words = f"{counted(layer.nodes, 'node')}, {counted(layer.edges, 'edge')}"
        found.texts.append(Text(MARGIN + LABELS - 6, top + 13, _short(layer.name, 30), "tick", "end"))
        for number, kind in ((layer.edges, "edges"), (layer.nodes, "bar")):
            length = round(LONGEST_BAR * log10(number + 1) / longest, 1)
            found.boxes.append(
                BoxShape(MARGIN + LABELS, top + 3, length, ROW - 6, kind, f"{layer.name}: {words}")
            )
        found.texts.append(Text(MARGIN + LABELS + LONGEST_BAR + 8, top + 13, words, "tick"))
        found.height += ROW


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
