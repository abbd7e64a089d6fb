"""Hardware counters, by a stand-in for `ncu` that starts the child as it does and writes what it would."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from pretended import tuned

from kerneltune.cli.main import app, with_folders
from kerneltune.errors import InputError, RunError
from kerneltune.kernel_tuner.observers.ncu import NCUObserver
from kerneltune.measuring.counters import counted, counting

READ, FLOPS = "dram__bytes_read.sum", "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"
HEAD = (
    '"ID","Process ID","Kernel Name","Block Size","Section Name","Metric Name","Metric Unit","Metric Value"'
)
NCU = """#!{python}
import subprocess, sys
words = sys.argv[1:]
log = words[words.index("--log-file") + 1]
assert words[words.index("--kernel-name") + 1] == "scale", words
command = words[words.index("--launch-count") + 2 :]
code = subprocess.run(command).returncode
with open(log, "w") as file:
    print("==PROF== Connected to process 7", file=file)
    {body}
sys.exit(code)
"""
ROWS = f"""print({HEAD!r}, file=file)
    for place, name in enumerate(words[words.index("--metrics") + 1].split(",")):
        value = f"{{1_000 * (place + 1):,}}"
        print(f'"0","7","scale","(64, 1, 1)","Command line","{{name}}","byte","{{value}}"', file=file)"""
DENIED = """print("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission", file=file)"""


@pytest.fixture
def ncu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Installs the stand-in with what it writes after the child."""

    def installed(body: str = ROWS) -> None:
        folder = tmp_path / "bin"
        folder.mkdir(exist_ok=True)
        path = folder / "ncu"
        path.write_text(NCU.format(python=sys.executable, body=body))
        path.chmod(0o755)
        monkeypatch.setenv("PATH", str(folder))

    return installed


def test_counters_are_objectives_of_each_configuration(tmp_path: Path, ncu: Any) -> None:
    ncu()
    found = tuned(tmp_path / "s", params={"x": [4, 5], "BLOCK": [64]}, counters=[READ, FLOPS])
    assert [trial.objectives[READ] for trial in found.ranked] == [1000, 1000]
    assert [trial.objectives[FLOPS] for trial in found.ranked] == [2000, 2000]
    assert found.ranked[0].time == 1.0
    rate = {"rate": lambda c, o: o[READ] / o["time"]}
    least = tuned(
        tmp_path / "t",
        params={"x": [4, 5, 7], "BLOCK": [64]},
        counters=[READ],
        metrics=rate,
        objective="rate",
        maximise=True,
    )
    assert least.ranked[0].configuration["x"] == 5


def test_an_objective_may_be_a_counter(tmp_path: Path, ncu: Any) -> None:
    ncu()
    found = tuned(tmp_path / "s", params={"x": [4], "BLOCK": [64]}, counters=[READ], objective=READ)
    assert found.ranked[0].objectives[READ] == 1000
    with pytest.raises(InputError, match="unknown"):
        tuned(tmp_path / "s", params={"x": [4], "BLOCK": [64]}, objective=READ)


def test_a_user_without_permission_is_told_what_to_do(tmp_path: Path, ncu: Any) -> None:
    ncu(DENIED)
    found = tuned(tmp_path / "s", params={"x": [5], "BLOCK": [64]}, counters=[READ])
    assert "does not permit this user to read counters" in str(found.trials[0].failure)
    assert "NVreg_RestrictProfilingToAdminUsers=0" in str(found.trials[0].failure)


def test_a_counter_that_the_gpu_has_not_fails_with_its_name(tmp_path: Path, ncu: Any) -> None:
    ncu(f"""print({HEAD!r}, file=file)
    print('"0","7","scale","(64, 1, 1)","x","{READ}","","n/a"', file=file)""")
    found = tuned(tmp_path / "s", params={"x": [5], "BLOCK": [64]}, counters=[READ])
    assert f"{READ} is 'n/a' on this GPU" in str(found.trials[0].failure)
    ncu("pass")
    found = tuned(tmp_path / "t", params={"x": [5], "BLOCK": [64]}, counters=[READ])
    assert found.trials[0].failure == f"ncu gives no {READ}: ==PROF== Connected to process 7"


def test_without_the_tool_nothing_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="counters need ncu, the command of NVIDIA Nsight Compute"):
        tuned(tmp_path / "s", counters=[READ])


def test_wrong_requests_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="counters: 'a b' is no counter"):
        tuned(tmp_path / "s", counters=["a b"])
    with pytest.raises(InputError, match="counters are read on one GPU"):
        tuned(tmp_path / "s", counters=[READ], devices=[0, 1])
    with pytest.raises(InputError, match="counters: '-f' is no counter"):
        NCUObserver(["-f"])
    assert NCUObserver([READ]).counters == [READ]
    folder = tmp_path / "scale"
    folder.mkdir()
    (folder / "kernel.cu").write_text("__global__ void scale(float* c) { c[0] = BLOCK; }")
    (folder / "kernel.yaml").write_text("name: scale\ntune_params: {BLOCK: [64]}\ngrid: [1]\nblock: [64]\n")
    words = ["tune", str(folder), "--gpu", "t4", "--dry-run", "--counters", "a;b"]
    found = CliRunner().invoke(app, with_folders(words))
    assert (found.exit_code, "counters: 'a;b' is no counter" in found.stderr) == (2, True)


def test_the_command_and_its_output(ncu: Any, tmp_path: Path) -> None:
    ncu()
    words = counting(["python", "child"], [READ, FLOPS], "scale", tmp_path / "log")
    assert words[words.index("--metrics") + 1] == f"{READ},{FLOPS}"
    assert words[-2:] == ["python", "child"]
    text = f'==PROF== a\n{HEAD}\n"0","7","s","(1)","x","{READ}","byte","1,234.5"\n'
    assert counted(text, [READ]) == {READ: 1234.5}
    with pytest.raises(RunError, match=f"gives no {FLOPS}"):
        counted(text, [READ, FLOPS])
    with pytest.raises(RunError, match="it wrote nothing"):
        counted("", [READ])


@pytest.mark.gpu
def test_counters_on_a_gpu(tmp_path: Path) -> None:
    """Needs ncu and permission; unmeasured so far."""
    import numpy as np

    from kerneltune import In, Out, tune

    a = np.ones(1 << 20, np.float32)
    found = tune(
        "__global__ void scale(const float* a, float* c) { int i = blockIdx.x * BLOCK + threadIdx.x; "
        "c[i] = 3.0f * a[i]; }\n",
        params={"BLOCK": [128]},
        arguments=[In(a, "a"), Out(a, "c")],
        grid="1048576 // BLOCK",
        block="BLOCK",
        counters=["dram__bytes_read.sum"],
        store=tmp_path / "s",
    )
    assert found.ranked[0].objectives["dram__bytes_read.sum"] > 1 << 20
