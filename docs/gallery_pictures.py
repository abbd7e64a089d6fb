"""Draws the pictures of the gallery: runs each program of docs/gallery/*.md and draws what it found.

A picture `made/NAME.svg` belongs to the program above it, and the function NAME below draws it from that
program's variables. Sphinx calls `draw_all` before it reads the pages; `python docs/gallery_pictures.py` does
the same by hand.
"""

from __future__ import annotations

import contextlib
import io
import re
from html import escape
from itertools import combinations
from math import cos, gcd, pi, sin
from pathlib import Path
from typing import Any

COLOURS = ("#2b7bba", "#e08a3c", "#5aa469", "#b55d8f", "#7a6fb0", "#c7b13f", "#4fb0b5", "#8c6d5a")
INK, QUIET, PALE = "#1b2330", "#5b6676", "#e3e9f1"
_PART = re.compile(
    r"```python\n(?P<code>.*?)```|\{figure\} made/(?P<name>\w+)\.svg|(?P<fold></?details>)", re.DOTALL
)


class Picture:
    """An SVG of rectangles, lines, circles and texts."""

    def __init__(self, width: float, height: float) -> None:
        self.size = (width, height)
        self.parts: list[str] = []

    def rect(
        self, x: float, y: float, w: float, h: float, fill: str, edge: str = "#fff", tip: str = ""
    ) -> None:
        """Add a rectangle with a tooltip."""
        title = f"<title>{escape(tip)}</title>" if tip else ""
        box = f'x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" rx="2"'
        self.parts.append(f'<rect {box} fill="{fill}" stroke="{edge}">{title}</rect>')

    def line(
        self, x1: float, y1: float, x2: float, y2: float, stroke: str = QUIET, width: float = 1.5
    ) -> None:
        """Add a line."""
        ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
        self.parts.append(f'<line {ends} stroke="{stroke}" stroke-width="{width}"/>')

    def circle(self, x: float, y: float, r: float, fill: str) -> None:
        """Add a disk."""
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r}" fill="{fill}" stroke="#fff"/>')

    def text(self, x: float, y: float, words: Any, size: int = 13, fill: str = INK, anchor: str = "middle",
             weight: int = 400) -> None:  # fmt: skip
        """Add a text; `y` is its middle."""
        look = f'font-size="{size}" fill="{fill}" text-anchor="{anchor}" font-weight="{weight}"'
        self.parts.append(f'<text x="{x:.1f}" y="{y + 0.35 * size:.1f}" {look}>{escape(str(words))}</text>')

    def svg(self) -> str:
        """The whole picture."""
        width, height = self.size
        head = f'viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}"'
        back = f'<rect width="{width:g}" height="{height:g}" rx="6" fill="#fff"/>'
        body = "\n".join(self.parts)
        kind = 'xmlns="http://www.w3.org/2000/svg" font-family="system-ui, sans-serif"'
        return f"<svg {kind} {head}>{back}\n{body}\n</svg>\n"


