"""Resources in the learning search: answers against brute force, explanations against all starts, proofs."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from math import prod
from pathlib import Path
from random import Random
from typing import Any

import pytest
from drawn_job_shops import MT06, draw_jobs, least_span
from proved import is_proved
from resource_truth import fits

from constrint import Model, Status, cumulative, max_, no_overlap, sum_
from constrint.learning import explain, resource
from constrint.learning.layout import NOTHING, PREMISES, TRAIL
from constrint.learning.trail import value_before
from constrint.verification.checker import RejectedAtError


@dataclass(frozen=True)
class Tasks:
    """Tasks of known durations on resources; the domains of their starts, and what comes before what."""

    starts: list[list[int]]
    durations: list[int]
    resources: list[tuple[list[int], int]]
    before: list[tuple[int, int, int]]  # start of one + gap <= start of the other
    weights: list[int]

    def model(self) -> Model:
        m = Model()
        s = [m.int_var(f"s{i}", values=values) for i, values in enumerate(self.starts)]
        for demands, capacity in self.resources:
            if capacity == 1 and min(demands) == 1 and min(self.durations) > 0:
                m.add(no_overlap(s, self.durations))
            else:
                m.add(cumulative(s, self.durations, demands, capacity))
        m.add(*(s[i] + gap <= s[j] for i, j, gap in self.before))
        m.minimize(sum_(w * x for w, x in zip(self.weights, s, strict=True)))
        return m

    def is_solution(self, starts: tuple[int, ...]) -> bool:
        return all(starts[i] + gap <= starts[j] for i, j, gap in self.before) and all(
            fits(starts, self.durations, demands, capacity) for demands, capacity in self.resources
        )

    def least(self) -> int | None:
        """The optimum, by brute force."""
        values = (
            sum(w * x for w, x in zip(self.weights, starts, strict=True))
            for starts in itertools.product(*self.starts)
            if self.is_solution(starts)
        )
        return min(values, default=None)


def draw(seed: int) -> Tasks:
    random = Random(seed)
    n = random.randint(3, 5)
    starts = []
    for _ in range(n):
        first = random.randint(-3, 3)
        values = list(range(first, first + random.randint(2, 9)))
        if random.random() < 0.25:
            values = sorted(random.sample(values, max(2, len(values) // 2)))
        starts.append(values)
    resources = []
    for _ in range(random.randint(1, 2)):
        capacity = random.choice((1, 2, 4, 6))
        least = 1 if capacity == 1 else 0
        resources.append(([random.randint(least, capacity) for _ in range(n)], capacity))
    pairs = [random.sample(range(n), 2) for _ in range(random.randint(0, 2))]
    return Tasks(
        starts,
        [random.randint(0 if random.random() < 0.2 else 1, 5) for _ in range(n)],
        resources,
        [(i, j, random.randint(0, 3)) for i, j in pairs],
        [random.randint(-3, 4) for _ in range(n)],
    )


@pytest.mark.parametrize("block", range(4))
def test_optima_against_brute_force(block: int) -> None:
    feasible = learned = 0
    for seed in range(100 * block, 100 * (block + 1)):
        tasks = draw(seed)
        best = tasks.least()
        r = tasks.model().solve(learn=True, engine="interpreted")
        assert r.objective == best, f"seed {seed}"
        assert r.status is (Status.INFEASIBLE if best is None else Status.OPTIMAL)
        feasible += best is not None
        learned += r.statistics.learned
    assert 20 < feasible < 80
    assert learned > 0


def crowded(seed: int) -> Model:
    """Many tasks in little time, so that there is much to explain."""
    random = Random(seed)
    n = random.randint(6, 8)
    m = Model()
    s = [m.int_var(f"s{i}", random.randint(0, 3), random.randint(7, 14)) for i in range(n)]
    durations = [random.randint(1, 4) for _ in range(n)]
    m.add(cumulative(s, durations, [random.randint(1, 3) for _ in range(n)], 4))
    m.add(cumulative(s, durations, [random.randint(0, 5) for _ in range(n)], 6))
    m.minimize(max_([x + d for x, d in zip(s, durations, strict=True)]))
    return m


def test_every_explanation_implies_what_it_explains(monkeypatch: pytest.MonkeyPatch) -> None:
    """The premises were true before, and leave no starts that contradict the atom."""
    explained = 0
    explain_resource = explain.explain_resource  # type: ignore[attr-defined]

    def checked(ls: Any, st: Any, p: Any, b: int, k: int, at: Any) -> None:
        nonlocal explained
        first = ls.scalar[PREMISES]
        explain_resource(ls, st, p, b, k, at)
        atoms = [(ls.premise_bound[i], ls.premise_at[i]) for i in range(first, ls.scalar[PREMISES])]
        assert all(value_before(ls, bound, at) >= least for bound, least in atoms)
        if b != NOTHING:
            atoms.append((b ^ 1, 1 - k))
        start, end = ls.start[p], ls.start[p + 1]
        n = (end - start) // 2
        domains, tasks = [], []
        for i, s in enumerate(ls.term[start : start + n]):
            low = max([ls.root[s], *(least for bound, least in atoms if bound == s)])
            high = -max([ls.root[s + 1], *(least for bound, least in atoms if bound == s + 1)])
            # Those that need not be under way in the window can only add to what is demanded.
            if low + ls.factor[start + i] > ls.window_begin[at] and high < ls.window_end[at]:
                domains.append(range(low, high + 1))
                tasks.append((ls.factor[start + i], ls.factor[start + n + i]))
        if prod(map(len, domains)) <= 20_000:
            durations, demands = zip(*tasks, strict=True)
            for starts in itertools.product(*domains):
                assert not fits(starts, durations, demands, ls.limit[p]), (b, k, atoms)
            explained += 1

    monkeypatch.setattr(explain, "explain_resource", checked)
    for seed in range(60):
        crowded(seed).solve(learn=True, engine="interpreted")
    assert explained > 60


def test_optima_where_windows_in_vain_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches of windows become rare while they find nothing; the time table alone keeps answers right."""
    quiet = searched = 0
    keep_profile, search_windows = resource.keep_profile, resource.search_windows

    def profile(ls: Any, *given: Any) -> bool:
        nonlocal quiet
        before = ls.scalar[TRAIL]
        holds = keep_profile(ls, *given)
        quiet += holds and ls.scalar[TRAIL] == before
        return holds

    def search(*given: Any) -> int:
        nonlocal searched
        searched += 1
        return search_windows(*given)

    monkeypatch.setattr(resource, "keep_profile", profile)
    monkeypatch.setattr(resource, "search_windows", search)
    for seed in range(60):
        tree = crowded(seed).solve(learn=False, engine="interpreted")
        learned = crowded(seed).solve(learn=True, engine="interpreted")
        assert (learned.status, learned.objective) == (tree.status, tree.objective), f"seed {seed}"
    assert searched < quiet


