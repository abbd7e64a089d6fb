"""FlashRNN's own tiling models, read as they stand and solved: processor time and CP-SAT's optimum beside it.

    pip download --no-deps flashrnn==1.0.8 && unzip flashrnn-1.0.8-py3-none-any.whl -d DIR
    python benchmarks/solver/flashrnn_tilings.py DIR [--peers] [--repeat 5] [--drawn 20] [--out result.json]

The text of a model is the f-string of the fused kernels in flashrnn/flashrnn/flashrnn.py. It is taken from
the syntax tree of that file, which is not run, and its fields are filled in for an H100: three cells, two
storage types and four shapes, 24 models. The goal is lexicographic, by the list of preferences that stands
above the text.

Times are processor time of one warm process. `ms` is the total of reading and solving, the least of several
runs on the same text, and `read_ms` the least time of reading alone. `drawn` is about further models with
drawn shapes: no text occurs twice, nor among the 24, each is read and solved once, and the totals are the
least, median and greatest over all of them.
"""

from __future__ import annotations

import argparse
import ast
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from statistics import median
from time import process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from environment import environment

from constrint import Model, Status

GPU = {
    "maxThreadsPerBlock": 1024,
    "regsPerMultiprocessor": 65536,
    "multiProcessorCount": 132,
    "sharedMemPerBlockOptin": 232448,
}
CELLS = {"lstm": (4, 4), "slstm": (4, 4), "elman": (1, 1)}
SHAPES = [(12, 64, 16), (6, 128, 16), (3, 256, 16), (1, 768, 8)]
"""Heads, units of a head, batch."""

Preference = tuple[str, str]


def tilings(
    folder: Path, shapes: Sequence[tuple[int, int, int]] = SHAPES
) -> Iterator[tuple[str, str, list[Preference]]]:
    """Name, text and preferences of each model."""
    tree = ast.parse((folder / "flashrnn" / "flashrnn" / "flashrnn.py").read_text(encoding="utf-8"))
    text = _assigned(tree, "constraint_str")
    preferences = [
        (name.value, "max" if heuristic.id == "LF" else "min")
        for call in ast.walk(_assigned(tree, "value_refinements"))
        if isinstance(call, ast.Call)
        for name, heuristic in [call.args]
        if isinstance(name, ast.Constant) and isinstance(heuristic, ast.Name)
    ]
    for cell in CELLS:
        for dtype in ("bfloat16", "float32"):
            for shape in shapes:
                fields = _fields(cell, dtype, *shape)
                heads, units, batch = shape
                name = f"{cell} {dtype} {heads}x{units} B={batch}"
                yield name, _filled(text, fields, dtype), preferences


def drawn_shapes(count: int, seed: int) -> list[tuple[int, int, int]]:
    """Distinct shapes, none of them among `SHAPES`; batches differ after rounding, so that texts do, too."""
    rng = Random(seed)
    found: dict[tuple[int, int, int], None] = {}
    while len(found) < count:
        shape = rng.randint(1, 16), 16 * rng.randint(1, 64), 16 * rng.randint(1, 8)
        if shape not in SHAPES:
            found[shape] = None
    return list(found)


