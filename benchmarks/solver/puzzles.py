"""Models shared by several benchmarks."""

from __future__ import annotations

from classics_peers import SHORTER_RULERS

from constrint import IntVar, Model, all_different


def queens_model(n: int) -> Model:
    """All ways to put n queens."""
    m = Model()
    q = m.int_vars("q", n, 0, n - 1)
    for shift in (-1, 0, 1):
        m.add(all_different([q[i] + shift * i for i in range(n)], consistency="value"))
    return m


def golomb_model(n: int) -> tuple[Model, IntVar]:
    """Rulers with n marks; the length, which is the objective."""
    m = Model()
    marks = m.int_vars("mark", n, 0, n * n)
    distances = {(i, j): marks[j] - marks[i] for j in range(n) for i in range(j)}
    m.add(marks[0] == 0, all_different(distances.values(), consistency="bounds"))
    for (i, j), distance in distances.items():
        inside, outside = j - i, n - 1 - (j - i)
        m.add(distance >= SHORTER_RULERS[inside + 1] if outside else distance >= inside * (inside + 1) // 2)
        m.add(distance <= marks[n - 1] - outside * (outside + 1) // 2)
    m.add(distances[0, 1] < distances[n - 2, n - 1])
    return m, marks[n - 1]
