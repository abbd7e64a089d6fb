"""Figures of the scans' page, from committed results alone. Needs matplotlib (extra `bench`).

    python benchmarks/scans/figures.py --results benchmarks/results --out docs/pictures

scans-map: which strategy is predicted to be the fastest, and which was where more than one was measured;
scans-accuracy: error against the number of steps; scans-newton: channels that Newton's method has wrong.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import defaultdict
from pathlib import Path
from typing import Any

MARKS = {"look_back": "o", "sequential": "s", "overlap": "^"}
COLOURS = {"look_back": "tab:blue", "sequential": "tab:orange", "overlap": "tab:green"}
TITLES = {"linear": "h' = a h + b, bf16", "diag_gru": "diagonal GRU, bf16"}


def rows_of(path: Path, name: str = "rows") -> list[dict[str, Any]]:
    """Of a results file."""
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))[name]
    return found


def fastest_measured(rows: list[dict[str, Any]], cell: str) -> dict[tuple[int, int], str]:
    """By channels and steps, of forward passes in bf16."""
    times: dict[tuple[int, int], dict[str, float]] = defaultdict(dict)
    for row in rows:
        problem = row["problem"]
        if (problem["cell"], problem["dtype"], problem["direction"]) == (cell, "bf16", "forward"):
            place = problem["batch"] * problem["channels"], problem["steps"]
            known = times[place].get(row["strategy"], math.inf)
            times[place][row["strategy"]] = min(known, row["milliseconds"])
    return {place: min(found, key=lambda name: found[name]) for place, found in times.items()}


def draw_map(plt: Any, results: Path, out: Path) -> None:
    """Predicted as filled places, measured as rings around them."""
    rows = rows_of(results / "h100_scans_map.json")
    explored = rows_of(results / "h100_scans_explored.json")
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.8), sharey=True)
    for axis, cell in zip(axes, TITLES, strict=True):
        for name, mark in MARKS.items():
            places = [r for r in rows if r["cell"] == cell and best_of(r) == name]
            if places:
                x, y = [r["channels"] for r in places], [r["steps"] for r in places]
                axis.scatter(x, y, s=90, c=COLOURS[name], marker=mark, alpha=0.6, label=f"{name}, predicted")
        measured = fastest_measured(explored, cell)
        for name, mark in MARKS.items():
            known = [place for place, found in measured.items() if found == name]
            if known:
                x, y = [place[0] for place in known], [place[1] for place in known]
                style = {"facecolors": "none", "edgecolors": "black", "linewidths": 1.5}
                axis.scatter(x, y, s=220, marker=mark, label=f"{name}, measured", **style)
        axis.set(xscale="log", yscale="log", title=TITLES[cell], xlabel="channels, B times D")
        axis.legend(fontsize=7, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.15))
    axes[0].set_ylabel("steps")
    save(figure, out / "scans-map.svg")


def best_of(row: dict[str, Any]) -> str:
    """The strategy that is predicted to be the fastest."""
    predicted: dict[str, float] = row["predicted"]
    return min(predicted, key=lambda name: predicted[name])


def draw_accuracy(plt: Any, results: Path, out: Path) -> None:
    """Both domains against T."""
    rows = rows_of(results / "h100_scans_accuracy.json")
    figure, axis = plt.subplots(figsize=(6, 4))
    steps = [row["steps"] for row in rows]
    for name, label in (("linear", "kerneltune, linear domain"), ("log_space", "log space")):
        axis.plot(steps, [row[name] for row in rows], marker="o", label=label)
    axis.set(xscale="log", yscale="log", xlabel="steps", ylabel="error relative to float64")
    axis.legend()
    save(figure, out / "scans-accuracy.svg")


def draw_newton(plt: Any, results: Path, out: Path) -> None:
    """Channels that are wrong by iterations, before and after training."""
    figure, axis = plt.subplots(figsize=(6, 4))
    for model in rows_of(results / "scans_parity.json", "models"):
        label = f"{model['cell']}, {'trained on parity' if model['trained'] else 'as drawn'}"
        rows = model["rows"]
        x, y = [row["iterations"] for row in rows], [100 * row["wrong_channels"] for row in rows]
        axis.plot(x, y, "o-" if model["trained"] else "x--", label=label)
    axis.axvline(3, color="grey", linewidth=0.8)
    axis.set(xscale="log", xlabel="iterations of Newton's method", ylabel="wrong channels, %")
    axis.legend()
    save(figure, out / "scans-newton.svg")


def save(figure: Any, path: Path) -> None:
    """As a file that is the same in every run."""
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--results", type=Path, default=Path("benchmarks/results"), help="their folder")
    parser.add_argument("--out", type=Path, default=Path("docs/pictures"), help="the folder")
    options = parser.parse_args()
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "scans"})
    from matplotlib import pyplot

    for draw in (draw_map, draw_accuracy, draw_newton):
        draw(pyplot, options.results, options.out)


if __name__ == "__main__":
    main()