def test_windows_that_are_too_short_need_no_search() -> None:
    m = Model()
    s = [m.int_var(f"s{i}", 0, 4) for i in range(3)]
    m.add(cumulative(s, [3, 3, 3], [2, 2, 2], 3))  # 18 in a window of 7 * 3, but two never fit beside
    r = m.solve(learn=True, engine="interpreted")
    assert r.status is Status.INFEASIBLE
    m = Model()
    s = [m.int_var(f"s{i}", 0, 4) for i in range(5)]
    m.add(cumulative(s, [3] * 5, [2] * 5, 4))  # 30 units of energy, and 28 in the window
    r = m.solve(learn=True, engine="interpreted")
    assert (r.status, r.statistics.nodes) == (Status.INFEASIBLE, 0)


def test_edges_are_found() -> None:
    """Two tasks fill 0 .. 8 but for 1, so the third cannot start before 7."""
    m = Model()
    a, b, c = m.int_var("a", 0, 5), m.int_var("b", 0, 4), m.int_var("c", 2, 30)
    m.add(cumulative([a, b, c], [3, 4, 5], [1, 1, 1], 1))
    r = m.solve(minimize=c, learn=True, engine="interpreted")
    assert (r["c"], r.statistics.failures) == (7, 0)


def shop(jobs: Any) -> Model:
    """A job shop with a condition for each machine."""
    m = Model()
    horizon = sum(duration for job in jobs for _, duration in job)
    span = m.int_var("span", 0, horizon)
    on_machine: dict[int, list[Any]] = {}
    for j, job in enumerate(jobs):
        end = 0
        for t, (machine, duration) in enumerate(job):
            start = m.int_var(f"s{j}_{t}", 0, horizon - duration)
            m.add(start >= end)
            end = start + duration
            on_machine.setdefault(machine, []).append((start, duration))
        m.add(end <= span)
    for tasks in on_machine.values():
        m.add(no_overlap([s for s, _ in tasks], [d for _, d in tasks]))
    m.minimize(span)
    return m


