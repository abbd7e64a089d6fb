"""The program that compiles a part of the machine code into the cache; see `engine.background_compile`."""

from __future__ import annotations

import os
import sys

from constrint.engine import cache

LOWER_PRIORITY = 5


def obtain(part: str) -> None:
    """Load a part, or compile it into the cache."""
    if part == "engine":
        from constrint.engine.compiled import load

        load()
    elif part == "cuts":
        from constrint.relaxation.sums.compiled import load as load_sums

        load_sums()
    elif part == "annealing":
        from constrint.local_search.compiled_annealing import load as load_annealing

        load_annealing()
    elif part == "jumps":
        from constrint.local_search.compiled_jumps import load as load_jumps

        load_jumps()
    else:
        from constrint.learning.compiled_learning import load as load_learning

        load_learning()


def main(part: str) -> None:
    """Compile a part, at a lower priority than the searches that go on meanwhile."""
    if hasattr(os, "nice"):
        os.nice(LOWER_PRIORITY)
    obtain(part)


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in cache.ABOUT:
        sys.stderr.write(f"usage: python -m constrint.learning.compile_part {{{','.join(cache.ABOUT)}}}\n")
        sys.exit(2)
    main(sys.argv[1])
