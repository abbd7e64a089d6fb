"""Notes on a space's restrictions: where they are undefined, and why a space is empty."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from time import perf_counter

import numpy as np

from constrint.diagrams.evaluate import Frame, Parts
from constrint.diagrams.layers import EdgeBudget, TooLargeDiagram, planning
from constrint.diagrams.planner import Condition, Planner
from constrint.diagrams.restrictions import Restriction
from constrint.diagrams.terms import Array, Term, Terms, Unsupported
from constrint.diagrams.tracing import Called
from constrint.support.deadline import Deadline, Stopped, check_deadline, present

MOST_CHECKED = 100_000  # most combinations of values that are checked for undefined restrictions
REASON_SECONDS = 2.0
Given = Sequence[Restriction | Called]
"""The parts of one restriction: all must hold, and each is evaluated only if those before it hold."""


class Remarks:
    """Makes the notes on a space's restrictions.

    Attributes:
        names: The parameters.
        domains: Codes of their values.
        limits: Their least and greatest codes.
        labels: The values of the codes, where codes are not the values themselves.
        restrictions: The restrictions as given, each in parts.
    """

    def __init__(
        self,
        names: Sequence[str],
        domains: Sequence[Array],
        limits: Sequence[tuple[int, int]],
        labels: Mapping[int, Mapping[object, object]],
        restrictions: Sequence[Given],
    ) -> None:
        self.names = names
        self.domains = domains
        self.limits = limits
        self.labels = labels
        self.restrictions = restrictions

    def all(self, empty: bool) -> list[str]:
        """All notes; for an empty space, the last one says why it is empty.

        The search for undefined values and for the reason ends at the deadline of the present call.
        """
        notes: list[str] = []
        try:
            notes.extend(self.called())
            for note in self.undefined():
                notes.append(note)
        except Stopped:
            notes.append("the time limit came before all restrictions were searched for undefined values")
        if empty:
            notes.append(self.why_empty())
        return notes

    def called(self) -> Iterator[str]:
        """Notes on restrictions that could not be traced."""
        for parts in self.restrictions:
            for part in parts:
                if isinstance(part, Called):
                    names = ", ".join(part.names)
                    how = "was evaluated" if part.is_text else "could not be traced and was called"
                    yield f"{part.text} {how} for each combination of {names}"

    def undefined(self) -> Iterator[str]:
        """Notes on restrictions that are undefined for some combination of their parameters."""
        for parts in self.restrictions:
            check_deadline()
            for part in parts:
                if isinstance(part, Called) and part.undefined:
                    where = _shown(part.example)
                    yield (
                        f"{part.text} raised an arithmetic error for {part.undefined} combinations of "
                        f"values, such as {where}: those are not allowed"
                    )
            terms = [part for part in parts if isinstance(part, Restriction)]
            note = self._undefined(terms) if terms else None
            if note:
                yield note

    def _undefined(self, parts: Sequence[Restriction]) -> str | None:
        terms = Terms(tuple(self.domains), tuple(self.limits))
        conditions = [part.term(terms) for part in parts]
        if all(condition.safe for condition in conditions):
            return None
        text = repr(parts[0].text)
        mask = 0
        for condition in conditions:
            mask |= condition.mask
        frame = self._combinations(terms, mask)
        if frame is None:
            return f"{text} may be undefined for some values: those are not allowed"
        rows, table = frame
        bad = np.zeros(rows, dtype=bool)
        alive = np.ones(rows, dtype=bool)
        for condition in conditions:
            defined, holds = _evaluated(table, condition, rows)
            bad |= alive & ~defined
            alive &= defined & holds
        if not bad.any():
            return None
        scope = [v for v in range(len(self.names)) if mask >> v & 1]
        if not scope:
            return f"{text} is undefined: nothing is allowed"
        place = int(np.argmax(bad))
        example = {self.names[v]: self._label(v, table.value(terms.var(v))[place]) for v in scope}
        return (
            f"{text} is undefined for {int(bad.sum()):,} of {rows:,} combinations of values, "
            f"such as {_shown(example)}: those are not allowed"
        )

    def _label(self, v: int, code: object) -> object:
        value = code.item() if isinstance(code, np.generic) else code
        return self.labels[v][value] if v in self.labels else value

    def _combinations(self, terms: Terms, mask: int) -> tuple[int, Frame] | None:
        """All combinations of the values of some parameters as rows; None if there are too many."""
        scope = [v for v in range(len(self.domains)) if mask >> v & 1]
        rows = prod(len(self.domains[v]) for v in scope)
        if rows > MOST_CHECKED:
            return None
        frame = Frame(Parts(terms), 0, mask, {}, None)
        inner = rows
        for v in scope:
            inner //= len(self.domains[v])
            column = np.repeat(self.domains[v], inner)
            frame.put(terms.var(v), np.tile(column, rows // len(column)))
        return rows, frame

    def why_empty(self) -> str:
        """The restrictions that exclude everything: as few as a short search finds."""
        seconds = max(0.0, min(REASON_SECONDS, present().left))
        deadline = perf_counter() + seconds
        guilty = list(self.restrictions)
        for one in guilty:
            if self._excludes_all([one], deadline):
                guilty = [one]
                break
        place = 0
        while len(guilty) > 1 and place < len(guilty):
            fewer = guilty[:place] + guilty[place + 1 :]
            if self._excludes_all(fewer, deadline):
                guilty = fewer
            else:
                place += 1
        texts = [_quoted(parts[0]) for parts in guilty if parts]
        return (
            f"no configuration is valid: {' and '.join(texts)} exclude{'s' if len(texts) == 1 else ''} all "
            f"{prod(len(domain) for domain in self.domains):,} combinations of values"
        )

    def _excludes_all(self, restrictions: Sequence[Given], deadline: float) -> bool:
        """Whether some restrictions are proven to exclude everything; False if that takes too long."""
        conditions: list[Condition] = [part for parts in restrictions for part in parts]
        try:
            with planning(Deadline(deadline - perf_counter())):
                planner = Planner(self.domains, self.limits, conditions)
                return not planner.build(EdgeBudget(1_000_000, 5_000_000, deadline))
        except (TooLargeDiagram, Unsupported):
            return False


def _evaluated(frame: Frame, condition: Term, rows: int) -> tuple[Array, Array]:
    """Two masks over the rows: where a condition is defined, and where it holds."""
    frame.ok = None
    values = np.broadcast_to(np.asarray(frame.value(condition)).astype(bool), rows)
    ok, frame.ok = frame.ok, None
    return np.broadcast_to(np.asarray(True if ok is None else ok), rows), values


def _quoted(part: Restriction | Called) -> str:
    return part.text if isinstance(part, Called) and part.is_text else repr(part.text)


def _shown(values: Mapping[str, object]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in values.items())
