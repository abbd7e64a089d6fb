"""The kerneltune command: exit codes, places of errors, JSON, no traceback."""

import json
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from made import FAKE_KERNELS

from kerneltune.inputs.folders import data_folder
from kerneltune.inputs.hardware import profile_names

FAKE = ["--kernels", str(FAKE_KERNELS)]
REQUEST = {"--gpu": "h100_sxm", "--heads": "12", "--head-dim": "64", "--batch": "16"}


def ask(*words: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "kerneltune.cli", *words], capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr
    return done


def request(command: str, *more: str, cell: str = "echo", **changes: str) -> subprocess.CompletedProcess[str]:
    options = {**REQUEST, **{f"--{name.replace('_', '-')}": value for name, value in changes.items()}}
    return ask(command, cell, *FAKE, *(word for pair in options.items() for word in pair), *more)


def test_tile_prints_a_tiling_for_people() -> None:
    done = request("tile")
    assert done.returncode == 0
    assert done.stderr == ""
    for part in (
        "echo 12×64, batch 16, bf16 on h100_sxm",
        "a stand-in strategy",
        "384 cycles at 1980 MHz",
        "batch rows of a block",
        "227.0 KiB",
        "132 at a time",
    ):
        assert part in done.stdout


def test_tile_json_is_all_there_is_on_stdout() -> None:
    done = request("tile", "--json", "--top", "3")
    assert done.returncode == 0
    found = json.loads(done.stdout)
    assert found["status"] == "found"
    assert [candidate["values"]["cycles"] for candidate in found["candidates"]] == sorted(
        candidate["values"]["cycles"] for candidate in found["candidates"]
    )
    assert len(found["candidates"]) == 3
    assert found["candidates"][0]["parameters"]["batch_tile"] == 8


def test_options_of_a_request_are_compiled_into_the_kernel(tmp_path: Path) -> None:
    source = tmp_path / "source.cu"
    words = ["compile", "lstm", "--pass", "backward", "--dtype", "fp16", "--json", "--source", str(source)]
    words += [word for pair in REQUEST.items() for word in pair]
    done = ask(*words, "--forward-clip", "0.3", "--gate-gradient-clip", "2", "--cut-recurrent-gradient")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["candidate"]["problem"]["forward_clip"] == 0.3
    text = source.read_text()
    assert "float forward_clip = 0.300048828125f;" in text  # as fp16 has it
    assert "float gate_gradient_clip = 2.0f;" in text
    assert "bool cut_recurrent_gradient = true;" in text
    refused = ask(*words, "--forward-clip", "1e-9")
    assert refused.returncode == 2
    assert "forward_clip is 1e-09" in refused.stderr


def test_every_command_takes_the_same_options_of_a_request() -> None:
    from kerneltune.cli.main import compile_command, run, tile
    from kerneltune.cli.tune import tune

    def options(command: click.Command) -> list[str]:
        names = [str(one.name) for one in command.params]
        return names[: names.index("strategy") + 1]

    assert "forward_clip" in options(tile)
    for command in (compile_command, run, tune):
        assert options(command) == options(tile)


@pytest.mark.parametrize("command", ["run", "tune"])
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--gate-gradient-clip", "1"], "options of the pass 'backward'"),
        (["--cut-recurrent-gradient"], "options of the pass 'backward'"),
        (["--forward-clip", "1e-39"], "forward_clip is 1e-39"),
    ],
)
def test_options_of_a_request_reach_it(command: str, options: list[str], said: str) -> None:
    refused = request(command, *options)
    assert refused.returncode == 2
    assert said in refused.stderr


def test_top_shows_a_ranking() -> None:
    done = request("tile", "--top", "3")
    assert "head_dim=64 gates=4 batch_tile=16 held=64" in done.stdout


