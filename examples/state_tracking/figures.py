"""Figures of results.json: accuracy against the length of words, and against seconds of training."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

HERE = Path(__file__).parent
TRAINED = 64
DASHED = ("minGRU", "minLSTM", "SSM, a in (0, 1)", "SSM, a in (-1, 1)", "Transformer")


def panels(tasks: list[str]) -> tuple[Any, dict[str, Any]]:
    """A figure with a panel for each task."""
    figure, axes = plt.subplots(1, len(tasks), figsize=(3.2 * len(tasks), 3), sharey=True, squeeze=False)
    for axis, task in zip(axes[0], tasks):
        axis.set_title(task)
        axis.set_ylim(-0.05, 1.05)
        axis.grid(alpha=0.3)
    axes[0][0].set_ylabel("accuracy of the last answer")
    return figure, dict(zip(tasks, axes[0]))


def drawn(runs: list[dict[str, Any]], kind: str, path: Path) -> None:
    """Draw one figure: `length` or `seconds`."""
    figure, axes = panels(list(dict.fromkeys(run["task"] for run in runs)))
    for run in runs:
        axis = axes[run["task"]]
        style = "--" if run["model"] in DASHED else "-"
        if kind == "length":
            points = [(int(length), found["last"]) for length, found in run["accuracy"].items()]
            axis.set_xscale("log")
        else:
            points = [(seconds, last) for seconds, _, length, last in run["curve"] if length == TRAINED]
        if points:
            axis.plot(*zip(*points), style, marker="." if kind == "length" else None, label=run["model"])
    for axis in axes.values():
        axis.set_xlabel("tokens" if kind == "length" else "seconds of training")
    handles = {h: label for axis in axes.values() for h, label in zip(*axis.get_legend_handles_labels())}
    shown = {label: handle for handle, label in reversed(list(handles.items()))}
    figure.legend(shown.values(), shown.keys(), loc="center left", bbox_to_anchor=(1, 0.5), fontsize=8)
    figure.tight_layout()
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})


def main() -> None:
    """Write both figures."""
    plt.rcParams["svg.hashsalt"] = "state tracking"  # the same file from the same numbers
    plt.rcParams["svg.fonttype"] = "none"
    runs = json.loads((HERE / "results.json").read_text("utf-8"))["runs"]
    for kind in ("length", "seconds"):
        drawn(runs, kind, HERE / f"{kind}.svg")


if __name__ == "__main__":
    main()
