"""The longest stretches in which a call does not look at the clock: what a time limit can be missed by.

    python benchmarks/solver/limits_gaps.py [--only set_cover_30000,chain] [--entries best,count]
        [--limit 5] [--least 0.1]

Each call is made in a process of its own, with a limit in which it should come far; every stretch of more
than `--least` seconds of processor time between two looks is printed with the calls at its two ends. Unlike
`limits.py`, one call finds all stretches that it passes, whatever the limit, and other work on the machine
does not matter. The first call for what is loaded or compiled once is not counted.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import subprocess
import sys
import traceback
from pathlib import Path
from time import perf_counter, process_time
from types import FrameType

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

OPTIONAL = ("integrations", "sympy", "cp_sat", "__main__", "compile_part")


class Clock:
    """Tells the time, and notes how long it was not asked.

    Attributes:
        least: The shortest stretch that is noted, in seconds.
        found: The stretches: seconds, and the calls at both ends.
    """

    def __init__(self, least: float) -> None:
        self.least = least
        self.found: list[tuple[float, str, str]] = []
        self._last = process_time()
        self._line = ""

    def begin(self) -> None:
        """Count from here on."""
        self._last, self._line = process_time(), "begin"

    def __call__(self) -> float:
        now = process_time()
        if now - self._last > self.least:
            self.found.append((now - self._last, self._line, _calls(sys._getframe(1))))
        frame: FrameType | None = sys._getframe(1)
        places: list[str] = []
        while frame is not None and len(places) < 6:
            places.append(f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}")
            frame = frame.f_back
        self._line = " < ".join(places)
        self._last = process_time()
        return perf_counter()


def _calls(frame: FrameType) -> str:
    stack = traceback.extract_stack(frame)[::-1]
    return " < ".join(f"{Path(one.filename).name}:{one.lineno} {one.name}" for one in stack[:6])


def one(name: str, entry: str, limit: float, least: float) -> None:
    """Make one call, and print its stretches."""
    from limits_entries import ENTRIES
    from limits_models import MODELS, drawn

    import constrint

    for found in pkgutil.walk_packages(constrint.__path__, "constrint."):
        if not any(part in found.name for part in OPTIONAL):
            importlib.import_module(found.name)
    model, goal = drawn(int(name.split("_")[1])) if name.startswith("drawn") else MODELS[name]()
    clock = Clock(least)
    for module in list(sys.modules.values()):
        if module.__name__.startswith("constrint.") and hasattr(module, "perf_counter"):
            module.perf_counter = clock  # type: ignore[attr-defined] # it has one
    clock.begin()
    answer = ENTRIES[entry](model, goal, limit, clock.begin)
    clock()  # from the last look to the end
    for seconds, begin, end in sorted(clock.found, reverse=True):
        print(f"{name} {entry}: {seconds:.2f} s\n    from {begin}\n    to   {end}", flush=True)
    longest = max([0.0, *[stretch[0] for stretch in clock.found]])
    print(f"{name} {entry}: {answer}, longest {longest:.2f} s", flush=True)


def main() -> None:
    """Make the calls."""
    from limits_entries import ENTRIES
    from limits_models import MODELS

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="")
    parser.add_argument("--entries", default=",".join(ENTRIES))
    parser.add_argument("--limit", type=float, default=5.0, help="seconds by the clock")
    parser.add_argument("--least", type=float, default=0.1)
    parser.add_argument("--one", nargs=2)
    args = parser.parse_args()
    if args.one:
        one(args.one[0], args.one[1], args.limit, args.least)
        return
    names = [name for name in MODELS if not args.only or name.startswith(tuple(args.only.split(",")))]
    for name in names:
        for entry in args.entries.split(","):
            limits = ["--limit", str(args.limit), "--least", str(args.least)]
            subprocess.run([sys.executable, __file__, "--one", name, entry, *limits], check=False)


if __name__ == "__main__":
    main()
