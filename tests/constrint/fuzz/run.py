"""Fuzz formats from the command line: `PYTHONPATH=tests/constrint python -m fuzz.run text --count 20000`."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from fuzz.harness import format_of, formats, inputs, run


def main() -> int:
    """Run; 0 where there is no finding."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("formats", nargs="*", help="names of formats; all where none is given")
    parser.add_argument("--count", type=int, default=1000, help="inputs of each format beside its corpus")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="a folder for the inputs that were findings")
    given = parser.parse_args()
    code = 0
    for name in given.formats or formats():
        fmt, begun = format_of(name), time.monotonic()
        tally = run(fmt, list(inputs(fmt, given.count, given.seed)))
        sys.stdout.write(f"{name}: {tally} in {time.monotonic() - begun:.0f} s\n")
        for finding in tally.findings:
            code = 1
            sys.stdout.write(f"{finding}\n")
            if given.keep:
                given.keep.mkdir(parents=True, exist_ok=True)
                (given.keep / f"{name}-{finding.file_name}").write_bytes(finding.data)
    return code


if __name__ == "__main__":
    sys.exit(main())
