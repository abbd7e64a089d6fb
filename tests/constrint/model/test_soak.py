"""Soak test: random models of all kinds, in one process, by every method, in random order, by brute force.

    CONSTRINT_SOAK_SEED=7 CONSTRINT_SOAK=2000 pytest tests/constrint/model/test_soak.py

With `--fresh-cache`, other processes have just compiled the machine code.
"""

from __future__ import annotations

import os
import random

import pytest
from soak_cases import KINDS, METHODS, PROCESSES, Case, cases

COUNT = int(os.environ.get("CONSTRINT_SOAK", "60"))
SEED = int(os.environ.get("CONSTRINT_SOAK_SEED", "0"))
BY_PROCESSES = 40  # one model in so many is given to processes, which take a second to start


def complaints_about(drawn: list[Case], rng: random.Random) -> list[str]:
    """What is answered wrongly, each method on each model, in a drawn order."""
    calls = [(case, name, ask) for case in drawn for name, ask in METHODS.items()]
    calls += [(case, name, ask) for case in drawn[::BY_PROCESSES] for name, ask in PROCESSES.items()]
    rng.shuffle(calls)
    complaints = []
    for place, (case, name, ask) in enumerate(calls):
        wrong = ask(case, rng)
        if wrong is not None:
            complaints.append(f"call {place}, {name}, {case.kind}: {wrong}\n{case.model.to_text()}")
    return complaints


@pytest.mark.fuzz
@pytest.mark.timeout(1800)
def test_every_method_in_one_process(filled: None) -> None:
    drawn = list(cases(COUNT, SEED))
    assert len(drawn) >= len(KINDS)
    assert sum(len(case.truths) == 0 for case in drawn) < COUNT / 2
    assert complaints_about(drawn, random.Random(SEED)) == []


def test_a_wrong_answer_would_be_noticed() -> None:
    """A model without one of its solutions is complained about by what finds all."""
    drawn = [case for case in cases(len(KINDS), 3) if len(case.truths) > 1]
    assert len(drawn) > 3
    for case in drawn:
        case.truths.pop(next(iter(case.truths)))
        for name in ("iter_solutions", "count", "solutions"):
            assert METHODS[name](case, random.Random(0)) is not None, (name, case.kind)
