"""Files of solution sets."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import numpy as np

from constrint.diagrams.files import load_bytes
from constrint.solutions.solutionset import SolutionSet
from constrint.support.limits import Budget
from fuzz.harness import NAME, Format

WORDS = (
    "PK\x03\x04", "PK\x01\x02", "PK\x05\x06", "\x93NUMPY\x01\x00", "header.npy", "first_0_0.npy", "'descr'",
    "'<i8'", "'|O'", "'<U9'", "'shape': (", "(-1,)", "(9999999999999,)", '"names"', '"labels"', '"diagrams"',
    "null", "[[", "]]", "[0]", '"version": 2', "1e999", "True", "9" * 5000, "'fortran_order': True",
)  # fmt: skip


def read(data: bytes) -> SolutionSet:
    """A set."""
    return SolutionSet(*load_bytes(data, NAME, Budget()))


def use(solutions: SolutionSet) -> None:
    """Look at some solutions."""
    if not solutions.size:
        return
    rows = [*solutions.sample(2, seed=1), solutions[0], solutions[solutions.size - 1]]
    for row in rows:
        if row not in solutions:
            raise AssertionError("a solution is not in its set")
    for name in solutions.names:
        solutions.value_counts(name)
    solutions.facts()


def archive(header: Any, arrays: dict[str, Any], method: int) -> bytes:
    """A file with these arrays."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as zipped:
        for name, array in {"header": np.frombuffer(json.dumps(header).encode(), np.uint8), **arrays}.items():
            content = io.BytesIO()
            np.lib.format.write_array(content, np.asarray(array), allow_pickle=True)
            zipped.writestr(f"{name}.npy", content.getvalue())
    return file.getvalue()


def grammar() -> Any:
    """Files that are nearly right: each part by itself is what it should be, or something else."""
    from hypothesis import strategies as st

    numbers = st.lists(st.integers(-1, 4), max_size=5)
    kinds = st.sampled_from(["i1", "i8", "u8", "f8", "U5", "O", "?", "c16", "i8", "i8"])
    arrays = st.builds(lambda values, kind: np.array(values).astype(kind), numbers, kinds)

    def layered(first: Any, second: Any, odd: Any, place: str) -> dict[str, Any]:
        found = {
            "first_0_0": [0, len(first)], "value_0_0": sorted(first), "target_0_0": [0] * len(first),
            "first_0_1": [0, len(second)], "value_0_1": sorted(second), "target_0_1": [0] * len(second),
        }  # fmt: skip
        made = {name: np.array(values, dtype=np.int64) for name, values in found.items()}
        return {**made, place: odd} if place else made

    values = st.sets(st.integers(-3, 9), min_size=1, max_size=4).map(sorted)
    place = st.sampled_from(
        ["", "", "", "", "", "first_0_0", "value_0_0", "target_0_0", "first_0_1", "value_0_1", "x"]
    )
    odd: Any = st.sampled_from([None, [], {}, 5, "x", [["x"]], [[0, []]], [[1, 0]], 1.0, [[0, 1], [2]], True])
    labels = st.sampled_from([[], [[0, [[i, f"v{i}"] for i in range(-3, 10)]]], [[1, [[0, {"tuple": [1]}]]]]])

    def headed(order: list[int], meaning: Any, wrong: str, value: Any) -> dict[str, Any]:
        found = {
            "format": "constrint solution set", "version": 1, "names": ["x", "y"], "labels": meaning,
            "diagrams": [order],
        }  # fmt: skip
        return {**found, wrong: value} if wrong else found

    wrong = st.sampled_from(["", "", "", "", "names", "labels", "diagrams", "version", "format"])
    header = st.builds(headed, st.sampled_from([[0, 1], [1, 0]]), labels, wrong, odd)
    return st.builds(
        archive, header, st.builds(layered, values, values, arrays, place),
        st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]),
    )  # fmt: skip


FORMAT = Format("npz", read, use, grammar, WORDS, path_like=True)
