"""FlashRNN itself as a contender of peers.py, and its kernels built ahead. Needs torch and flashrnn.

    pip install flashrnn==1.0.8
    python benchmarks/rnn/flashrnn_library.py --seconds 300
    python benchmarks/rnn/peers.py --sweep table --contenders ours,FlashRNN --out peers.json

FlashRNN compiles its kernels with nvcc and ninja, several times for each shape until a tiling works. The
first command does so for the shapes of the table, one process for each, and peers.py finds what was built.
Exit codes: 0 everything is built, 3 something is left.

Three parts of the library are replaced: its device query, which does not build with CUDA 13, since that
removed fields which the query reads; a pause of up to 10 s before each compilation, which keeps processes
apart that share a folder (here every shape has a folder of its own); and, once a shape is built, the search
for its tiling, which takes longer than the times to measure.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
from sweeps import FLASHRNN, Shape, units

LEFT = 3  # exit code
NOTE = "tiling.json"  # the flags of the tiling that was found
DTYPES = {"bf16": "bfloat16", "fp16": "float16"}
THREADS_PER_BLOCK = 1024  # of every GPU with tensor cores
GATES = 4  # of an LSTM


def build_folder(shape: Shape) -> Path:
    """Where the kernels of a shape are built. All processes of a user find the same folder."""
    name = f"{shape.cell}_{shape.heads}x{shape.dim}_b{shape.batch}_{shape.dtype}"
    return Path(tempfile.gettempdir()) / f"flashrnn_builds_{os.getuid()}" / name


def built_layer(shape: Shape, device: str) -> tuple[Callable[[], Any], list[Any]]:
    """A layer whose kernels `build` has compiled.

    Raises:
        RuntimeError: they have not been compiled, which would take minutes here.
    """
    if not mark(shape).is_file():
        raise RuntimeError("not built: python benchmarks/rnn/flashrnn_library.py")
    return flashrnn_layer(shape, device)


def mark(shape: Shape) -> Path:
    """The file that says that a shape is built."""
    return build_folder(shape) / "built"


def flashrnn_layer(
    shape: Shape, device: str, backend: str = "cuda_fused"
) -> tuple[Callable[[], Any], list[Any]]:
    """A FlashRNN layer on random input: its forward pass, which gives h `[T, B, H, D]`, and its inputs.

    The inputs are W x `[T, B, H, D, G]`, R `[H, D, G, D]` (row = output unit) and the bias `[H, D, G]`. These
    are the orders of its fused kernels, so nothing is transposed within the time.

    Raises:
        RuntimeError: flashrnn is not installed, or has no kernel for this shape.
    """
    import torch

    try:
        from flashrnn import FlashRNNConfig, flashrnn
    except ImportError as error:
        raise RuntimeError(f"pip install flashrnn==1.0.8: {error}") from error
    adapt(shape)
    dtype = DTYPES[shape.dtype]
    config = FlashRNNConfig(
        backend=backend,
        function=shape.cell,
        num_heads=shape.heads,
        head_dim=shape.dim,
        batch_size=shape.batch,
        dtype=dtype,
        input_shape="TBHDG",
        recurrent_shape="HDGP",
        bias_shape="HDG",
        output_shape="STBHD",
    )
    options: Any = {"device": device, "dtype": getattr(torch, dtype)}
    rows = (shape.heads, shape.dim)
    product = torch.randn((shape.steps, shape.batch, *rows, GATES), **options, requires_grad=True)
    recurrent = torch.randn((*rows, GATES, shape.dim), **options) / shape.dim**0.5
    inputs = [product, recurrent.requires_grad_(), torch.zeros((*rows, GATES), **options, requires_grad=True)]
    return lambda: flashrnn(*inputs, config=config)[0][0], inputs


def adapt(shape: Shape) -> None:
    """Replace parts of the library; see the head of this file."""
    # By full names: in the packages, functions of the same names hide these modules.
    building, searching, fused = (
        importlib.import_module(f"flashrnn.flashrnn.{name}")
        for name in ("cuda_init", "cuda_init_parametric", "flashrnn")
    )
    folder = build_folder(shape)
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["TORCH_EXTENSIONS_DIR"] = str(folder)
    replaced: dict[ModuleType, dict[str, Any]] = {
        building: {"time": SimpleNamespace(sleep=lambda _: None)},
        searching: {"load": lambda **options: load_and_note(building.load, folder, options)},
        fused: {"get_gpu_info": lambda device_id: device_query()},
    }
    if mark(shape).is_file():
        replaced[fused]["load_parametric_and_test_and_bisect"] = lambda **options: load_again(
            building.load, folder, options
        )
    for module, members in replaced.items():
        for name, member in members.items():
            setattr(module, name, member)


def load_and_note(load: Callable[..., Any], folder: Path, options: dict[str, Any]) -> Any:
    """Compile and load a module, and note its flags: those of the last one are the tiling that was found.

    Modules of other flags get other names. Otherwise torch would number them, and another process would
    compile again.
    """
    flags = list(options["extra_cflags"])
    name = options["name"] + hashlib.sha256(repr(flags).encode()).hexdigest()[:8]
    module = load(**{**options, "name": name})
    (folder / NOTE).write_text(json.dumps(flags), encoding="utf-8")
    return module


def load_again(load: Callable[..., Any], folder: Path, options: dict[str, Any]) -> Any:
    """Load the module that was found when the shape was built."""
    flags = json.loads((folder / NOTE).read_text(encoding="utf-8"))
    again = {name: options[name] for name in ("name", "sources", "extra_cuda_cflags")}
    return load_and_note(load, folder, {**again, "extra_cflags": flags})


def device_query() -> dict[str, int]:
    """What FlashRNN asks of a GPU, by the names of CUDA's device properties."""
    from kerneltune.running.driver import device_facts

    facts = device_facts()
    return {
        "maxThreadsPerBlock": THREADS_PER_BLOCK,
        "regsPerMultiprocessor": facts["registers_per_sm"],
        "multiProcessorCount": facts["sm_count"],
        "sharedMemPerBlockOptin": facts["smem_per_block_optin"],
    }


