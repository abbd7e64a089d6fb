"""The heap of open variables: narrow ones before wide ones, then by activity."""

from __future__ import annotations

from constrint.learning.layout import HEAP, INCREMENT, Learner, learn_compilable

MOST_ACTIVE = 1 << 50
FIRST_INCREMENT = 1 << 16


@learn_compilable
def goes_first(ls: Learner, u: int, v: int) -> bool:
    """Whether u is decided before v."""
    if ls.tier[u] != ls.tier[v]:
        return ls.tier[u] < ls.tier[v]
    if ls.activity[u] != ls.activity[v]:
        return ls.activity[u] > ls.activity[v]
    return u < v


@learn_compilable
def sift_up(ls: Learner, i: int) -> None:
    """Move a variable towards the top."""
    heap = ls.heap
    place = ls.place
    v = heap[i]
    while i > 0:
        parent = (i - 1) >> 1
        if not goes_first(ls, v, heap[parent]):
            break
        heap[i] = heap[parent]
        place[heap[i]] = i
        i = parent
    heap[i] = v
    place[v] = i


@learn_compilable
def sift_down(ls: Learner, i: int) -> None:
    """Move a variable towards the bottom."""
    heap = ls.heap
    place = ls.place
    size = ls.scalar[HEAP]
    v = heap[i]
    while 2 * i + 1 < size:
        child = 2 * i + 1
        if child + 1 < size and goes_first(ls, heap[child + 1], heap[child]):
            child += 1
        if not goes_first(ls, heap[child], v):
            break
        heap[i] = heap[child]
        place[heap[i]] = i
        i = child
    heap[i] = v
    place[v] = i


@learn_compilable
def push(ls: Learner, v: int) -> None:
    """Put a variable on the heap."""
    size = ls.scalar[HEAP]
    ls.heap[size] = v
    ls.place[v] = size
    ls.scalar[HEAP] = size + 1
    sift_up(ls, size)


@learn_compilable
def pop(ls: Learner) -> int:
    """Take the first variable off the heap."""
    v = ls.heap[0]
    size = ls.scalar[HEAP] - 1
    ls.scalar[HEAP] = size
    ls.place[v] = -1
    if size > 0:
        ls.heap[0] = ls.heap[size]
        ls.place[ls.heap[0]] = 0
        sift_down(ls, 0)
    return v


@learn_compilable
def bump(ls: Learner, v: int) -> None:
    """Raise the activity of a variable that took part in a conflict."""
    activity = ls.activity
    activity[v] += ls.scalar[INCREMENT]
    if activity[v] > MOST_ACTIVE:
        for u in range(len(activity)):
            activity[u] >>= 30
        ls.scalar[INCREMENT] = max(FIRST_INCREMENT, ls.scalar[INCREMENT] >> 30)
    if ls.place[v] >= 0:
        sift_up(ls, ls.place[v])


@learn_compilable
def age(ls: Learner) -> None:
    """Raise the increment by about 5 %, so that later conflicts count for more."""
    ls.scalar[INCREMENT] += ls.scalar[INCREMENT] // 19
