"""Search spaces of tuners: build, count, sample and list, beside Kernel Tuner's own construction.

    python benchmarks/spaces/spaces.py [--peers] [--out benchmarks/results/spaces.json] [NAME …]

Every space runs in a child process of its own, so that memory is measured for it alone. Times are medians in
seconds, import excluded; `process` is the time of a whole cold process that builds, counts and prints.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import statistics
import subprocess
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

DATA = Path(__file__).parent / "data"
MOST_LISTED = 20_000_000
MOST_TUPLES = 3_000_000
RUNS = 5


def timed(action: Any, runs: int = RUNS) -> tuple[float, Any]:
    times = []
    answer = None
    for _ in range(runs):
        answer = None
        begun = perf_counter()
        answer = action()
        times.append(perf_counter() - begun)
    return round(statistics.median(times), 6), answer


def ours(data: dict[str, Any]) -> dict[str, Any]:
    from constrint.spaces import from_json

    build, space = timed(lambda: from_json(data))
    assert space.size == data["valid"], f"{data['name']}: {space.size} instead of {data['valid']}"
    row: dict[str, Any] = {"valid": space.size, "build": build, "edges": space.edges, "width": space.width}
    row["build_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    row["sample_1000"] = timed(lambda: space.sample(1000, seed=1))[0]
    if space.size <= MOST_LISTED:
        row["list"] = timed(lambda: from_json(data).to_numpy().shape, 3)[0]
    return row


def bridged(data: dict[str, Any]) -> dict[str, Any]:
    """Through Kernel Tuner's own object, without and with the bridge."""
    from kernel_tuner.searchspace import Searchspace

    from constrint.integrations import kernel_tuner as bridge

    if data["valid"] > MOST_TUPLES:
        return {}

    def build() -> int:
        return int(Searchspace(dict(data["tune_params"]), list(data["restrictions"]), 1024).size)

    runs = 3 if data["valid"] < 10**6 else 1
    own, size = timed(build, runs)
    bridge.install()
    with_bridge, same = timed(build, runs)
    return {"kernel_tuner": own, "kernel_tuner_bridged": with_bridge, "same_size": size == same}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--child")
    arguments = parser.parse_args()
    if arguments.child:
        kind, name = arguments.child.split(":")
        data = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
        print(json.dumps((ours if kind == "ours" else bridged)(data)))
        return
    rows = {}
    for path in sorted(DATA.glob("*.json")):
        if arguments.names and path.stem not in arguments.names:
            continue
        begun = perf_counter()
        code = f"from constrint.spaces import from_json; print(from_json({str(path)!r}).size)"
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
        row = {"process": round(perf_counter() - begun, 3)}
        for kind in ["ours", "peers"][: 1 + arguments.peers]:
            command = [sys.executable, __file__, "--child", f"{kind}:{path.stem}"]
            answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            row.update(json.loads(answer.splitlines()[-1]))
        rows[path.stem] = row
        print(path.stem, row)
    if arguments.out:
        report = {"machine": platform.processor() or platform.machine(), "python": platform.python_version()}
        arguments.out.write_text(json.dumps({**report, "spaces": rows}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
