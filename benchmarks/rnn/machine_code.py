"""Whether a change of the kernels changes their machine code, on a machine without a GPU.

    python benchmarks/rnn/machine_code.py write before/      on the old sources
    python benchmarks/rnn/machine_code.py write after/       on the new ones
    python benchmarks/rnn/machine_code.py compare before/ after/

`write` compiles one tiling of each of 44 requests and of 16 of scans by NVRTC: all strategies, passes, dtypes
and cells, for sm_90a, sm_80 and sm_75. It writes the cubins, and the tilings into the folder `--tilings`. A
tiling that is already there is not solved again, so both sides compile the same numbers. `compare` compares
the sections that a GPU executes or reads: code, constants and shared memory, not symbols and names. It exits
with 1 if one differs.
"""

from __future__ import annotations

import argparse
import json
import struct
import sys
import tempfile
from pathlib import Path

from kerneltune.compiling.compile import Compiler
from kerneltune.compiling.cubin_cache import CubinCache
from kerneltune.inputs.descriptions import discover
from kerneltune.inputs.hardware import load_profile
from kerneltune.inputs.problem import Problem
from kerneltune.inputs.scan_descriptions import discover_scans
from kerneltune.inputs.scan_problem import ScanProblem
from kerneltune.tiling.candidate import Candidate
from kerneltune.tiling.space import TilingSpace

# GPU, strategy, pass, cell, dtype, heads, head dimension, batch, whether h and gradients are bounded
REQUESTS = """
h100_sxm block forward lstm bf16 12 64 16 0
h100_sxm block training gru fp16 6 128 16 0
h100_sxm block forward elman fp32 4 32 16 0
h100_sxm block training slstm tf32 4 64 64 1
h100_sxm block backward lstm bf16 12 64 16 0
h100_sxm block backward gru fp32 4 32 16 1
h100_sxm block backward slstm fp16 6 64 64 0
h100_sxm cluster forward lstm bf16 3 256 16 0
h100_sxm cluster training gru fp32 3 128 16 0
h100_sxm cluster forward elman_relu fp16 3 256 8 1
h100_sxm cluster backward lstm bf16 3 256 16 0
h100_sxm cluster backward slstm tf32 2 128 8 0
h100_sxm cluster backward gru fp16 3 256 16 0
h100_sxm grid forward lstm bf16 1 768 16 0
h100_sxm grid training gru fp16 1 512 8 1
h100_sxm grid forward slstm fp32 1 320 16 0
h100_sxm grid backward lstm bf16 1 768 16 0
h100_sxm grid backward gru tf32 1 256 16 0
h100_sxm grid backward elman fp16 1 1024 16 1
h100_sxm streamed forward lstm bf16 1 2048 16 0
h100_sxm streamed training slstm fp32 1 1024 8 0
h100_sxm streamed forward gru tf32 1 1032 8 1
h100_sxm streamed backward lstm bf16 1 2048 16 0
h100_sxm streamed backward gru fp16 1 2048 5 1
h100_sxm streamed backward elman_relu fp32 1 1024 8 0
h100_sxm warpgroup forward lstm bf16 1 768 256 0
h100_sxm warpgroup training gru fp16 1 1024 128 0
h100_sxm warpgroup training slstm bf16 1 512 300 1
h100_sxm warpgroup forward elman fp16 1 768 512 0
h100_sxm warpgroup forward lstm fp16 1 256 8 0
h100_sxm warpgroup forward lstm bf16 1 256 16 0
h100_sxm warpgroup forward elman_relu bf16 1 256 32 0
a100_sxm_80gb block forward lstm bf16 12 64 16 0
a100_sxm_80gb block backward gru fp16 12 64 16 0
a100_sxm_80gb grid training slstm fp32 1 256 16 0
a100_sxm_80gb grid backward lstm bf16 1 512 16 0
a100_sxm_80gb streamed forward lstm bf16 1 2048 16 0
a100_sxm_80gb streamed backward lstm tf32 1 1024 16 0
t4 block forward lstm fp16 4 64 16 0
t4 block backward gru fp16 4 64 16 0
t4 grid training lstm fp16 1 256 16 0
t4 grid backward lstm fp16 1 256 16 0
t4 streamed forward gru fp16 1 2048 16 0
t4 streamed backward lstm fp16 1 2048 16 0
"""
# GPU, strategy, pass, cell, dtype, options
SCANS = """
h100_sxm look_back forward linear bf16 lengths,resets
h100_sxm look_back backward linear bf16 reverse
h100_sxm look_back forward mingru fp32 plain
h100_sxm look_back backward minlstm fp16 sequences
h100_sxm look_back forward complex fp32 resets
h100_sxm look_back backward matrix2 bf16 lengths
h100_sxm sequential forward linear fp32 plain
h100_sxm sequential backward minlstm bf16 resets
h100_sxm sequential training diag_gru bf16 lengths,resets
h100_sxm sequential backward diag_lstm fp32 reverse
h100_sxm overlap forward diag_gru bf16 plain
h100_sxm overlap training diag_slstm fp16 resets
h100_sxm overlap backward diag_lstm bf16 lengths
a100_sxm_80gb look_back forward linear bf16 plain
a100_sxm_80gb look_back backward mingru fp16 plain
t4 sequential training diag_slstm fp32 resets
"""
COMPARED = (".text", ".nv.constant0", ".nv.constant2", ".nv.constant3", ".nv.shared")
WITHOUT_CONTENTS = 8  # the ELF section type NOBITS