def _assigned(tree: ast.AST, name: str) -> ast.expr:
    """The value of the first assignment to a name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            return node.value
    raise SystemExit(f"this flashrnn has no {name}: 1.0.8 is wanted")


def _fields(cell: str, dtype: str, heads: int, units: int, batch: int) -> dict[str, int]:
    """The fields of the text, by their expressions."""
    short = dtype != "float32"
    step = 8 if short else 16
    gates_r, gates_w = CELLS[cell]
    registers = GPU["regsPerMultiprocessor"] * (2 if short else 1)
    return {
        "gpu_info['maxThreadsPerBlock'] // 4": GPU["maxThreadsPerBlock"] // 4,
        "gpu_info['regsPerMultiprocessor'] * (2 if config.dtype != 'float32' else 1)": registers,
        "gpu_info['multiProcessorCount']": GPU["multiProcessorCount"],
        "min(gpu_info['sharedMemPerBlockOptin'] - 1024, 227000)": min(
            GPU["sharedMemPerBlockOptin"] - 1024, 227000
        ),
        "config.num_gates_r": gates_r,
        "config.num_gates_w": gates_w,
        "config.hidden_dim // config.num_heads": units,
        "config.num_heads": heads,
        "round_to_multiple(config.batch_size, 8 if config.dtype != 'float32' else 16)": -(-batch // step)
        * step,
        "config.hidden_dim": heads * units,
        "config._internal_acc_dtype_size": 4,
        "config._internal_dtype_size": 2 if short else 4,
        "config._internal_acc_dtype_size // config._internal_dtype_size": 2 if short else 1,
    }


def _filled(node: ast.expr, fields: dict[str, int], dtype: str) -> str:
    """A text assembled from constants, fields and a choice by storage type."""
    if isinstance(node, ast.BinOp):
        return _filled(node.left, fields, dtype) + _filled(node.right, fields, dtype)
    if isinstance(node, ast.IfExp):
        return _filled(node.body if dtype != "float32" else node.orelse, fields, dtype)
    if isinstance(node, ast.JoinedStr):
        return "".join(_filled(part, fields, dtype) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        return str(fields[ast.unparse(node.value)])
    assert isinstance(node, ast.Constant)
    return str(node.value)


def solved(text: str, preferences: list[Preference]) -> dict[str, int] | None:
    """The text read and solved."""
    m = Model.from_text(text, dialect="flashrnn")
    r = m.solve(prefer=[(m.variables[name], way) for name, way in preferences])  # type: ignore[misc]
    return {name: r.values[name] for name, _ in preferences} if r else None


def by_cp_sat(text: str, preferences: list[Preference]) -> dict[str, int] | None:
    """CP-SAT's lexicographic optimum of the model as we read it, one goal after the other."""
    from constrint.backends.cp_sat import solve

    m = Model.from_text(text, dialect="flashrnn")
    r = solve(m, [], [(m.variables[name], way) for name, way in preferences])  # type: ignore[misc]
    assert r.status in (Status.OPTIMAL, Status.INFEASIBLE)
    return {name: r.values[name] for name, _ in preferences} if r else None


def main() -> None:
    """Solve and time all models."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="where flashrnn 1.0.8 was unpacked or installed")
    parser.add_argument("--peers", action="store_true", help="ask CP-SAT, too")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--drawn", type=int, default=20, help="drawn shapes, of six models each")
    parser.add_argument("--seed", type=int, default=0, help="seed of the drawn shapes")
    parser.add_argument("--out", type=Path, help="JSON file to write")
    arguments = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for name, text, preferences in tilings(arguments.folder):
        times, readings = [], []
        for _ in range(arguments.repeat):
            begun = process_time()
            Model.from_text(text, dialect="flashrnn")
            readings.append(process_time() - begun)
            begun = process_time()
            ours = solved(text, preferences)
            times.append(process_time() - begun)
        row: dict[str, Any] = {
            "model": name,
            "ms": round(1000 * min(times), 2),
            "read_ms": round(1000 * min(readings), 2),
            "feasible": ours is not None,
        }
        if arguments.peers:
            row["as_cp_sat"] = ours == by_cp_sat(text, preferences)
        rows.append(row)
        print(row, flush=True)
    every = [row["ms"] for row in rows]
    print(f"{len(rows)} models: {min(every)} to {max(every)} ms, median {median(every)}")
    drawn = drawn_totals(arguments.folder, arguments.drawn, arguments.seed)
    print("drawn:", drawn)
    if arguments.out:
        found = {"environment": environment("ortools", "lark"), "rows": rows, "drawn": drawn}
        arguments.out.write_text(json.dumps(found, indent=1) + "\n")


def drawn_totals(folder: Path, count: int, seed: int) -> dict[str, Any]:
    """Milliseconds of reading and solving models with drawn shapes, whose texts are all new."""
    models = list(tilings(folder, drawn_shapes(count, seed)))
    totals, feasible = [], 0
    for _, text, preferences in models:
        begun = process_time()
        ours = solved(text, preferences)
        totals.append(1000 * (process_time() - begun))
        feasible += ours is not None
    if not totals:
        return {"models": 0}
    return {
        "models": len(models),
        "seed": seed,
        "feasible": feasible,
        "least_ms": round(min(totals), 2),
        "median_ms": round(median(totals), 2),
        "greatest_ms": round(max(totals), 2),
    }


if __name__ == "__main__":
    main()
