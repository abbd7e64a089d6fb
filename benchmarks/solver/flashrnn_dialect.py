"""Small models in FlashRNN's dialect, drawn: its own reader and solver beside ours, both against brute force.

    pip download --no-deps flashrnn==1.0.8 && unzip flashrnn-1.0.8-py3-none-any.whl -d DIR
    python benchmarks/solver/flashrnn_dialect.py DIR [--count 300] [--seed 1] [--out result.json]

DIR may be left out where flashrnn is installed. A model has three names, each one of a list of values, and
one to three constraints of the kinds that the original has. The original is asked twice: for its first
solution, and, for every assignment, whether any value is left once the names have these values. For each
kind of text the script counts how often each answer is right, wrong, an exception or not given in LIMIT
seconds of processor time.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import json
import re
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from time import process_time
from types import ModuleType
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from environment import environment

from constrint import Model

NAMES = "abc"
LIMIT = 1.0
"""Processor seconds for each question to the original, which does not end on some texts."""

Values = dict[str, int]
KINDS = {
    "sums, products": {},
    "powers": {"power": 0.4},
    "%": {"remainder": 0.6},
    "sums beside %": {"remainder": 0.6, "sum_beside": 0.8},
    "|": {"alternative": 0.6},
    "lists in constraints": {"list": 0.5},
    "constraints of numbers alone": {"number": 1.0},
    "brackets across ;": {"across": 1.0, "alternative": 0.5},
    "everything": {"power": 0.1, "remainder": 0.3, "sum_beside": 0.3, "alternative": 0.3, "list": 0.2},
}
"""Probabilities of the parts, for each kind of text."""


def draw(random: Random, likely: dict[str, float]) -> tuple[str, dict[str, list[int]]]:
    """A text, and the values of its names."""

    def has(part: str) -> bool:
        return random.random() < likely.get(part, 0)

    def atom() -> str:
        if has("list"):
            return f"[{random.randint(1, 3)}, {random.randint(4, 6)}]"
        if has("number") or random.random() < 0.25:
            return str(random.randint(1, 12))
        return random.choice(NAMES) + (" ^ 2" if has("power") else "")

    def product() -> str:
        return " * ".join(atom() for _ in range(random.choice([1, 1, 2])))

    def total() -> str:
        text = " + ".join(product() for _ in range(random.choice([1, 1, 2])))
        return f"({text})" if random.random() < 0.2 else text

    def constraint() -> str:
        if has("remainder"):
            side = total if has("sum_beside") else product
            return f"{side()} % {side()} == 0"
        return f"{total()} {random.choice(['==', '<=', '<='])} {total()}"

    domains = {name: sorted(random.sample(range(1, 10), random.randint(1, 4))) for name in NAMES}
    parts = [f"{name} == {values}" for name, values in domains.items()]
    for _ in range(random.randint(1, 3)):
        parts.append(" | ".join(constraint() for _ in range(2 if has("alternative") else 1)))
    if has("across"):
        parts[-1] = f"({parts[-1]}"
        parts.append(f"{constraint()})")
    text = ";\n".join(parts) + ";\n"
    return re.sub(" ", lambda _: random.choice([" ", " ", " ", "\n  ", " # a note\n"]), text), domains


def holds(text: str, values: Values) -> bool:
    """The text by its rules: split at `;`, `|`, `<=`, `== 0` with `%`, `==`, `+`, `*`, `^`, in this order."""
    stripped = re.sub(r"#[^\n]*|[()\s]", "", text)
    return all(
        any(_constraint(case, values) for case in part.split("|")) for part in stripped.split(";") if part
    )


def _constraint(text: str, values: Values) -> bool:
    for operator in ("<=", "=="):
        left, found, right = text.partition(operator)
        if found:
            break
    if "%" in left:
        dividend, divisor = left.split("%")
        return any(x % y == 0 for x in _totals(dividend, values) for y in _totals(divisor, values))
    pairs = itertools.product(_totals(left, values), _totals(right, values))
    return any(x <= y if operator == "<=" else x == y for x, y in pairs)


def _totals(text: str, values: Values) -> set[int]:
    """The possible values of an expression: a list stands for any of its values."""
    sums = {0}
    for term in text.split("+"):
        products = {1}
        for factor in term.split("*"):
            products = {p * q for p in products for q in _factor(factor, values)}
        sums = {s + p for s in sums for p in products}
    return sums


def _factor(text: str, values: Values) -> set[int]:
    if text.startswith("["):
        return set(map(int, text.strip("[]").split(",")))
    base, _, exponent = text.partition("^")
    return {(int(base) if base.isdigit() else values[base]) ** int(exponent or 1)}


def original(folder: Path | None) -> ModuleType:
    """The module flashrnn.autotune.constrint, without the rest of its package."""
    if folder is None:
        spec = importlib.util.find_spec("flashrnn")
        if spec is None or spec.origin is None:
            raise SystemExit("flashrnn is not installed: name the folder where its wheel was unpacked")
        folder = Path(spec.origin).parents[1]
    place = folder / "flashrnn" / "autotune" / "constrint.py"
    found = importlib.util.spec_from_file_location("flashrnn_constrint", place)
    if found is None or found.loader is None or not place.exists():
        raise SystemExit(f"there is no {place}")
    module = importlib.util.module_from_spec(found)
    sys.modules[found.name] = module
    found.loader.exec_module(module)
    return module


def first_solution(peer: ModuleType, text: str) -> Values | None:
    """The first solution of the original's solver."""
    constraint, variables = peer.parse_expression(text)
    wanted = [peer.ValueRefinement(name) for name in NAMES]
    found = peer.solve_constrint(constraint, variables, wanted, 1)
    return dict(found[0]) if found else None