@pytest.mark.parametrize("seed", range(4))
def test_job_shops_against_brute_force(seed: int) -> None:
    jobs = draw_jobs(seed, jobs=3, machines=3)
    assert shop(jobs).solve(learn=True, engine="interpreted").objective == least_span(jobs)


def test_whole_windows_save_failures_on_a_classic_shop() -> None:
    r = shop(MT06).solve(learn=True, engine="interpreted")
    assert (r.status, r.objective) == (Status.OPTIMAL, 55)
    assert r.statistics.failures < 30


def project(n: int, seed: int) -> Model:
    random = Random(seed)
    durations = [random.randint(1, 6) for _ in range(n)]
    m = Model()
    s = [m.int_var(f"s{i}", 0, sum(durations) - durations[i]) for i in range(n)]
    for i in range(n - 1):
        j = random.randint(i + 1, min(n - 1, i + 4))
        m.add(s[i] + durations[i] <= s[j])
    for _ in range(2):
        m.add(cumulative(s, durations, [random.randint(0, 5) for _ in range(n)], 6))
    m.minimize(max_([x + d for x, d in zip(s, durations, strict=True)]))
    return m


@pytest.mark.timeout(900)  # the first use on a machine compiles
def test_compiled_and_interpreted_search_the_same_way() -> None:
    for m in (project(14, 1), shop(draw_jobs(2, 5, 4))):
        walks = []
        for engine in ("interpreted", "compiled"):
            r = m.solve(learn=True, engine=engine)
            s = r.statistics
            assert (r.status, s.engine) == (Status.OPTIMAL, engine)
            walks.append((dict(r.values), s.nodes, s.failures, s.propagations, s.learned))
        assert walks[0] == walks[1]


def proof_of(m: Model, path: Path) -> str:
    m.solve(learn=True, proof=path, engine="interpreted")
    return path.read_text(encoding="utf-8")


def test_proofs_follow(tmp_path: Path) -> None:
    steps = 0
    for m in (
        *(draw(seed).model() for seed in range(60)),
        project(7, 3),
        project(8, 5),
        shop(draw_jobs(5, 4, 3)),
    ):
        text = proof_of(m, tmp_path / "proof")
        if "\nsearch" in text:
            assert is_proved(text)
            steps += text.count("\nlearned")
    assert steps > 30


def test_a_proof_that_claims_too_much_is_rejected(tmp_path: Path) -> None:
    text = proof_of(project(7, 3), tmp_path / "proof")
    at = text.index("solution")
    with pytest.raises(RejectedAtError):
        is_proved(text[:at] + "exhausted\n")
    with pytest.raises(RejectedAtError):
        is_proved(text[:at] + "learned 1 >= 90\n")


def test_a_literal_of_no_length_that_the_model_has() -> None:
    """The decomposition by tasks took its variable for the opposite where the literal was negative."""
    m = Model()
    x, length, capacity = m.int_var("x", 0, 2), m.int_var("length", 0, 3), m.int_var("capacity", 0, 1)
    m.add(cumulative([x], [length], [2], capacity))
    r = m.solve(maximize=3 * (length <= 0) - capacity + (x == 1), learn=True)
    assert (r.status, r.objective) == (Status.OPTIMAL, 4)