def table(rows: Any, fills: Any, side: int = 34, bold: Any = None) -> Picture:
    """A grid of squares with texts."""
    found = Picture(side * len(rows[0]) + 20, side * len(rows) + 20)
    for i, row in enumerate(rows):
        for j, words in enumerate(row):
            x, y = 10 + side * j, 10 + side * i
            found.rect(x, y, side, side, fills(i, j), "#c9d2de")
            weight = 700 if bold is not None and bold(i, j) else 400
            found.text(x + side / 2, y + side / 2, words, side // 2, weight=weight)
    return found


def gantt(rows: Any, names: Any, end: int) -> Picture:
    """Bars (row, start, length, colour, words) over time."""
    step, left = max(12, min(28, 560 // end)), 90
    found = Picture(left + step * end + 20, 32 * len(names) + 46)
    for i, name in enumerate(names):
        found.text(left - 8, 26 + 32 * i, name, anchor="end")
    for time in range(0, end + 1, max(1, end // 12)):
        x = left + step * time
        found.line(x, 10, x, 14 + 32 * len(names), PALE, 1)
        found.text(x, 26 + 32 * len(names), time, 11, QUIET)
    for row, start, length, colour, words in rows:
        tip = f"{words}: {start} to {start + length}"
        found.rect(left + step * start, 13 + 32 * row, step * length, 26, COLOURS[colour % 8], tip=tip)
        if step * length >= 8 * len(str(words)):
            found.text(left + step * (start + length / 2), 26 + 32 * row, words, 12, "#fff")
    return found


def queens(v: Any) -> Picture:
    """A chessboard."""
    rows = [["♛" if column == j else "" for j in range(8)] for column in v["columns"]]
    return table(rows, lambda i, j: "#f4ead9" if (i + j) % 2 == 0 else "#d8bf98")


def sudoku(v: Any) -> Picture:
    """The solved grid; clues are bold."""
    found = table(v["solved"], lambda i, j: "#eef3f9" if (i // 3 + j // 3) % 2 else "#fff", 30,
                  lambda i, j: v["clues"][i][j] != ".")  # fmt: skip
    for k in range(4):
        found.line(10 + 90 * k, 10, 10 + 90 * k, 280, INK, 2)
        found.line(10, 10 + 90 * k, 280, 10 + 90 * k, INK, 2)
    return found


def magic(v: Any) -> Picture:
    """The square, darker where the number is larger."""
    return table(v["square"], lambda i, j: f"hsl(208 60% {97 - 2.4 * v['square'][i][j]:.0f}%)", 44)


def letters(v: Any) -> Picture:
    """The sum, letters over digits."""
    words = ["SEND", "MORE", "MONEY"]
    found = Picture(300, 200)
    for i, word in enumerate(words):
        for j, letter in enumerate(reversed(word)):
            x = 244 - 44 * j
            found.text(x, 26 + 58 * i, letter, 15, QUIET)
            found.text(x, 48 + 58 * i, v["letters"][letter.lower()], 24, weight=600)
    found.text(40, 105, "+", 22, QUIET)
    found.line(30, 124, 268, 124, INK, 2)
    return found


def nonogram(v: Any) -> Picture:
    """The picture, with the lengths beside it."""
    side, left, top = 24, 60, 34
    found = Picture(left + side * 9 + 14, top + side * 8 + 14)
    for i, row in enumerate(v["black"]):
        found.text(left - 8, top + side * (i + 0.5), " ".join(map(str, v["rows"][i])), 12, QUIET, "end")
        for j, square in enumerate(row):
            found.rect(left + side * j, top + side * i, side, side, INK if square else "#fff", "#c9d2de")
    for j, lengths in enumerate(v["columns"]):
        found.text(left + side * (j + 0.5), top - 12, " ".join(map(str, lengths)), 12, QUIET)
    return found


def jobshop(v: Any) -> Picture:
    """The Gantt chart, a colour for each job."""
    names = sorted({row[0] for row in v["rows"]})
    bars = [(names.index(name), start, length, job, f"job {job}") for name, start, length, job in v["rows"]]
    return gantt(bars, names, v["r"].objective)


def crew(v: Any) -> Picture:
    """How many workers are busy, by task."""
    end, step, up = v["r"].objective, 38, 24
    found = Picture(60 + step * end, 60 + up * 6)
    for time in range(end):
        level = 0
        for i, begin in enumerate(v["begins"]):
            if begin <= time < begin + v["minutes"][i]:
                need = v["workers"][i]
                y = 24 + up * (6 - level - need)
                found.rect(40 + step * time, y, step, up * need, COLOURS[i], tip=f"task {i}: {need} workers")
                found.text(40 + step * (time + 0.5), y + up * need / 2, i, 12, "#fff")
                level += need
        found.text(40 + step * time, 38 + up * 6, time, 11, QUIET)
    found.line(40, 24, 40 + step * end, 24, INK, 2)
    found.text(30, 24, 6, 12, QUIET, "end")
    return found


def roster(v: Any) -> Picture:
    """The roster as a coloured table."""
    fills = ["#fff", "#fbe3b5", "#bcd7ee", "#8c9bb5"]
    words = [["", "E", "L", "N"][shift] for row in v["roster"] for shift in row]
    rows = [words[7 * i : 7 * i + 7] for i in range(len(v["roster"]))]
    return table(rows, lambda i, j: fills[v["roster"][i][j]], 38)


def tour(v: Any) -> Picture:
    """The tour on the plane."""
    places = [(30 + 34 * x, 350 - 34 * y) for x, y in v["cities"]]
    found = Picture(370, 360)
    for i, j in enumerate(v["tour"]):
        found.line(*places[i], *places[j], COLOURS[0], 3)
    for i, (x, y) in enumerate(places):
        found.circle(x, y, 12, INK)
        found.text(x, y, i, 12, "#fff")
    return found


def van(v: Any) -> Picture:
    """Visits within windows."""
    found = gantt([(i, start, 2, i, i) for start, i in v["visits"]], [f"stop {i}" for i in range(5)], 40)
    for i, (first, last) in enumerate(v["windows"]):
        found.parts.insert(0, f'<rect x="{90 + 14 * first}" y="{13 + 32 * i}" width="{14 * (last - first)}" '
                           f'height="26" fill="{PALE}"/>')  # fmt: skip
    return found


def fleet(v: Any) -> Picture:
    """The tours of the vans on the plane."""
    places = [(30 + 34 * x, 350 - 34 * y) for x, y in v["places"]]
    found = Picture(370, 360)
    for van, stops in enumerate(v["fleet"]):
        for i, j in zip([0, *stops], stops, strict=False):
            found.line(*places[i], *places[j], COLOURS[van], 3)
    for i, (x, y) in enumerate(places):
        found.circle(x, y, 12, INK if i else COLOURS[3])
        found.text(x, y, i, 12, "#fff")
    return found


def knapsack(v: Any) -> Picture:
    """Profit by weight; the front is marked."""
    found = Picture(420, 300)
    found.line(40, 260, 400, 260)
    found.line(40, 260, 40, 20)
    found.text(400, 278, "weight", 12, QUIET, "end")
    found.text(46, 14, "profit", 12, QUIET, "start")
    for weight, profit in v["every"]:
        best = (weight, profit) in v["front"]
        found.circle(40 + 6 * weight, 260 - 2.1 * profit, 5 if best else 3, COLOURS[1 if best else 0])
    return found


def disks(v: Any) -> Picture:
    """The files on each disk."""
    used = max(v["disks"]) + 1
    found = Picture(40 + 90 * used, 260)
    for number in range(used):
        y = 230.0
        found.rect(30 + 90 * number, 30, 60, 200, "#fff", QUIET)
        for i, size in enumerate(v["sizes"]):
            if v["disks"][i] == number:
                y -= 2 * size
                found.rect(30 + 90 * number, y, 60, 2 * size, COLOURS[i])
                found.text(60 + 90 * number, y + size, size, 13, "#fff")
        found.text(60 + 90 * number, 244, f"disk {number}", 12, QUIET)
    return found


def squares(v: Any) -> Picture:
    """The squares in their box."""
    height = v["r"].objective
    found = Picture(30 * 11 + 20, 30 * height + 20)
    found.rect(10, 10, 330, 30 * height, PALE, INK)
    for i, (x, y, side) in enumerate(v["places"]):
        found.rect(10 + 30 * x, 10 + 30 * (height - y - side), 30 * side, 30 * side, COLOURS[i])
        found.text(10 + 30 * (x + side / 2), 10 + 30 * (height - y - side / 2), side, 15, "#fff")
    return found


def australia(v: Any) -> Picture:
    """The graph of the states."""
    places = {"WA": (70, 130), "NT": (170, 60), "SA": (180, 160), "Q": (280, 80), "NSW": (300, 180)}
    places |= {"V": (230, 250), "T": (310, 270)}
    found = Picture(380, 310)
    for border in v["borders"]:
        a, b = border.split("-")
        found.line(*places[a], *places[b], QUIET, 2)
    for state, (x, y) in places.items():
        found.circle(x, y, 24, COLOURS[v["colours"][state]])
        found.text(x, y, state, 13, "#fff", weight=600)
    return found


def ruler(v: Any) -> Picture:
    """The ruler, and an arc for each distance."""
    marks = v["ruler"]
    step = 560 / marks[-1]
    found = Picture(600, 230)
    found.line(20, 200, 580, 200, INK, 3)
    for a, b in combinations(marks, 2):
        x, y, r = 20 + step * a, 20 + step * b, step * (b - a) / 2
        path = f"M{x:.1f} 200A{r:.1f} {min(r, 175):.1f} 0 0 1 {y:.1f} 200"
        found.parts.append(
            f'<path d="{path}" fill="none" stroke="{COLOURS[0]}"><title>{b - a}</title></path>'
        )
    for mark in marks:
        found.line(20 + step * mark, 190, 20 + step * mark, 208, INK, 3)
        found.text(20 + step * mark, 219, mark, 13)
    return found


def coins(v: Any) -> Picture:
    """Ways by the number of two-euro coins."""
    most = max(v["shares"].values())
    found = Picture(400, 220)
    for value, number in v["shares"].items():
        height = 160 * number / most
        found.rect(30 + 58 * value, 185 - height, 50, height, COLOURS[0], tip=f"{value}: {number:,}")
        found.text(55 + 58 * value, 175 - height, f"{number / 1e6:.1f} M", 11, QUIET)
        found.text(55 + 58 * value, 200, value, 13)
    return found


def triples(v: Any) -> Picture:
    """Legs of the triangles."""
    found = Picture(420, 420)
    for a, b, _ in v["triples"]:
        found.line(30, 390, 30 + 3.7 * a, 390 - 3.7 * b, PALE, 1)
        found.circle(30 + 3.7 * a, 390 - 3.7 * b, 5, COLOURS[0] if gcd(a, b) == 1 else "#a9c9e4")
    found.line(30, 390, 410, 390)
    found.line(30, 390, 30, 15)
    found.text(405, 404, "a", 13, QUIET)
    found.text(18, 18, "b", 13, QUIET)
    return found


def remainders(v: Any) -> Picture:
    """The remainders of the smallest solution, as clocks."""
    found = Picture(540, 210)
    for i, modulus in enumerate((1_000_003, 1_000_033, 1_000_037)):
        x, turn = 95 + 175 * i, 2 * pi * (v["smallest"] // modulus % 60) / 60
        found.parts.append(
            f'<circle cx="{x}" cy="90" r="66" fill="#fff" stroke="{COLOURS[i]}" stroke-width="3"/>'
        )
        for hour in range(12):
            a = 2 * pi * hour / 12
            found.line(x + 58 * sin(a), 90 - 58 * cos(a), x + 64 * sin(a), 90 - 64 * cos(a), QUIET)
        found.line(x, 90, x + 48 * sin(turn), 90 - 48 * cos(turn), COLOURS[i], 3)
        found.text(x, 176, f"{v['smallest'] // modulus:,} turns", 13)
        found.text(x, 195, f"of {modulus:,}, and {v['smallest'] % modulus}", 12, QUIET)
    return found


def dominoes(v: Any) -> Picture:
    """A tiling."""
    found = Picture(6 * 40 + 20, 6 * 40 + 20)
    for kind, (width, height) in (("across", (2, 1)), ("down", (1, 2))):
        for number, ((i, j), piece) in enumerate(v[kind].items()):
            if v["drawn"][piece.name]:
                colour = COLOURS[(0 if kind == "across" else 1) + 2 * (number % 2)]
                found.rect(12 + 40 * j, 12 + 40 * i, 40 * width - 4, 40 * height - 4, colour)
    return found


def tuner(v: Any) -> str:
    """The picture that the library itself draws."""
    from constrint.pictures import svg
    from constrint.pictures.facts import facts_of

    return svg(facts_of(v["space"]))


def programs(text: str) -> list[tuple[str, str]]:
    """The pictures of a page, each with the program that stands above it."""
    found, code, folded = [], "", False
    for part in _PART.finditer(text):
        if part["fold"]:
            folded = part["fold"] == "<details>"
        elif part["code"] and not folded:
            code = part["code"]
        elif part["name"]:
            found.append((part["name"], code))
    return found


def draw_all(folder: Path) -> list[Path]:
    """Draw the pictures of all pages of a folder into its folder `made`."""
    made = folder / "made"
    made.mkdir(exist_ok=True)
    written = []
    for page in sorted(folder.glob("*.md")):
        for name, code in programs(page.read_text(encoding="utf-8")):
            variables: dict[str, Any] = {}
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(code, f"{page.name}: {name}", "exec"), variables)  # noqa: S102 - the manual's programs
            drawn = globals()[name](variables)
            path = made / f"{name}.svg"
            path.write_text(drawn if isinstance(drawn, str) else drawn.svg(), encoding="utf-8")
            written.append(path)
    return written


if __name__ == "__main__":
    draw_all(Path(__file__).parent / "gallery")