def solved(request: str, tilings: Path) -> Candidate:
    """The request's tiling: the one in the folder, or the best one, which is then added to it."""
    gpu, strategy, direction, cell, dtype, heads, head_dim, batch, bounded = request.split()
    path = tilings / f"{request.replace(' ', '-')}.json"
    if path.exists():
        return Candidate.from_json(json.loads(path.read_text(encoding="utf-8")))
    problem = Problem(
        cell,
        int(heads),
        int(head_dim),
        int(batch),
        dtype,
        direction=direction,
        forward_clip=1.5 * int(bounded),
        gate_gradient_clip=0.5 * int(bounded) * (direction == "backward"),
    )
    candidate = TilingSpace(problem, load_profile(gpu), discover(), strategy).best()
    path.write_text(json.dumps(candidate.to_json()), encoding="utf-8")
    return candidate


def solved_scan(request: str) -> Candidate:
    """The best tiling of a scan's request; all have rows of 1000 steps and 520 channels."""
    gpu, strategy, direction, cell, dtype, options = request.split()
    flags = {name: name in options for name in ("reverse", "lengths", "resets")}
    sequences = 5 if "sequences" in options else 0
    batch = 1 if sequences else 3
    problem = ScanProblem(cell, batch, 1000, 520, dtype, direction, sequences=sequences, **flags)
    return TilingSpace(problem, load_profile(gpu), discover_scans(), strategy).best()


def write(folder: Path, tilings: Path) -> None:
    """Compile every request's tiling into the folder."""
    for made in (folder, tilings):
        made.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        for request in REQUESTS.strip().splitlines():
            compiler = Compiler(discover(), load_profile(request.split()[0]), cache=CubinCache(Path(scratch)))
            compiled = compiler.compile(solved(request, tilings))
            (folder / f"{request.replace(' ', '-')}.cubin").write_bytes(compiled.cubin)
            print(f"{request}: {compiled.report.registers} registers", flush=True)
        for request in SCANS.strip().splitlines():
            gpu = load_profile(request.split()[0])
            compiler = Compiler(discover_scans(), gpu, cache=CubinCache(Path(scratch)))
            compiled = compiler.compile(solved_scan(request))
            (folder / f"scan-{request.replace(' ', '-')}.cubin").write_bytes(compiled.cubin)
            print(f"scan {request}: {compiled.report.registers} registers", flush=True)


def sections(cubin: bytes) -> dict[str, tuple[int, bytes]]:
    """The compared sections of an ELF file by name: size and contents."""
    (table,) = struct.unpack_from("<Q", cubin, 40)
    size, count, names = struct.unpack_from("<HHH", cubin, 58)
    headers = [struct.unpack_from("<IIQQQQ", cubin, table + i * size) for i in range(count)]
    found = {}
    for name, kind, _, _, place, length in headers:
        start = headers[names][4] + name
        text = cubin[start : cubin.index(b"\0", start)].decode()
        if text.startswith(COMPARED):
            found[text] = length, b"" if kind == WITHOUT_CONTENTS else cubin[place : place + length]
    return found


def compare(before: Path, after: Path) -> int:
    """Print the differences; returns the number of cubins that differ or exist on one side only."""
    names = sorted({path.name for folder in (before, after) for path in folder.glob("*.cubin")})
    different = 0
    for name in names:
        sides = [folder / name for folder in (before, after)]
        if not all(side.exists() for side in sides):
            print(f"{name}: only in one folder")
            different += 1
            continue
        old, new = (sections(side.read_bytes()) for side in sides)
        changed = [key for key in sorted({*old, *new}) if old.get(key) != new.get(key)]
        if changed:
            print(f"{name}: {', '.join(changed)}")
        different += bool(changed)
    print(f"{len(names) - different} of {len(names)} cubins have the same machine code")
    return different


def main() -> None:
    """Write cubins or compare them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    writing = commands.add_parser("write")
    writing.add_argument("folder", type=Path)
    writing.add_argument("--tilings", type=Path, default=Path(tempfile.gettempdir(), "machine-code-tilings"))
    comparing = commands.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    options = parser.parse_args()
    if options.command == "write":
        write(options.folder, options.tilings)
    else:
        sys.exit(
            1 if compare(options.before, options.after) or not list(options.before.glob("*.cubin")) else 0
        )


if __name__ == "__main__":
    main()
