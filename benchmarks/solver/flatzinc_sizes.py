"""FlatZinc of eight kinds, up to a million constraints: time and memory of reading and presolve.

    python benchmarks/solver/flatzinc_sizes.py [--sizes 10000,100000] [--only clauses,mixed] [--note TEXT]
        [--out benchmarks/results/flatzinc_sizes.json]

Each text is drawn, then read by a process of its own, which reports the processor seconds of each stage: the
text into a document (`parse`), the document into a model (`build`), the model into the normal form (`lower`),
and propagation and the rules of presolve (`presolve`). `seconds` is their sum, without imports;
`megabytes` is the most memory of the process, imports included. Size 1000000 is given by --sizes.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from time import process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from environment import environment

PATIENCE = 600.0  # seconds for a text
SIZES = "10000,100000"
Lines = Iterator[str]


def _variables(count: int, domain: str, name: str = "x") -> Lines:
    return (f"var {domain}: {name}{i};" for i in range(count))


def _drawn(random: Random, count: int, many: int, name: str = "x") -> str:
    return ",".join([f"{name}{i}" for i in random.sample(range(count), many)])


def clauses(n: int, random: Random) -> Lines:
    """Clauses of three literals, four for each variable."""
    count = max(3, n // 4)
    yield from _variables(count, "bool")
    for _ in range(n):
        positive = random.randint(0, 3)
        literals = [f"x{i}" for i in random.sample(range(count), 3)]
        yield f"constraint bool_clause([{','.join(literals[:positive])}],[{','.join(literals[positive:])}]);"


def rows(n: int, random: Random) -> Lines:
    """Covers: at least one of five 0/1 variables."""
    yield "array [1..5] of int: ones = [-1,-1,-1,-1,-1];"
    yield from _variables(max(5, n), "0..1")
    for _ in range(n):
        yield f"constraint int_lin_le(ones,[{_drawn(random, max(5, n), 5)}],-1);"


def reified(n: int, random: Random) -> Lines:
    """Truth values of sums of three variables, two for each variable; one clause for each third of them."""
    half, many = max(3, n // 2), n - n // 4
    yield from _variables(half, "0..20")
    yield from (f"var bool: b{i}:: var_is_introduced :: is_defined_var;" for i in range(many))
    for i in range(many):
        xs, bound = _drawn(random, half, 3), random.randint(0, 30)
        yield f"constraint int_lin_le_reif([1,2,-1],[{xs}],{bound},b{i}):: defines_var(b{i});"
    for _ in range(n - many):
        yield f"constraint bool_clause([{_drawn(random, many, 3, 'b')}],[]);"


def elements(n: int, random: Random) -> Lines:
    """Entries of arrays of ten constants; half of the constraints bound the sums of two."""
    half = max(2, n // 2)
    yield from _variables(half, "1..10")
    yield from (f"var 0..99: y{i}:: var_is_introduced :: is_defined_var;" for i in range(half))
    for i in range(half):
        numbers = ",".join([str(random.randint(0, 99)) for _ in range(10)])
        yield f"constraint array_int_element(x{i},[{numbers}],y{i}):: defines_var(y{i});"
    for _ in range(n - half):
        yield f"constraint int_lin_le([1,-1],[{_drawn(random, half, 2, 'y')}],{random.randint(60, 98)});"


def differences(n: int, random: Random) -> Lines:
    """Precedences of tasks, four for each task."""
    count = max(2, n // 4)
    yield from _variables(count, f"0..{100 * count}", "s")
    for _ in range(n):
        one, other = sorted(random.sample(range(count), 2))
        yield f"constraint int_lin_le([1,-1],[s{one},s{other}],-{random.randint(1, 9)});"


def products(n: int, random: Random) -> Lines:
    """Products of two variables, half of the constraints; a bound on each."""
    half = max(2, n // 2)
    yield from _variables(half, "1..30")
    yield from (f"var 1..900: p{i}:: var_is_introduced :: is_defined_var;" for i in range(half))
    for i in range(half):
        yield f"constraint int_times({_drawn(random, half, 2)},p{i}):: defines_var(p{i});"
    for i in range(n - half):
        yield f"constraint int_le({random.randint(2, 300)},p{i % half});"


def unequal(n: int, random: Random) -> Lines:
    """A graph's colouring, four edges for each node."""
    count = max(2, n // 4)
    yield from _variables(count, "1..9")
    for _ in range(n):
        yield f"constraint int_ne({_drawn(random, count, 2)});"


def mixed(n: int, random: Random) -> Lines:
    """Comparisons with a number as truth values, sums of these, and minima of two sums."""
    count, sums = max(2, n // 10), n // 10
    minima = n // 20
    marks = n - sums - minima
    yield from _variables(count, "0..9")
    yield from (f"var bool: b{i}:: var_is_introduced :: is_defined_var;" for i in range(marks // 2))
    yield from (f"var 0..1: c{i}:: var_is_introduced :: is_defined_var;" for i in range(marks - marks // 2))
    yield from (f"var 0..4: t{i}:: is_defined_var;" for i in range(sums))
    yield from (f"var 0..4: m{i}:: var_is_introduced :: is_defined_var;" for i in range(minima))
    for i in range(marks - marks // 2):
        if i < marks // 2:
            name = random.choice(["int_eq_reif", "int_le_reif"])
            compared = f"x{random.randrange(count)},{random.randint(0, 9)}"
            yield f"constraint {name}({compared},b{i}):: defines_var(b{i});"
        yield f"constraint bool2int(b{min(i, marks // 2 - 1)},c{i}):: defines_var(c{i});"
    for i in range(sums):
        four = _drawn(random, marks // 2, 4, "c")
        yield f"constraint int_lin_eq([1,1,1,1,-1],[{four},t{i}],0):: defines_var(t{i});"
    for i in range(minima):
        yield f"constraint int_min({_drawn(random, sums, 2, 't')},m{i}):: defines_var(m{i});"


KINDS: dict[str, Callable[[int, Random], Lines]] = {
    "clauses": clauses,
    "rows": rows,
    "reified": reified,
    "elements": elements,
    "differences": differences,
    "products": products,
    "unequal": unequal,
    "mixed": mixed,
}


def text_of(kind: str, n: int, to: Path) -> None:
    """Write the FlatZinc of a kind."""
    with to.open("w", encoding="utf-8") as file:
        for line in KINDS[kind](n, Random(f"{kind} {n}")):
            file.write(line + "\n")
        file.write("solve satisfy;\n")


def one(file: Path) -> dict[str, Any]:
    """The row of a file, measured in this process."""
    from constrint import Model  # noqa: F401 - imports are no part of the time
    from constrint.frontends.flatzinc.document import parse
    from constrint.frontends.flatzinc.model_building import build
    from constrint.preparing.prepared import Prepared
    from constrint.support.garbage import uncollected

    text = file.read_text(encoding="utf-8")
    times = [process_time()]
    with uncollected():
        document = parse(text)
        times.append(process_time())
        flat = build(document)
        times.append(process_time())
    del document
    lowered: list[float] = []
    prepared = Prepared(
        flat.model, (), (), may_compile=True, before_presolve=lambda *_: lowered.append(process_time())
    )
    times += [*(lowered or [process_time()]), process_time()]
    root = prepared.root
    names = ("parse", "build", "lower", "presolve")
    return {
        "variables": len(flat.model.variables),
        **{name: round(times[i + 1] - times[i], 3) for i, name in enumerate(names)},
        "seconds": round(times[-1] - times[0], 3),
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        **({"propagators": len(root.propagators), "stable": root.stable} if root is not None else {}),
    }


def apart(kind: str, n: int, folder: Path) -> dict[str, Any]:
    """The row of a kind, measured in a process of its own."""
    file = folder / "drawn.fzn"
    text_of(kind, n, file)
    command = [sys.executable, __file__, "--one", str(file)]
    try:
        environ = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=PATIENCE, env=environ, check=True
        )
    except subprocess.TimeoutExpired:
        return {"ended": f"after {PATIENCE:g} s"}
    except subprocess.CalledProcessError as error:
        return {"ended": error.stderr.strip().rpartition("\n")[2] or f"exit code {error.returncode}"}
    return {"text megabytes": round(file.stat().st_size / 1e6, 1), **json.loads(done.stdout)}


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sizes", default=SIZES)
    parser.add_argument("--only", default=",".join(KINDS))
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--note", default="")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(one(given.one)))
        return
    found: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for n in [int(size) for size in given.sizes.split(",")]:
            for kind in given.only.split(","):
                row = {"kind": kind, "constraints": n, **apart(kind, n, Path(folder))}
                found.append(row)
                print(json.dumps(row), flush=True)
                if given.out is not None:
                    head = {**environment("numpy", "llvmlite"), "note": given.note}
                    text = json.dumps({**head, "rows": found}, indent=1)
                    given.out.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
