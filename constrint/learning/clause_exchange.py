"""Exchange of root bounds and short clauses between learning searches of the same constraints.

Each clause holds in every solution that is better than the best one known to the search that learned it. So
it may be passed to searches for solutions at least as good.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from constrint.learning.entries import Atom
from constrint.learning.layout import INBOX, LOG, Learner

if TYPE_CHECKING:
    from constrint.learning.session import LearningRun

Clause: TypeAlias = tuple[Atom, ...]


class ClauseExchange:
    """The clauses that one search exports and imports.

    Args:
        ls: The search at its root, before it begins.
        most: Most members of a clause that is exported.
    """

    def __init__(self, ls: Learner, most: int) -> None:
        self._most = most
        self._root = [*ls.root]  # as it was exported last
        self._short: list[Clause] = []
        self._heard: list[Clause] = []

    def note(self, ls: Learner) -> None:
        """Empty the log of learned clauses; short ones are kept for export."""
        log = ls.log[: ls.scalar[LOG]]
        ls.scalar[LOG] = 0
        at = 0
        while at < len(log):
            end = at + 1 + 2 * int(log[at])
            if 1 < log[at] <= self._most:  # units are bounds of the root
                members = [int(cell) for cell in log[at + 1 : end]]
                self._short.append(tuple(zip(members[::2], members[1::2], strict=True)))
            at = end

    def exported(self, ls: Learner) -> list[Clause]:
        """New root bounds and short clauses of the search since the last call."""
        root = [int(k) for k in ls.root]
        raised = [((b, k),) for b, (k, before) in enumerate(zip(root, self._root, strict=True)) if k > before]
        self._root = root
        exported = [*raised, *self._short]
        self._short = []
        return exported

    def hear(self, clauses: Iterable[Clause]) -> None:
        """Note imported bounds and clauses."""
        self._heard += clauses

    def fill(self, ls: Learner) -> None:
        """Move imported clauses into the inbox if that is empty, as far as it has room."""
        if not self._heard or ls.scalar[INBOX] > 0:
            return
        at = count = 0
        for clause in self._heard:
            cells = _cells(clause)
            if at + len(cells) > len(ls.inbox):
                break
            for i, cell in enumerate(cells):
                ls.inbox[at + i] = cell
            at += len(cells)
            count += 1
        ls.scalar[INBOX] = at
        del self._heard[:count]


def _cells(clause: Clause) -> Sequence[int]:
    return [len(clause), *(cell for atom in clause for cell in atom)]


def exchange_clauses(searches: Sequence[LearningRun]) -> None:
    """Pass the new bounds and clauses of each search to all others of the same constraints."""
    if len(searches) < 2:
        return
    exported = [search.exported() for search in searches]
    for listener in searches:
        for teller, clauses in zip(searches, exported, strict=True):
            if teller is not listener and listener.exchange is not None:
                listener.exchange.hear(clauses)