@pytest.mark.parametrize(
    ("changes", "code", "what"),
    [
        ({"batch": "0"}, 2, "batch is 0: it must be at least 1"),
        ({"head_dim": "65"}, 2, "the nearest is 64"),
        ({"head_dim": "many"}, 2, "--head-dim"),
        ({"gpu": "h100"}, 2, "unknown GPU 'h100': did you mean 'h100_sxm'?"),
        ({"gpu": "h101"}, 2, "unknown GPU 'h101': did you mean 'h100_sxm'?"),
        ({"dtype": "bf61"}, 2, "unknown dtype 'bf61': did you mean 'bf16'?"),
        ({"cell": "eco"}, 2, "unknown cell 'eco': did you mean 'echo'?"),
        ({"strategy": "plan"}, 2, "unknown strategy 'plan': did you mean 'plain'?"),
        ({"pass": "sideways"}, 2, "unknown pass 'sideways'"),
        ({"pass": "backward"}, 2, "for the pass 'backward': no strategies/*/backward.yaml"),
        ({"gpu": "t4"}, 1, "bf16 has no tensor-core shape on t4 (sm_75)"),
        ({"head_dim": "100000"}, 1, "nearest that works: --head-dim 256"),
    ],
)
def test_impossible_requests(changes: dict[str, str], code: int, what: str) -> None:
    done = request("tile", **changes)
    assert done.returncode == code
    assert what in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("command", ["compile", "run"])
def test_other_commands_refuse_alike(command: str) -> None:
    assert request(command, batch="0").returncode == 2
    done = request(command, gpu="t4")
    assert done.returncode == 1
    assert "bf16 has no tensor-core shape on t4 (sm_75)" in done.stderr
    assert done.stdout == ""


def test_impossible_requests_in_json() -> None:
    done = request("tile", "--json", gpu="t4")
    assert done.returncode == 1
    answer = json.loads(done.stdout)
    assert answer["status"] == "infeasible"
    assert "bf16 has no tensor-core shape" in answer["reason"]


def test_bad_profile_has_its_place(tmp_path: Path) -> None:
    bad = tmp_path / "mine.yaml"
    bad.write_text("name: mine\nname: yours\n", encoding="utf-8")
    done = request("tile", gpu=str(bad))
    assert done.returncode == 2
    assert f'{bad}:2:1: found duplicate key "name"' in done.stderr


def test_compile_reports_promise_and_fact(tmp_path: Path) -> None:
    cubin, source = tmp_path / "out.cubin", tmp_path / "out.cu"
    done = request("compile", "--cubin", str(cubin), "--source", str(source))
    assert done.returncode == 0
    assert "registers per thread      at most 88" in done.stdout
    assert "exactly 2304" in done.stdout
    assert cubin.read_bytes().startswith(b"\x7fELF")
    assert "plain_forward" in source.read_text(encoding="utf-8")


def test_compile_json() -> None:
    found = json.loads(request("compile", "--json").stdout)
    assert found["status"] == "compiled"
    assert found["report"]["broken_promises"] == []
    assert found["report"]["registers"] <= found["report"]["predicted_registers"] == 88
    assert found["tightenings"] == []


def test_output_that_cannot_be_written(tmp_path: Path) -> None:
    done = request("compile", "--cubin", str(tmp_path / "absent" / "out.cubin"))
    assert done.returncode == 2
    assert "cannot write" in done.stderr


def test_run_without_gpu_support_says_what_is_missing(tmp_path: Path) -> None:
    """A pycuda that cannot find a driver, as on a machine without a GPU."""
    (tmp_path / "pycuda").mkdir()
    (tmp_path / "pycuda" / "__init__.py").write_text("raise ImportError('libcuda.so.1 is missing')\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    words = ["run", "echo", *FAKE, *(word for pair in REQUEST.items() for word in pair), "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "kerneltune.cli", *words],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 1
    answer = json.loads(done.stdout)
    assert (answer["status"], answer["error"]) == ("failed", "RunError")
    assert "is there a GPU driver? libcuda.so.1 is missing" in answer["reason"]