def allowed(peer: ModuleType, text: str, every: list[Values]) -> Iterator[Values]:
    """The assignments with which the original leaves a value for every name."""
    for values in every:
        pinned = "; ".join(f"{name} == {value}" for name, value in values.items())
        constraint, variables = peer.parse_expression(f"{pinned}; {text}")
        constraint.apply(variables)
        if not variables.empty():
            yield values


class NoAnswerError(BaseException):
    """The time for a question is up; it is a BaseException, so no `except Exception` catches it."""


@contextmanager
def limited() -> Iterator[None]:
    """Raises NoAnswerError after LIMIT seconds of processor time."""

    def stop(*_: object) -> None:
        raise NoAnswerError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, LIMIT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def compared(peer: ModuleType, text: str, domains: dict[str, list[int]], counts: Counter[str]) -> None:
    """Ask both solvers, and count their answers."""
    every = [dict(zip(domains, row, strict=True)) for row in itertools.product(*domains.values())]
    expected = [values for values in every if holds(text, values)]
    begun = process_time()
    m = Model.from_text(text, dialect="flashrnn")
    ours = sorted(tuple(r.values[name] for name in NAMES) for r in m.iter_solutions())
    counts["our ms"] += round(1000 * (process_time() - begun))
    counts["ours right"] += ours == sorted(tuple(values.values()) for values in expected)
    begun = process_time()
    try:
        with limited():
            first = first_solution(peer, text)
        best = min(expected, key=lambda values: tuple(values.values()), default=None)
        right = first == best
        loses, wrong = first is None, first is not None and first not in expected
        counts["first: " + ("right" if right else "lost" if loses else "wrong" if wrong else "another")] += 1
    except (Exception, NoAnswerError) as problem:  # any exception counts as its answer
        counts[f"first: {type(problem).__name__}"] += 1
    counts["its ms"] += round(1000 * (process_time() - begun))
    try:
        with limited():
            accepted = list(allowed(peer, text, every))
        lost = any(values not in accepted for values in expected)
        extra = any(values not in expected for values in accepted)
        counts["values: " + ("lost" if lost else "too many" if extra else "right")] += 1
    except (Exception, NoAnswerError) as problem:
        counts[f"values: {type(problem).__name__}"] += 1


def main() -> None:
    """Draw models and compare the answers."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, nargs="?", help="where flashrnn 1.0.8 was unpacked")
    parser.add_argument("--count", type=int, default=300, help="models of each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, help="JSON file to write")
    arguments = parser.parse_args()
    peer = original(arguments.folder)
    rows: dict[str, Any] = {}
    for kind, likely in KINDS.items():
        random = Random(f"{arguments.seed} {kind}")
        counts: Counter[str] = Counter()
        for _ in range(arguments.count):
            compared(peer, *draw(random, likely), counts)
        rows[kind] = dict(sorted(counts.items()))
        print(f"{kind}: {rows[kind]}", flush=True)
    if arguments.out:
        head = {**environment(), "flashrnn": "1.0.8", "models of each kind": arguments.count}
        arguments.out.write_text(json.dumps({"environment": head, "kinds": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
