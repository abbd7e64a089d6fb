"""Tries the installed wheel of prebuilt kernels: run it by the Python of an environment that has both."""

import os
import sys
import time
from importlib.metadata import version
from importlib.util import find_spec


def main() -> None:
    """Find kernels of a usual layer, in all passes, out of the wheel and nowhere else."""
    begin = time.perf_counter()
    from kerneltune.compiling.ready import supply_of
    from kerneltune.inputs.descriptions import discover
    from kerneltune.inputs.hardware import load_profile
    from kerneltune.inputs.problem import PASSES, Problem

    assert "KERNELTUNE_BUNDLE" not in os.environ, "the wheel must be found by itself"
    assert version("constrint-kernels") == version("constrint")
    supply = supply_of(load_profile("h100_sxm"), discover())
    for direction in PASSES:
        ready = supply.get(Problem("lstm", 1, 64, 16, "bf16", direction=direction))
        assert ready.origin == "bundle", f"the {direction} kernel is {ready.origin}"
        assert ready.cubin
    taken = time.perf_counter() - begin
    assert "constrint.model" not in sys.modules, "a prebuilt kernel needs no solver"
    where = find_spec("constrint_kernels")
    sys.stdout.write(f"kernels of {where.origin if where else None} are found in {taken:.2f} s\n")


if __name__ == "__main__":
    main()