@pytest.mark.parametrize("command", ["run", "tune"])
def test_without_the_extra_nothing_is_compiled(tmp_path: Path, command: str) -> None:
    (tmp_path / "pycuda").mkdir()
    (tmp_path / "pycuda" / "__init__.py").write_text("raise ModuleNotFoundError('pycuda')\n")
    cache = tmp_path / "cache"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "KERNELTUNE_CACHE_DIR": str(cache)}
    words = [command, "echo", *FAKE, *(word for pair in REQUEST.items() for word in pair)]
    done = subprocess.run(
        [sys.executable, "-m", "kerneltune.cli", *words],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 3
    assert done.stderr.startswith("running kernels needs the extra 'gpu': pip install 'constrint[gpu]'")
    assert not (cache / "cubins").exists()


def test_profile_list_and_show() -> None:
    listed = ask("profile", "list")
    assert listed.returncode == 0
    for name in profile_names():
        assert name in listed.stdout
    shown = ask("profile", "show", "t4")
    assert "smem_per_block_optin" in shown.stdout
    assert json.loads(ask("profile", "show", "t4", "--json").stdout)["sm_count"] == 40
    assert len(json.loads(ask("profile", "list", "--json").stdout)) == len(profile_names())
    assert ask("profile", "show", "t5").returncode == 2


def test_tile_imports_nothing_slow() -> None:
    script = (
        "import sys; from kerneltune.cli.main import app\n"
        f"app({['tile', 'echo', *FAKE, *(word for pair in REQUEST.items() for word in pair), '--json']!r},"
        " standalone_mode=False)\n"
        "slow = {'numba', 'cuda', 'jinja2', 'rich', 'sympy', 'pycuda', 'torch'} & set(sys.modules)\n"
        "sys.exit(f'imported: {slow}' if slow else 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_closed_pipe_is_quiet() -> None:
    words = " ".join([sys.executable, "-m", "kerneltune.cli", "profile", "list", "--json"])
    done = subprocess.run(["bash", "-c", f"{words} | head -c 1"], capture_output=True, text=True, check=False)
    assert done.stdout == "["
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["tile", "lstm", "--gpu", "t4", "--json"], "--batch is missing"),
        (["tile", "lstm", "--gpu", "t4", "--batch", "1", "--json"], "--heads is missing"),
        (["tile", "scan", "--gpu", "t4", "--batch", "1", "--json"], "--channels is missing"),
        (["tile", "lstm", "--top", "0", "--json"], "--top"),
        (["profile", "shaw", "t4", "--json"], "shaw"),
        (["--json"], "No such option"),
    ],
)
def test_usage_errors_in_json(words: list[str], what: str) -> None:
    done = ask(*words)
    assert done.returncode == 2
    answer = json.loads(done.stdout)
    assert answer["status"] == "bad input"
    assert what in answer["reason"]
    assert what in done.stderr


def broken_profile_list(*words: str) -> subprocess.CompletedProcess[str]:
    """The command line with a fault planted in it."""
    script = (
        "import sys; from kerneltune.cli import main as cli, profiles\n"
        "def fault(): raise ZeroDivisionError('planted')\n"
        f"profiles.profile_names = fault; sys.argv[1:] = ['profile', 'list', *{words!r}]; cli.main()\n"
    )
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)


def test_internal_errors_in_json() -> None:
    done = broken_profile_list("--json")
    assert done.returncode == 2
    assert json.loads(done.stdout) == {
        "status": "internal error",
        "error": "ZeroDivisionError",
        "reason": "planted",
    }
    assert "internal error: ZeroDivisionError: planted" in done.stderr
    assert broken_profile_list().stdout == ""


@pytest.mark.parametrize("words", [["list"], ["list", "--json"], ["show", "t5", "--json"]])
def test_standard_output_that_fails_is_one_line(words: list[str]) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", "kerneltune.cli", "profile", *words],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 4
    assert done.stderr == "error: cannot write the answer: no space left on device\n"


@pytest.mark.parametrize(
    "changes",
    [{"heads": "1000000", "batch": "1000000000"}, {"batch": "1000000000", "steps": "1000000000000"}],
)
def test_requests_beyond_the_memory_are_infeasible(changes: dict[str, str]) -> None:
    done = request("tile", "--json", **changes)
    assert done.returncode == 1
    answer = json.loads(done.stdout)
    assert answer["status"] == "infeasible"
    assert "needs more than 1 EiB of device memory" in answer["reason"]
    assert "nearest that works: --batch 1 --steps " in answer["reason"]


def test_compiling_for_a_target_that_does_not_exist_is_bad_input(tmp_path: Path) -> None:
    text = (data_folder("hardware_profiles") / "h100_sxm.yaml").read_text(encoding="utf-8")
    profile = tmp_path / "mine.yaml"
    profile.write_text(
        text.replace("name: h100_sxm", "name: mine").replace("sm_90a", "sm_9000"), encoding="utf-8"
    )
    done = request("compile", gpu=str(profile))
    assert done.returncode == 2
    assert "the profile's target is sm_9000" in done.stderr


@pytest.mark.parametrize("package", ["constrint", "kerneltune"])
def test_packages_are_commands(package: str) -> None:
    said = subprocess.run(
        [sys.executable, "-m", package, "--version"], capture_output=True, text=True, check=True
    )
    assert said.stdout.split()[0] == package
