"""Proofs of drawn models: each is verified, and no changed one proves what is not true.

CONSTRINT_PROOFS is the number of models of each kind: more for a long run.
"""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest
from drawn_proofs import KINDS, draw, goals_of, mutants, proof_of
from global_models import assignments, holds, value

import constrint as ci
from constrint import IntExpr, Model
from constrint.modelling.objectives import Direction
from constrint.verification.checker import NotTheModelError, RejectedAtError, verify
from constrint.verification.settings import CheckerSettings

MODELS = int(os.environ.get("CONSTRINT_PROOFS", "20"))
FIRST = int(os.environ.get("CONSTRINT_PROOFS_FIRST", "40"))
UNLISTED = CheckerSettings(most_assignments=0)  # every step by rules alone


@pytest.mark.fuzz
@pytest.mark.parametrize("kind", KINDS)
def test_proofs_are_verified(kind: str, tmp_path: Path) -> None:
    claims = set()
    learned = 0
    for seed in range(FIRST, FIRST + MODELS):
        m, goal = draw(kind, seed)
        proof = proof_of(m, tmp_path / "proof", goals_of(m, goal, seed))
        if proof is None:
            continue
        result, lines = proof
        report = verify(m, lines, CheckerSettings(is_strict=True))
        assert report.claim == result.status.value, f"{kind} {seed}"
        assert report.values == result.numbers, f"{kind} {seed}"
        learned += report.learned
        claims.add(report.claim)
    assert "optimal" in claims
    assert learned > 0


@pytest.mark.parametrize("seed", [3060750, 8000745, 8017670, 8024550, 8082290, 8095550])
def test_wide_constraints_are_checked_by_all_solutions(seed: int, tmp_path: Path) -> None:
    """Seeds of long runs: propagation that lists few assignments of a constraint proves too little."""
    kind = KINDS[seed % len(KINDS)]
    m, goal = draw(kind, seed)
    result, lines = proof_of(m, tmp_path / "proof", goals_of(m, goal, seed))  # type: ignore[misc]
    report = verify(m, lines, CheckerSettings(is_strict=True))
    assert (report.claim, report.values) == (result.status.value, result.numbers)


@pytest.mark.fuzz
@pytest.mark.parametrize("kind", KINDS)
def test_narrow_lists_reject_no_proof(kind: str, tmp_path: Path) -> None:
    for seed in range(FIRST, FIRST + MODELS // 2):
        m, goal = draw(kind, seed)
        proof = proof_of(m, tmp_path / "proof", goals_of(m, goal, seed))
        if proof is not None:
            report = verify(m, proof[1], CheckerSettings(few_listed=2, most_listed=2, is_strict=True))
            assert report.claim == proof[0].status.value, f"{kind} {seed}"


@pytest.mark.fuzz
@pytest.mark.parametrize("kind", KINDS)
def test_no_proof_is_rejected_where_solutions_are_not_listed(kind: str, tmp_path: Path) -> None:
    for seed in range(FIRST, FIRST + MODELS):
        m, goal = draw(kind, seed)
        proof = proof_of(m, tmp_path / "proof", goals_of(m, goal, seed))
        if proof is not None:
            assert verify(m, proof[1], UNLISTED).claim == proof[0].status.value, f"{kind} {seed}"


def truth(m: Model, goals: list[tuple[IntExpr, Direction]]) -> Any:
    """The best value of each goal in turn, by evaluating every assignment; None without a solution."""
    found = [a for a in assignments(m) if holds(m, a)]
    best = []
    for expr, way in goals:
        found = [a for a in found if value(expr, a) is not None]
        if found:
            choose = max if way == "max" else min
            best.append(choose(value(expr, a) for a in found))  # type: ignore[type-var]
            found = [a for a in found if value(expr, a) == best[-1]]
    return tuple(best) if found else None


@pytest.mark.fuzz
@pytest.mark.parametrize("kind", KINDS)
def test_no_changed_proof_proves_what_is_not_true(kind: str, tmp_path: Path) -> None:
    rejected = kept = 0
    for seed in range(FIRST, FIRST + MODELS):
        m, goal = draw(kind, seed)
        rng = random.Random(seed)
        proof = proof_of(m, tmp_path / "proof", {"maximize": goal})
        if proof is None:
            continue
        right = truth(m, [(goal, "max")])
        for changed in mutants(proof[1], rng, 8):
            most = rng.choice((0, CheckerSettings().most_assignments))  # by rules alone, or by listing
            few, many = rng.choice(((2, 2), (2, 50), (300, 50_000)))  # of one constraint while propagating
            strict = CheckerSettings(few, many, most_assignments=most, is_strict=True)
            try:
                report = verify(m, changed, strict)
            except (RejectedAtError, NotTheModelError):
                rejected += 1
                continue
            kept += 1
            if report.claim == "optimal":
                assert report.objectives == right, f"{kind} {seed}"
            elif report.claim == "infeasible":
                assert right is None, f"{kind} {seed}"
    assert rejected > kept


@pytest.mark.fuzz
@pytest.mark.parametrize("kind", ["sums", "chains"])
def test_wrong_claims_are_rejected(kind: str, tmp_path: Path) -> None:
    tried = 0
    for seed in range(MODELS // 2):
        m, goal = draw(kind, seed)
        result, lines = proof_of(m, tmp_path / "proof", {"maximize": goal})  # type: ignore[misc]
        if result.status is not ci.Status.OPTIMAL:
            continue
        last = max(i for i, line in enumerate(lines) if line.startswith("solution"))
        before = [line for line in lines[:last] if line.startswith("solution")]
        forged = [
            [*lines[:-1], "claim infeasible"],
            lines[:-1],
            [line for line in lines if line != "exhausted"],
            [*lines[:last], "exhausted", lines[-1]],
            [*lines[:last], "learned ", *lines[last + 1 :]],
        ]
        if before:
            forged.append([*lines[:last], *lines[last + 1 :]])
        for changed in forged:
            tried += 1
            for settings in (CheckerSettings(), UNLISTED):
                with pytest.raises(RejectedAtError):
                    verify(m, changed, settings)
    assert tried > MODELS
