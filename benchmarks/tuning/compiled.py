"""Compile reports of every configuration of an example, as features for a search.

    python benchmarks/tuning/compiled.py matmul hotspot reduction --gpu h100_sxm --out FOLDER

Writes FOLDER/GPU_compiled_NAME.json: rows of the configuration's values and of registers, shared memory,
spills, blocks per SM and instructions. It needs no GPU.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from kerneltune.inputs.hardware import load_profile
from kerneltune.sources.folder import read_folder
from kerneltune.tuning.compiling import compilations

ROOT = Path(__file__).resolve().parents[2]
TOLD = ("threads", "registers", "shared_memory", "spills", "blocks_per_sm", "instructions")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("examples", nargs="+")
    parser.add_argument("--gpu", default="h100_sxm")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--workers", type=int)
    options = parser.parse_args()
    for name in options.examples:
        described = read_folder(ROOT / "examples" / "tuning" / name, with_arrays=False).description
        kernel = described.kernel(load_profile(options.gpu))
        rows = [
            [*one.configuration.values(), *(one.resources.get(told) for told in TOLD)]
            for one in compilations(kernel, kernel.space, workers=options.workers)
        ]
        columns = [*kernel.space.names, *TOLD]
        text = json.dumps({"example": name, "gpu": options.gpu, "columns": columns, "rows": rows})
        (options.out / f"{options.gpu.partition('_')[0]}_compiled_{name}.json").write_text(
            text.replace("], [", "],\n[")
        )
        print(name, len(rows), flush=True)


if __name__ == "__main__":
    main()
