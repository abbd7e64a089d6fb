"""Figures of peers.py's sweeps, from its JSON alone. Needs matplotlib (extra `bench`).

    python benchmarks/rnn/plots.py peers.json --out figures [--format svg]

A figure for each sweep and shape of heads: forward on the left, forward and backward on the right, both axes
logarithmic; FlashRNN's times, measured on another day, as points without a line.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
import flashrnn_times

# What a sweep varies: the label of its axis, and the other parts of a figure's title.
AXES = {
    "heads": ("dim", "head dimension, 768 units in all"),
    "batch": ("batch", "batch"),
    "steps": ("steps", "steps"),
    "large": ("dim", "units of one head"),
    "cudnn": ("dim", "units of one head"),
}
MARKS = {"FlashRNN fused": "s", "FlashRNN alternating": "^", "FlashRNN Triton": "x"}
FIXED = ("cell", "heads", "dim", "batch", "steps", "dtype")
PASSES = {"forward": "forward", "both": "forward + backward"}


@dataclass
class Figure:
    """One figure: lines by contender, as (x, ms) by pass.

    Attributes:
        name: Name of its file.
        title: What all its points have in common.
        axis: Label of the x axis.
        lines: Points by contender and pass, measured in the same run.
        marks: FlashRNN's points.
    """

    name: str
    title: str
    axis: str
    lines: dict[str, dict[str, list[tuple[int, float]]]] = field(default_factory=dict)
    marks: dict[str, dict[str, list[tuple[int, float]]]] = field(default_factory=dict)


def figures(data: dict[str, Any]) -> list[Figure]:
    """The figures of a peers.py result; a sweep without times has none."""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    for row in data["units"]:
        if row["sweep"] in AXES and (row.get("forward") or row.get("both")):
            groups[(row["sweep"], *(row[name] for name in shared(row["sweep"])))].append(row)
    found = []
    for (sweep, *values), rows in groups.items():
        x, axis = AXES[sweep]
        said = dict(zip(shared(sweep), values, strict=True))
        figure = Figure("-".join(map(str, (sweep, *values))), title(said), axis)
        for row in rows:
            put(figure.lines, row["who"], row[x], {name: row.get(name) for name in PASSES})
        add_flashrnn(figure, rows, data["gpu"], x)
        found.append(figure)
    return found


def shared(sweep: str) -> list[str]:
    """What all points of a figure have in common."""
    varied = {AXES[sweep][0], "heads" if sweep in ("heads", "large", "cudnn") else ""}
    return [name for name in FIXED if name not in varied]


def title(said: dict[str, Any]) -> str:
    shape = f"{said['heads']} × {said['dim']}, " if "heads" in said else ""
    rest = [f"{letter} = {said[name]}" for letter, name in (("B", "batch"), ("T", "steps")) if name in said]
    return f"{said['cell']}, {shape}{', '.join(rest)}, {said['dtype']}"


def add_flashrnn(figure: Figure, rows: Sequence[dict[str, Any]], gpu: str, x: str) -> None:
    for row in {(r["heads"], r["dim"], r["batch"], r["steps"]): r for r in rows}.values():
        if not flashrnn_times.comparable(gpu, row["cell"], row["steps"], row["dtype"]):
            continue
        for name, known in flashrnn_times.VARIANTS.items():
            times = known.get((row["heads"], row["dim"], row["batch"]))
            if times:
                put(figure.marks, name, row[x], dict(zip(PASSES, times, strict=True)))


def put(
    lines: dict[str, dict[str, list[tuple[int, float]]]], who: str, x: int, times: dict[str, float | None]
) -> None:
    by_pass = lines.setdefault(who, {name: [] for name in PASSES})
    for name, value in times.items():
        if value:
            by_pass[name] = sorted([*by_pass[name], (x, value)])


def drawn(figure: Figure, gpu: str, path: Path) -> None:
    """Write one figure."""
    import matplotlib

    matplotlib.use("Agg")
    # Text as text, and reproducible files.
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "kerneltune"})
    from matplotlib import pyplot
    from matplotlib.ticker import NullLocator, ScalarFormatter

    shown, panels = pyplot.subplots(1, len(PASSES), figsize=(12.5, 4.6), layout="constrained")
    for panel, (name, words) in zip(panels, PASSES.items(), strict=True):
        ticks: set[int] = set()
        for number, (who, by_pass) in enumerate(figure.lines.items()):
            if by_pass[name]:
                panel.plot(*zip(*by_pass[name], strict=True), marker="o", label=who, color=f"C{number}")
                ticks |= {x for x, _ in by_pass[name]}
        for who, by_pass in figure.marks.items():
            if by_pass[name]:
                panel.plot(*zip(*by_pass[name], strict=True), "k" + MARKS[who], label=who)
        panel.set(xscale="log", yscale="log", xlabel=figure.axis, ylabel="ms", title=words)
        panel.xaxis.set_major_formatter(ScalarFormatter())
        panel.xaxis.set_minor_locator(NullLocator())
        panel.set_xticks(sorted(ticks))
        panel.grid(True, which="both", alpha=0.25)
    handles = {h.get_label(): h for panel in panels for h in panel.get_lines()}
    shown.legend(handles=handles.values(), loc="outside right center", fontsize="small")
    shown.suptitle(f"{figure.title}, {gpu}")
    shown.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    pyplot.close(shown)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", type=Path, help="JSON of peers.py")
    parser.add_argument("--out", type=Path, default=Path("figures"), help="folder")
    parser.add_argument("--format", default="svg", choices=("svg", "png", "pdf"))
    options = parser.parse_args(arguments)
    data = json.loads(options.file.read_text(encoding="utf-8"))
    options.out.mkdir(parents=True, exist_ok=True)
    made = figures(data)
    for figure in made:
        path = options.out / f"{figure.name}.{options.format}"
        drawn(figure, data["gpu"], path)
        print(path)
    return 0 if made else 1


if __name__ == "__main__":
    sys.exit(main())