def build(shape: Shape) -> None:
    """Compile the kernels of a shape, and run both passes once."""
    import torch

    forward, inputs = flashrnn_layer(shape, "cuda")
    output = forward()
    torch.autograd.grad(output, inputs, torch.ones_like(output))
    torch.cuda.synchronize()
    mark(shape).touch()


def build_all(shapes: list[Shape], seconds: float) -> list[str]:
    """Build shapes side by side; returns those that failed, or did not end in time, with the reason."""
    end = time.monotonic() + seconds
    jobs = str(max(1, (os.cpu_count() or 1) // max(1, len(shapes))))
    children = []
    for number, shape in enumerate(shapes):
        log = build_folder(shape).with_suffix(".log")
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("w", encoding="utf-8") as written:
            command = [sys.executable, __file__, "--only", str(number)]
            environment = {**os.environ, "MAX_JOBS": jobs}
            child = subprocess.Popen(
                command, stdout=written, stderr=subprocess.STDOUT, env=environment, start_new_session=True
            )
        children.append((shape, log, child))
    left = []
    for shape, log, child in children:
        try:
            failed = child.wait(max(0.0, end - time.monotonic())) != 0
            reason = (log.read_text(encoding="utf-8").strip().splitlines() or ["failed"])[-1]
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)  # its compilers, too
            child.wait()
            failed, reason = True, f"not built in {seconds:g} s"
        if failed:
            left.append(f"{shape.label}: {reason}")
    return left


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=300.0, help="after which compilations are ended")
    parser.add_argument("--only", type=int, default=None, help="the number of one shape of the table")
    options = parser.parse_args()
    shapes = [unit.shape for unit in units(["table"], (FLASHRNN,))]
    if options.only is not None:
        if not 0 <= options.only < len(shapes):
            parser.error(f"--only: the table has shapes 0 to {len(shapes) - 1}")
        build(shapes[options.only])
        return 0
    left = build_all(shapes, options.seconds)
    for line in left:
        print(line, file=sys.stderr)
    print(f"{len(shapes) - len(left)} of {len(shapes)} shapes are built")
    return LEFT if left else 0


if __name__ == "__main__":
    sys.exit(main())
