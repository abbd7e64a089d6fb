"""Descriptions of others name files: none of them leads out of their folder, to be read, run or written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kerneltune.errors import InputError
from kerneltune.inputs.descriptions import discover
from kerneltune.inputs.folders import file_inside
from kerneltune.inputs.hardware import load_profile
from kerneltune.sources.folder import read_folder

SECRET = "root:x:0:0"
# What stands outside, by every way to it.
PATHS = [
    "../outside",
    "{tmp}/outside",
    "link",
    "sub/../../outside",
    "./../kernel/../outside",
    "linked/outside",
    "",
]
KERNEL = """\
entry: f
grid: 1
block: 32
tune_params: {A: [1, 2]}
arguments:
  - {name: x, shape: [4], fill: zeros}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A kernel's folder, and files outside of it."""
    found = tmp_path / "kernel"
    (found / "sub").mkdir(parents=True)
    (found / "linked").symlink_to(tmp_path)
    for ending in ("", ".cu", ".py", ".npy", ".constrint", ".json", ".yaml"):
        outside = tmp_path / f"outside{ending}"
        outside.write_text(SECRET, encoding="utf-8")
        (found / f"link{ending}").symlink_to(outside)
    (tmp_path / "outside.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n", encoding="utf-8")
    np.save(tmp_path / "outside.npy", np.ones(4, np.float32))
    (found / "kernel.cu").write_text("__global__ void f(float* x) {}\n", encoding="utf-8")
    return found


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    ("key", "ending"),
    [
        ("source", ".cu"),
        ("source", ".py"),
        ("reference", ".py"),
        ("model", ".py"),
        ("features", ".py"),
        ("metrics", ".py"),
        ("constraints", ".constrint"),
        ("constraints", ".json"),
        ("fill", ".npy"),
    ],
)
def test_a_kernels_folder_names_its_own_files(folder: Path, key: str, ending: str, path: str) -> None:
    name = path.format(tmp=folder.parent) + ending if path else ""
    text = KERNEL
    if key == "fill":
        text = text.replace("fill: zeros", f"fill: '{name}'")
    elif key == "metrics":
        text += f"metrics: {{m: '{name}:m'}}\n"
    elif key == "constraints":
        text = text.replace("tune_params: {A: [1, 2]}\n", "") + f"constraints: '{name}'\n"
    else:
        text += f"{key}: '{name}'\n"
    (folder / "kernel.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as raised:
        read_folder(folder)
    if name:
        assert "is no file inside of" in str(raised.value)
    assert SECRET not in str(raised.value)
    assert not (folder.parent / "ran").exists()


def test_files_of_the_folder_are_found(folder: Path) -> None:
    for name in ("kernel.cu", "./kernel.cu", "sub/../kernel.cu"):
        assert file_inside(folder, name, "here").samefile(folder / "kernel.cu")
    for name in ("x" * 5000, "a\0b", " ", "..", "/"):
        with pytest.raises(InputError, match="is no file inside of"):
            file_inside(folder, name, "here")
    (folder / "circle").symlink_to(folder / "circle")
    with pytest.raises(InputError, match="is no file inside of"):
        file_inside(folder, "circle", "here")


@pytest.mark.parametrize("name", ["../outside", "{tmp}/outside", "a/../../outside", "", "x\n", "."])
def test_a_profile_is_based_on_a_name(tmp_path: Path, name: str) -> None:
    (tmp_path / "outside.yaml").write_text(SECRET, encoding="utf-8")
    path = tmp_path / "profiles" / "mine.yaml"
    path.parent.mkdir()
    written = name.format(tmp=tmp_path).replace("\n", "\\n")
    path.write_text(f'name: mine\ntitle: Mine\nbased_on: "{written}"\n', encoding="utf-8")
    with pytest.raises(InputError, match="is not a name of a profile") as raised:
        load_profile(str(path))
    assert SECRET not in str(raised.value)


CELL = "name: evil\nsummary: s\ngates: [{gate}]\nstates: [h]\ncell_struct: Evil\n"
STRATEGY = """\
name: evil
summary: s
pass: forward
dtypes: [fp32]
source: {source}
constraints: {constraints}
entry: f
parameters: []
"""


@pytest.mark.parametrize(
    "name", ["'../../x'", '"a\\n"', '"a\\n#define b"', "'a b'", "''", '"x\\"y"', "'/etc/x'", "'..'"]
)
def test_cells_and_strategies_have_identifiers_and_names_of_files(tmp_path: Path, name: str) -> None:
    """Arrays are written to files of these names, and the source's name stands in generated C++."""
    for place, text in (
        ("cells/evil/cell.yaml", CELL.format(gate=name)),
        ("cells/evil/cell.yaml", CELL.format(gate="i").replace("[h]", f"[h, {name}]")),
        ("strategies/evil/kernel.yaml", STRATEGY.format(source=name, constraints="t.constrint")),
        ("strategies/evil/kernel.yaml", STRATEGY.format(source="kernel.cu", constraints=name)),
    ):
        if name == "'a b'" and "states" not in text and "gates" not in text:
            continue
        root = tmp_path / f"root{len(list(tmp_path.iterdir()))}"
        (root / place).parent.mkdir(parents=True)
        (root / place).write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=r"(pattern|match|regex|must)"):
            discover(root)
