"""Gantt charts of schedules: a row for each machine, a bar for each interval. SVG without a library.

`gantt` makes a chart of a result, which a notebook shows by itself, and `Gantt.write` writes it to a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from math import ceil, floor, log10
from pathlib import Path
from typing import TYPE_CHECKING

from constrint.errors import ModelError
from constrint.modelling.intervals import Interval, Scheduled
from constrint.support.placing import placed

if TYPE_CHECKING:
    from constrint.modelling.result import Result

WIDTH, MARGIN, GAP = 720, 12, 8  # of the bars' area, around everything, between names and bars; user units
BAR, STEP = 24, 28  # the height of a bar, the distance to the next lane
AXIS, TITLE = 30, 26  # the heights of the axis and of the title
LETTER = 6.7  # the mean width of a letter
LONGEST_NAME = 28
MOST_TICKS = 12
COLOURS = ("#7fb3d8", "#f3b562", "#8cc49f", "#d98b8b", "#b7a3d6", "#c9b48a", "#83c6c9", "#e0a3c4")
"""Fills on which black text is easily read."""


@dataclass(frozen=True)
class Bar:
    """An interval that takes place, or a part of it between breaks."""

    name: str
    when: Scheduled
    pieces: tuple[tuple[int, int], ...]
    lane: int
    colour: str


@dataclass(frozen=True)
class GanttRow:
    """The bars of one machine, in as many lanes as overlap, and the names of what is absent."""

    name: str
    bars: tuple[Bar, ...]
    lanes: int
    absent: tuple[str, ...]


@dataclass(frozen=True)
class Gantt:
    """A Gantt chart. A notebook shows it; `svg` is its text, and `write` makes a file.

    Attributes:
        title: The line above the chart; empty for none.
        rows: The rows from top to bottom.
    """

    title: str
    rows: tuple[GanttRow, ...] = field(repr=False)

    @property
    def svg(self) -> str:
        """The chart as SVG, complete with its styles."""
        return _drawn(self)

    def write(self, path: str | Path) -> None:
        """Write the chart to a file that ends in .svg."""
        if Path(path).suffix.lower() != ".svg":
            raise ModelError(f"{path}: a Gantt chart ends in .svg")
        with placed(path) as aside:
            aside.write_text(self.svg, encoding="utf-8")

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        return self.svg


def gantt(
    result: Result,
    rows: Mapping[str, Iterable[Interval | str]] | None = None,
    *,
    colours: Mapping[str, Iterable[Interval | str]] | None = None,
    title: str = "",
) -> Gantt:
    """The Gantt chart of a schedule.

    Args:
        result: A solution of a model with intervals.
        rows: The intervals of each row, or their names, by the row's name; by default each interval has its
            own row. Bars that overlap in time get lanes below each other.
        colours: Intervals that share a colour, by any name, such as the job that they belong to. By default
            each row has its colour; of one row each, all have the same.
        title: A line above the chart.

    Returns:
        The chart; absent intervals are named beside their row.

    Raises:
        ModelError: The result has no solution, or an interval belongs to another model.
    """
    if not result:
        raise ModelError(f"there is no schedule to draw: the status is {result.status.value}")
    known = result.intervals
    if not known:
        raise ModelError("the model has no intervals: declare tasks with Model.interval")
    named = {name: [name] for name in known} if rows is None else _named(rows, known)
    groups = _named(colours, known) if colours is not None else named if rows is not None else {}
    shade = {name: COLOURS[k % len(COLOURS)] for k, group in enumerate(groups.values()) for name in group}
    made = []
    for row, names in named.items():
        done = [(name, when) for name in names if (when := known[name]) is not None]
        lanes = _lanes([when for _, when in done])
        bars = [
            Bar(name, when, _pieces(result, name, when), lane, shade.get(name, COLOURS[0]))
            for (name, when), lane in zip(done, lanes, strict=True)
        ]
        absent = tuple([name for name in names if known[name] is None])
        made.append(GanttRow(row, tuple(bars), max([1, *[lane + 1 for lane in lanes]]), absent))
    return Gantt(title, tuple(made))


def write_gantt(
    result: Result,
    path: str | Path,
    rows: Mapping[str, Iterable[Interval | str]] | None = None,
    *,
    colours: Mapping[str, Iterable[Interval | str]] | None = None,
    title: str = "",
) -> None:
    """Write the Gantt chart of a schedule to a file that ends in .svg; see `gantt`."""
    gantt(result, rows, colours=colours, title=title).write(path)


def _named(
    groups: Mapping[str, Iterable[Interval | str]], known: Mapping[str, Scheduled | None]
) -> dict[str, list[str]]:
    """The names of the intervals of each group; raises `ModelError` for one that is not known."""
    found = {}
    for group, intervals in groups.items():
        names = [one.name if isinstance(one, Interval) else one for one in intervals]
        for name in names:
            if name not in known:
                raise ModelError(
                    f"no interval of the result is named '{name}'; there are: {', '.join(known)}"
                )
        found[group] = names
    return found


def _lanes(tasks: Sequence[Scheduled]) -> list[int]:
    """The first lane of each task in which nothing overlaps it."""
    ends: list[int] = []
    lanes = [0] * len(tasks)
    for i in sorted(range(len(tasks)), key=lambda i: (tasks[i].start, tasks[i].end)):
        free = [lane for lane, end in enumerate(ends) if end <= tasks[i].start]
        lanes[i] = free[0] if free else len(ends)
        ends[lanes[i] : lanes[i] + 1] = [tasks[i].end]
    return lanes


def _pieces(result: Result, name: str, when: Scheduled) -> tuple[tuple[int, int], ...]:
    """The times at which an interval works, between its breaks."""
    at, pieces = when.start, []
    for begin, end in result.breaks_of(name):
        if at < begin < when.end:
            pieces.append((at, begin))
            at = min(end, when.end)
    return (*pieces, (at, when.end))


# Drawing


@dataclass(frozen=True)
class _Scale:
    """Times as places."""

    first: int
    last: int
    left: float

    def x(self, time: float) -> float:
        """The place of a time, from left to right."""
        return self.left + WIDTH * (time - self.first) / (self.last - self.first)


def _drawn(chart: Gantt) -> str:
    times = [time for row in chart.rows for bar in row.bars for time in (bar.when.start, bar.when.end)]
    first, last = min([0, *times]), max([0, *times])
    names = max([len(_short(row.name)) for row in chart.rows], default=0)
    absent = max([len(_beside(row)) for row in chart.rows], default=0)
    scale = _Scale(first, max(last, first + 1), MARGIN + GAP + LETTER * names)
    top = MARGIN + (TITLE if chart.title else 0)
    height = top + STEP * sum(row.lanes for row in chart.rows) + AXIS + MARGIN
    width = scale.left + WIDTH + MARGIN + (GAP + LETTER * absent if absent else LETTER)
    body = _axis(scale, top, height - AXIS - MARGIN)
    if chart.title:
        body.append(_text(MARGIN, MARGIN + 14, chart.title, "title"))
    y = float(top)
    for number, row in enumerate(chart.rows):
        body += _row(row, scale, y, number)
        y += STEP * row.lanes
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_n(width)}" height="{_n(height)}" '
        f'viewBox="0 0 {_n(width)} {_n(height)}" role="img" font-family="sans-serif" font-size="12">\n'
        f"<title>{_plain(chart.title or 'Gantt chart')}</title>\n"
        f'<rect width="{_n(width)}" height="{_n(height)}" fill="#fff"/>\n' + "\n".join(body) + "\n</svg>\n"
    )


def _axis(scale: _Scale, top: float, bottom: float) -> list[str]:
    """Lines at round times, with the times below."""
    step = _round_step((scale.last - scale.first) / MOST_TICKS)
    parts = []
    for number in range(ceil(scale.first / step), floor(scale.last / step) + 1):
        x = _n(scale.x(number * step))
        parts.append(f'<path d="M{x} {_n(top)}V{_n(bottom + 4)}" stroke="#ddd"/>')
        parts.append(_text(scale.x(number * step), bottom + 18, f"{number * step:,}", "tick", "middle"))
    return parts


def _round_step(least: float) -> int:
    """The least of 1, 2, 5, 10, 20, 50 … that is at least so much."""
    if least <= 1:
        return 1
    power = 10 ** floor(log10(least))
    return int(next(power * factor for factor in (1, 2, 5, 10) if power * factor >= least))


def _row(row: GanttRow, scale: _Scale, top: float, number: int) -> list[str]:
    height = STEP * row.lanes
    parts = []
    if number % 2:
        parts.append(
            f'<rect x="{_n(scale.left)}" y="{_n(top)}" width="{WIDTH}" height="{_n(height)}" '
            'fill="#000" fill-opacity="0.04"/>'
        )
    middle = top + height / 2 + 4
    parts.append(_text(scale.left - GAP, middle, _short(row.name), "name", "end"))
    for bar in row.bars:
        parts += _bar(bar, scale, top + STEP * bar.lane + (STEP - BAR) / 2)
    if row.absent:
        parts.append(_text(scale.left + WIDTH + GAP, middle, _beside(row), "absent"))
    return parts


def _bar(bar: Bar, scale: _Scale, top: float) -> list[str]:
    """The pieces of a bar, joined by a line across breaks; its name where there is room."""
    start, size, end = bar.when
    tip = f"{bar.name}: {start:,} to {end:,}, size {size:,}"
    parts = [f"<g><title>{_plain(tip)}</title>"]
    if len(bar.pieces) > 1:
        y = _n(top + BAR / 2)
        parts.append(
            f'<path d="M{_n(scale.x(start))} {y}H{_n(scale.x(end))}" stroke="{bar.colour}" stroke-width="3"/>'
        )
    for begin, stop in bar.pieces:
        x, width = scale.x(begin), scale.x(stop) - scale.x(begin)
        parts.append(
            f'<rect x="{_n(x)}" y="{_n(top)}" width="{_n(max(width, 1.5))}" height="{BAR}" rx="3" '
            f'fill="{bar.colour}" stroke="#333" stroke-width="0.7"/>'
        )
    begin, stop = max(bar.pieces, key=lambda piece: piece[1] - piece[0])
    room = int((scale.x(stop) - scale.x(begin) - 4) / LETTER)
    if room >= min(len(bar.name), 3):
        parts.append(
            _text(
                (scale.x(begin) + scale.x(stop)) / 2,
                top + BAR / 2 + 4,
                _short(bar.name, room),
                "name",
                "middle",
            )
        )
    return [*parts, "</g>"]


def _beside(row: GanttRow) -> str:
    """The text about what is absent from a row; empty if nothing is."""
    if not row.absent:
        return ""
    return _short("absent" if row.absent == (row.name,) else f"absent: {', '.join(row.absent)}", 40)


_STYLES = {  # attributes, because a style sheet would reach the rest of a page that shows the chart
    "name": "",
    "title": ' font-size="15" font-weight="bold"',
    "tick": ' fill="#555"',
    "absent": ' fill="#555" font-style="italic"',
}


def _text(x: float, y: float, words: str, kind: str, anchor: str = "start") -> str:
    side = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text x="{_n(x)}" y="{_n(y)}"{side}{_STYLES[kind]}>{_plain(words)}</text>'


def _plain(words: str) -> str:
    """Text for SVG: without markup, and without the characters that it cannot hold."""
    return escape("".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in words))


def _short(words: str, most: int = LONGEST_NAME) -> str:
    return words if len(words) <= most else f"{words[: max(most - 1, 1)]}…"


def _n(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
