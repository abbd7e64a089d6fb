import shutil
from pathlib import Path

import msgspec
import numpy as np
import pytest
from made import FAKE_KERNELS

from kerneltune.errors import InputError, MissingExtraError
from kerneltune.inputs.descriptions import CellSpec, Kernels, KernelSpec, discover
from kerneltune.inputs.hardware import load_profile
from kerneltune.inputs.problem import Problem
from kerneltune.inputs.scan_descriptions import ScanCellSpec

DOCS = Path(__file__).parents[3] / "docs"


def ask(**changes: object) -> Problem:
    request = {"cell": "lstm", "heads": 2, "head_dim": 64, "batch": 4, "dtype": "bf16", "steps": 8, **changes}
    return Problem(**request)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"batch": 0}, "batch is 0"),
        ({"heads": -1}, "heads is -1"),
        ({"steps": 0}, "steps is 0"),
        ({"head_dim": 65}, "nearest is 64"),
        ({"head_dim": 70}, "nearest is 72"),
        ({"head_dim": 0}, "nearest is 8"),
        ({"head_dim": 3}, "nearest is 8"),
        ({"dtype": "bf61"}, "did you mean 'bf16'"),
        ({"dtype": "float64"}, "unknown dtype 'float64'"),
        ({"gate_gradient_clip": 1.0}, "options of the pass 'backward'"),
        ({"cut_recurrent_gradient": True}, "options of the pass 'backward'"),
        ({"gate_gradient_clip": float("nan"), "direction": "backward"}, "gate_gradient_clip is nan"),
        ({"direction": "forwards"}, "did you mean 'forward'"),
        ({"forward_clip": -1.0}, "forward_clip is -1.0: it must be 0 for none"),
        ({"forward_clip": float("nan")}, "forward_clip is nan"),
        ({"forward_clip": 1e-6, "dtype": "fp16"}, "from 6.1e-05 to 65504 in fp16"),
    ],
)
def test_impossible_requests(changes: dict[str, object], what: str) -> None:
    with pytest.raises(InputError, match=what):
        ask(**changes)


def test_constants() -> None:
    sizes = {"heads": 2, "head_dim": 64, "batch": 4, "dtype_bytes": 2}
    passes = {"saves": 0, "forward_clips": 0}
    assert ask().constants() == {**sizes, "mma_products": 1, **passes}
    assert ask(dtype="fp32").constants() == {**sizes, "dtype_bytes": 4, "mma_products": 3, **passes}
    assert ask(forward_clip=0.5).constants()["forward_clips"] == 1
    assert ask(direction="training").constants()["saves"] == 1


def test_discovery_finds_folders_by_themselves(fake_kernels: Kernels) -> None:
    assert list(fake_kernels.strategies) == ["plain"]
    assert list(fake_kernels.cells) == ["echo"]
    assert fake_kernels.cell("echo").constants() == {
        "gates": 4,
        "cell_states": 2,
        "saved_values": 0,
        "saved_states": 0,
        "reads_hidden": 0,
        "separate_gradients": 0,
    }


def test_the_manual_describes_every_strategy() -> None:
    manual = (Path(__file__).parents[3] / "docs" / "kernels.md").read_text(encoding="utf-8")
    assert [name for name in discover().strategies if f"**{name}**" not in manual] == []


def test_unknown_cell_and_strategy(fake_kernels: Kernels) -> None:
    with pytest.raises(InputError, match="unknown cell 'ecko': did you mean 'echo'"):
        fake_kernels.cell("ecko")
    with pytest.raises(InputError, match="unknown strategy 'plan': did you mean 'plain'"):
        fake_kernels.strategy("plan")


def test_reference_is_loaded_from_its_folder(fake_kernels: Kernels) -> None:
    wx = np.arange(2.0 * 3 * 1 * 4 * 4).reshape(2, 3, 1, 4, 4)
    states = fake_kernels.cell("echo").reference()(wx, None, None, np.zeros((2, 3, 1, 4)))
    assert states.shape == (2, 3, 3, 1, 4)
    assert (states[1, 1:] == wx[..., 1]).all()


def copied(folder: Path, before: str, after: str) -> Path:
    root = folder / "kernels"
    shutil.copytree(FAKE_KERNELS, root)
    path = root / "strategies" / "plain" / "kernel.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace(before, after), encoding="utf-8")
    return root


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        ("cooperative", "cooperative", None),
        ("summary:", "sumary:", r"kernel\.yaml:2:1: unknown key 'sumary': did you mean 'summary'"),
        ("pass: forward", "pass: sideways", r"kernel\.yaml:3:1: pass: "),
        (
            "pass: forward",
            "pass: backward",
            r"kernel\.yaml: pass: is 'backward', but this file describes the forward",
        ),
        ("name: plain", "name: fancy", "the folder is called 'plain'"),
        ("  held: values", "  hold: values", "the knob 'hold' is not a parameter: did you mean 'held'"),
    ],
)
def test_kernel_yaml_is_checked(tmp_path: Path, before: str, after: str, what: str | None) -> None:
    root = copied(tmp_path, before, after)
    if what is None:
        assert list(discover(root).strategies) == ["plain"]
        return
    with pytest.raises(InputError, match=what):
        discover(root)


@pytest.mark.parametrize(
    ("requires", "gpu", "refusal"),
    [
        ("{cluster: true}", "h100_sxm", None),
        ("{cluster: true}", "t4", "it needs cluster = true, which t4 does not have"),
        ("{cluster_max: 16}", "h100_sxm", None),
        ("{cluster_max: 2}", "t4", "it needs cluster_max >= 2, t4 has 1"),
        ("{cp_async: true, tma: true}", "rtx_4090", "it needs tma = true, which rtx_4090 does not have"),
    ],
)
def test_requirements(tmp_path: Path, requires: str, gpu: str, refusal: str | None) -> None:
    root = copied(tmp_path, "source:", f"requires: {requires}\nsource:")
    assert discover(root).strategy("plain").refusal(load_profile(gpu), "bf16") == refusal


def test_unknown_requirement(tmp_path: Path) -> None:
    root = copied(tmp_path, "source:", "requires: {tmaa: true}\nsource:")
    with pytest.raises(InputError, match="unknown capability 'tmaa': did you mean 'tma'"):
        discover(root).strategy("plain").refusal(load_profile("t4"), "bf16")


def test_dtype_that_a_strategy_lacks(tmp_path: Path) -> None:
    root = copied(tmp_path, "dtypes: [bf16, fp16]", "dtypes: [fp16]")
    refusal = discover(root).strategy("plain").refusal(load_profile("h100_sxm"), "bf16")
    assert refusal == "it is written for fp16, not bf16"


def test_a_missing_extra_is_said_for_installs_and_checkouts() -> None:
    said = str(MissingExtraError("running kernels", "gpu"))
    assert "pip install 'constrint[gpu]'" in said
    assert ".venv/bin/pip install -e '.[gpu]'" in said


@pytest.mark.parametrize(
    ("spec", "pages"),
    [
        (KernelSpec, ["kerneltune-extending.md"]),
        (CellSpec, ["kerneltune-extending.md"]),
        (ScanCellSpec, ["kerneltune-extending.md", "kerneltune-scans.md"]),
    ],
)
def test_every_key_of_a_description_is_in_the_manual(spec: type[msgspec.Struct], pages: list[str]) -> None:
    text = "".join((DOCS / page).read_text(encoding="utf-8") for page in pages)
    keys = [field.encode_name for field in msgspec.structs.fields(spec)]
    assert [key for key in keys if f"`{key}`" not in text] == []
