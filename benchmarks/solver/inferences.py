"""Drawn models in any number: inferences, answers and proofs are checked; the full-size form of tests in CI.

    python benchmarks/solver/inferences.py --models 100000 --seed 1000000 --processes 2 \
        --output benchmarks/results/inferences.json

Each seed draws a model, at natural or at lowered settings, and an answer of some search is compared with
brute force. Every tenth seed has all inferences checked where they are made
(`tests/constrint/oracles/inference_oracle.py`), and a proof that the shipped checker verifies;
`--inferences 1 --proofs 1` does so for every seed.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "constrint" / "oracles"))
sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "constrint" / "search"))
sys.path.insert(0, str(Path(__file__).parents[1]))

import drawn_proofs
import known_solutions
from environment import environment
from inference_cases import check
from test_drawn_portfolios import fault

from constrint.verification.checker import verify

BATCH = 250  # seeds that a process gets at a time


@dataclass
class Work:
    """What a batch of seeds is asked, and what came of it.

    Attributes:
        first: The first seed.
        count: The number of seeds.
        inferences: Every how many-th seed has its inferences checked.
        proofs: Every how many-th seed has a proof verified.
        checked: How often each kind of inference was checked.
        done: How many answers, models of inferences and proofs there were.
        steps: Lines of the proofs.
        trusted: Steps of the proofs that the checker takes on trust, by kind.
        wrong: What was wrong, by seed.
    """

    first: int
    count: int
    inferences: int
    proofs: int
    checked: Counter[str] = field(default_factory=Counter)
    done: Counter[str] = field(default_factory=Counter)
    steps: int = 0
    trusted: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def add(self, other: Work) -> None:
        """Take in what came of another batch."""
        self.checked += other.checked
        self.done += other.done
        self.steps += other.steps
        self.trusted += other.trusted
        self.wrong += other.wrong


def run(work: Work) -> Work:
    """Check a batch of seeds."""
    known_solutions.TALLY.clear()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "proof"
        for seed in range(work.first, work.first + work.count):
            for name, every in (("answers", 1), ("inferences", work.inferences), ("proofs", work.proofs)):
                if seed // 7 % every:  # seeds of all residues, by which goals and kinds are drawn
                    continue
                work.done[name] += 1
                try:
                    if name == "answers":
                        found = fault(seed)
                    elif name == "inferences":
                        found = check(seed)
                    else:
                        found = _proved(work, seed, path)
                except Exception as error:  # a crash is a wrong answer; the other models still count
                    found = f"{type(error).__name__}: {error}"
                if found is not None:
                    work.wrong.append(f"{name} {seed}: {found}")
                    print(f"{name} {seed}: {found}", file=sys.stderr, flush=True)
    work.checked = Counter(known_solutions.TALLY)
    return work


def _proved(work: Work, seed: int, path: Path) -> str | None:
    """The fault of a seed's proof; None if it is verified. Steps on trust are counted by kind."""
    kind = drawn_proofs.KINDS[seed % len(drawn_proofs.KINDS)]
    model, goal = drawn_proofs.draw(kind, seed)
    proof = drawn_proofs.proof_of(model, path, drawn_proofs.goals_of(model, goal, seed))
    if proof is None:
        return None
    result, lines = proof
    work.steps += len(lines)
    report = verify(model, lines)
    work.trusted += report.trusted
    if report.claim != result.status.value or report.values != result.numbers:
        return f"{kind}: the proof claims {report.claim} {report.values}, the answer is {result}"
    return None


def main() -> None:
    """Check the models that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--models", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--inferences", type=int, default=10, help="check inferences of every N-th model")
    parser.add_argument("--proofs", type=int, default=10, help="verify a proof for every N-th seed")
    parser.add_argument("--seconds", type=float, help="begin no batch after this time")
    parser.add_argument("--output", type=Path)
    given = parser.parse_args()
    started = time.perf_counter()
    total = Work(given.seed, 0, given.inferences, given.proofs)
    firsts = range(given.seed, given.seed + given.models, BATCH)
    with ProcessPoolExecutor(given.processes) as pool:
        for at in range(0, len(firsts), given.processes):
            if given.seconds is not None and time.perf_counter() - started > given.seconds:
                break
            batches = [
                Work(first, min(BATCH, given.seed + given.models - first), given.inferences, given.proofs)
                for first in firsts[at : at + given.processes]
            ]
            for done in pool.map(run, batches):
                total.add(done)
                total.count += done.count
    report = {
        **environment("numpy", "highspy"),
        "seeds": [total.first, total.first + total.count - 1],
        "models": dict(total.done),
        "lines of proofs": total.steps,
        "lines of proofs on trust": dict(total.trusted),
        "inferences": dict(sorted(total.checked.items())),
        "wrong": total.wrong,
        "seconds": round(time.perf_counter() - started, 1),
    }
    print(json.dumps(report, indent=1))
    if given.output is not None:
        given.output.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    sys.exit(bool(total.wrong))


if __name__ == "__main__":
    main()
