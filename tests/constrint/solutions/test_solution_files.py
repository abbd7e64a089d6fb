"""Files of solution sets: round trips, and errors for damaged files."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from constrint import Model, ModelError
from constrint.solutions.solutionset import SolutionSet
from constrint.tuning.spaces import from_tune_params


def small() -> SolutionSet:
    m = Model()
    x, y, z = (m.int_var(name, 0, 9) for name in "xyz")
    m.add(x * y <= 2 * z + 3, (x + y + z) % 3 == 1)
    return m.solutions()


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "set.npz"
    small().save(path)
    return path


def test_labels_of_every_kind_come_back(tmp_path: Path) -> None:
    params: dict[str, Any] = {
        "tile": [1, 2, 4],
        "scale": [0.5, 1, 2.25],
        "flag": [True, False],
        "layout": ["row", "col", None],
        "shape": [(1, 2), (2, (1, 1)), [3, 4]],
    }
    space = from_tune_params(params, ["tile * scale <= 4", "layout != 'col' or flag"])
    path = tmp_path / "space.npz"
    space.save(path)
    again = SolutionSet.load(path)
    assert list(again) == list(space)
    assert [type(value) for value in again[0].values()] == [type(value) for value in space[0].values()]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["space.npz"]


def test_a_value_that_a_file_cannot_keep_is_named(tmp_path: Path) -> None:
    space = from_tune_params({"kind": [frozenset({1}), frozenset({2})]})
    with pytest.raises(ModelError, match="'kind' has the value frozenset"):
        space.save(tmp_path / "space.npz")
    assert not list(tmp_path.iterdir())


def test_an_empty_set_comes_back(tmp_path: Path) -> None:
    m = Model()
    x = m.int_var("x", 0, 3)
    m.add(x * x == 5)
    m.solutions().save(tmp_path / "empty.npz")
    again = SolutionSet.load(tmp_path / "empty.npz")
    assert (again.size, again.names) == (0, ("x",))


def test_every_cut_of_a_file_is_an_error(saved: Path, tmp_path: Path) -> None:
    content = saved.read_bytes()
    cut = tmp_path / "cut.npz"
    for length in [0, 1, 7, *range(20, len(content), 97), len(content) - 1]:
        cut.write_bytes(content[:length])
        with pytest.raises(ModelError, match=r"cut\.npz: no solution set"):
            SolutionSet.load(cut)


def test_a_changed_byte_is_an_error_or_changes_nothing(saved: Path, tmp_path: Path) -> None:
    content = saved.read_bytes()
    wanted = list(small())
    changed = tmp_path / "changed.npz"
    said = []
    for place in range(0, len(content), 11):
        broken = bytearray(content)
        broken[place] ^= 0x41
        changed.write_bytes(bytes(broken))
        try:
            assert list(SolutionSet.load(changed)) == wanted
        except ModelError as problem:
            said.append(str(problem))
    assert all("changed.npz" in message for message in said)
    assert len(said) > len(content) / 11 / 4


def rewritten(path: Path, changes: dict[str, Callable[..., Any]]) -> None:
    """The file with some of its arrays replaced, as one that only looks right."""
    with np.load(path) as stored:
        arrays = {name: stored[name] for name in stored.files}
    header = json.loads(bytes(arrays.pop("header")).decode())
    for name, value in changes.items():
        if name in arrays:
            arrays[name] = np.asarray(value(arrays[name]))
        else:
            header[name] = value(header.get(name))
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    path.write_bytes(b"")
    with path.open("wb") as file:
        np.savez(file, **arrays)


@pytest.mark.parametrize(
    "changes",
    [
        {"target_0_0": lambda a: a + 1000},
        {"target_0_0": lambda a: a - 1},
        {"target_0_1": lambda a: a.astype(float)},
        {"first_0_1": lambda a: a[::-1]},
        {"first_0_1": lambda a: a[:-1]},
        {"first_0_0": lambda a: a + 1},
        {"value_0_0": lambda a: a[::-1]},
        {"value_0_2": lambda a: a[:-1]},
        {"value_0_0": lambda a: a.reshape(-1, 1)},
        {"names": lambda names: names[:2]},
        {"names": lambda names: ["x", "x", "z"]},
        {"diagrams": lambda _: [[0, 1]]},
        {"diagrams": lambda _: [[0, 1, 7]]},
        {"diagrams": lambda _: "all"},
        {"labels": lambda _: [[0, [[0, "zero"]]]]},
        {"labels": lambda _: 5},
        {"version": lambda _: 99},
        {"format": lambda _: "something else"},
    ],
)
def test_what_is_no_diagram_is_refused(saved: Path, changes: dict[str, Callable[..., Any]]) -> None:
    rewritten(saved, changes)
    with pytest.raises(ModelError, match=r"set\.npz: "):
        SolutionSet.load(saved)


def test_other_files_are_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.npz"
    np.savez(other, a=np.arange(3))
    array = tmp_path / "array.npy"
    np.save(array, np.arange(3))
    objects = tmp_path / "objects.npz"
    np.savez(objects, header=np.array([{}], dtype=object))
    text = io.BytesIO()
    with zipfile.ZipFile(text, "w") as archive:
        archive.writestr("header.npy", "no array")
    archived = tmp_path / "archive.npz"
    archived.write_bytes(text.getvalue())
    for path in (other, array, objects, archived):
        with pytest.raises(ModelError, match="no solution set"):
            SolutionSet.load(path)
    with pytest.raises(FileNotFoundError):
        SolutionSet.load(tmp_path / "missing.npz")
