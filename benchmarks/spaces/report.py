"""Tables of the measurements, and their comparison with the targets."""

from __future__ import annotations

from collections.abc import Iterable
from math import exp, log
from typing import Any

MANY = 100_000  # configurations from which listing is compared with Kernel Tuner's construction
SMALL = 10_000

Row = dict[str, Any]


def show(report: Row) -> None:
    """Print the table of spaces in Markdown, and the targets."""
    print(
        "| tuner's search space | solutions | build and count | 1,000 samples | all as an array | process |"
    )
    print("|---|---|---|---|---|---|")
    spaces = report["spaces"]
    for name, row in spaces.items():
        cells = [cell(row[kind]) for kind in ("build", "sample_1000", "list")]
        print(f"| {name} | {row['valid']:,} | {' | '.join(cells)} | {row['build']['process']:.2f} |")
    peers = ("kernel_tuner", "kernel_tuner_bridged", "python_constraint2", "pyatf", "ortools")
    if any("kernel_tuner" in row for row in spaces.values()):
        print("\n| space | Kernel Tuner | with the bridge | python-constraint2 | pyATF, tree | CP-SAT, all |")
        print("|---|---|---|---|---|---|")
        for name, row in spaces.items():
            print(f"| {name} | {' | '.join(cell(row.get(kind, {})) for kind in peers)} |")
    print("\n| aim | measured | |\n|---|---|---|")
    for aim, value, met in aims(report):
        print(f"| {aim} | {value} | {'met' if met else 'missed'} |")


def cell(row: Row) -> str:
    """Seconds, or the reason why there are none."""
    if "seconds" in row:
        seconds = row["seconds"]
        return f"{seconds:.4f}" if seconds < 0.1 else f"{seconds:.2f}" if seconds < 100 else f"{seconds:.0f}"
    if "beyond" in row:
        return f"> {row['beyond']}"
    return "failed" if "failed" in row else ""


def aims(report: Row) -> list[tuple[str, str, bool]]:
    """Each target, the measured value, and whether it is met."""
    spaces: dict[str, Row] = report["spaces"]
    found = [*_own(spaces), *_beside_peers(spaces)]
    huge = report.get("huge", {})
    if "seconds" in huge:
        found.append(
            (
                f"{int(huge['valid']):.1e} solutions: build, s[10**12], 1,000 samples and a maximum in < 1 s",
                f"{huge['seconds']:.2f} s",
                huge["seconds"] < 1 and int(huge["valid"]) >= 10**15,
            )
        )
    return found


def _own(spaces: dict[str, Row]) -> list[tuple[str, str, bool]]:
    slowest = max(spaces, key=lambda name: spaces[name]["build"]["seconds"])
    largest = max(spaces, key=lambda name: spaces[name]["build"]["peak_mb"])
    slow, large = spaces[slowest]["build"]["seconds"], spaces[largest]["build"]["peak_mb"]
    samples = max(row["sample_1000"]["seconds"] for row in spaces.values())
    found = [
        ("every space built and counted in < 0.1 s", f"{slow:.4f} s ({slowest})", slow < 0.1),
        (
            "every space built in < 500 MB",
            f"{large} MB ({largest}), the interpreter and numpy included",
            large < 500,
        ),
        ("1,000 samples in < 10 ms", f"{samples * 1e3:.1f} ms", samples < 0.01),
    ]
    for name, limit in (("hotspot", 0.03), ("bat_dedispersion", 0.5)):
        if name in spaces:
            seconds = spaces[name]["list"]["seconds"]
            found.append((f"{name} listed in {limit} s", f"{seconds:.3f} s", seconds <= limit))
    small = {name: row["first_process"] for name, row in spaces.items() if row["valid"] <= 50_000}
    if small:
        worst = max(small.values())
        found.append(
            ("small spaces in a whole process on a fresh machine in < 0.5 s", f"{worst:.2f} s", worst < 0.5)
        )
    return found


def _beside_peers(spaces: dict[str, Row]) -> list[tuple[str, str, bool]]:
    found = []
    trees = {n: r for n, r in spaces.items() if "seconds" in r.get("pyatf", {})}
    if trees:
        slower = [n for n, r in trees.items() if r["build"]["seconds"] > max(0.005, r["pyatf"]["seconds"])]
        value = f"{len(trees) - len(slower)} of {len(trees)} that it finishes"
        found.append(("built within the larger of 5 ms and pyATF's tree", value, not slower))
    finished = {n: r for n, r in spaces.items() if "seconds" in r.get("kernel_tuner", {})}
    if not finished:
        return found
    ratios = {
        n: r["kernel_tuner"]["seconds"] / r["list"]["seconds"]
        for n, r in finished.items()
        if r["valid"] > MANY
    }
    if ratios:
        worst = min(ratios, key=lambda name: ratios[name])
        found.append(
            (
                "listing 10 times as fast as Kernel Tuner's construction, each over 1e5",
                f"{ratios[worst]:.0f} times at least ({worst})",
                ratios[worst] >= 10,
            )
        )
        middle = mean(ratios.values())
        found.append(("the same, 30 times in the geometric mean", f"{middle:.0f} times", middle >= 30))
    bridged = {
        n: r["kernel_tuner"]["seconds"] / r["kernel_tuner_bridged"]["seconds"]
        for n, r in finished.items()
        if "seconds" in r["kernel_tuner_bridged"]
    }
    middle, least, most = mean(bridged.values()), min(bridged.values()), max(bridged.values())
    found.append(
        (
            "Kernel Tuner's own object through the bridge: 4 times, geometric mean",
            f"{middle:.1f} times over {len(bridged)} spaces, {least:.1f} to {most:.1f}",
            middle >= 4,
        )
    )
    equal = sum(
        r["kernel_tuner"]["digest"] == r["kernel_tuner_bridged"].get("digest") for r in finished.values()
    )
    found.append(("the same sets as Kernel Tuner's", f"{equal} of {len(finished)}", equal == len(finished)))
    return found


def mean(values: Iterable[float]) -> float:
    """The geometric mean."""
    listed = list(values)
    return exp(sum(map(log, listed)) / len(listed))
