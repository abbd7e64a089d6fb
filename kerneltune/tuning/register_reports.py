"""Registers of configurations that were compiled, and the fewest that others will take.

Parameters that the compiled text does not contain leave the machine code as it is. Of the others, reports
that differ in one parameter alone say by how much registers fall when it grows or shrinks. Where enough of
them are known, a report bounds the registers of other configurations from below.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from kerneltune.searching.protocol import Configuration

LEAST_PAIRS = 3  # comparisons of a parameter before anything is concluded from it
SAFETY = 2  # registers may fall by so many times what was seen
STEP = 8  # registers of a thread are allocated in steps of 8; a bound that is no report gives up one
MOST_REPORTS = 1000  # reports that are kept
Value = int | float | str | bool


@dataclass(frozen=True)
class Bound:
    """The fewest registers of a configuration.

    Attributes:
        registers: They.
        of: The compiled configuration that says so.
        reported: Its registers.
        changed: The parameters in which they differ, of those that the compiled text contains, and
            `registers` if the compiler was told another limit.
    """

    registers: int
    of: Configuration
    reported: int
    changed: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """Where the number comes from."""
        listed = ", ".join(f"{name}={value}" for name, value in self.of.items())
        if not self.changed:
            return f"{self.registers} registers, as the same code of {listed}"
        return f"at least {self.registers} registers, since {listed} takes {self.reported}"


@dataclass
class _Slope:
    """How registers change with one parameter, others equal.

    Attributes:
        pairs: Number of comparisons.
        growing: The most registers that were lost from a value to a larger one.
        shrinking: The same to a smaller one.
        seen: The values of the pairs.
    """

    pairs: int = 0
    growing: int = 0
    shrinking: int = 0
    seen: set[Value] = field(default_factory=set)


class RegisterReports:
    """Reports of a kernel's configurations.

    Args:
        used: The parameters that the compiled text contains.
        obeys_limit: Whether the compiler keeps to the limit of registers that it is given.
    """

    def __init__(self, used: Iterable[str], *, obeys_limit: bool = True) -> None:
        self._used = tuple(used)
        self._obeys_limit = obeys_limit
        self._known: dict[tuple[Value, ...], tuple[Configuration, int, int | None]] = {}
        self._slopes: dict[str, _Slope] = defaultdict(_Slope)

    def add(self, configuration: Configuration, registers: int, limit: int | None = None) -> None:
        """Take a report.

        Args:
            configuration: What was compiled.
            registers: Of a thread.
            limit: The most that the compiler was told to use.
        """
        limit = limit if self._obeys_limit else None
        code = self._code(configuration)
        if code in self._known or len(self._known) >= MOST_REPORTS:
            return
        for other, (_, known, its_limit) in self._known.items():
            differing = [place for place, value in enumerate(code) if value != other[place]]
            if len(differing) == 1 and limit == its_limit:
                self._compare(differing[0], (other, known), (code, registers))
        self._known[code] = dict(configuration), registers, limit

    def _code(self, configuration: Mapping[str, Value]) -> tuple[Value, ...]:
        return tuple(configuration[name] for name in self._used)

    def _compare(
        self, place: int, one: tuple[tuple[Value, ...], int], other: tuple[tuple[Value, ...], int]
    ) -> None:
        values = one[0][place], other[0][place]
        if isinstance(values[0], str) or isinstance(values[1], str):
            return
        slope = self._slopes[self._used[place]]
        slope.pairs += 1
        slope.seen |= set(values)
        lost = one[1] - other[1] if values[0] < values[1] else other[1] - one[1]
        slope.growing, slope.shrinking = max(slope.growing, lost), max(slope.shrinking, -lost)

    def least(self, configuration: Configuration, limit: int | None = None) -> Bound | None:
        """The fewest registers of a configuration; None if the reports do not say.

        Args:
            configuration: The configuration.
            limit: The most registers that the compiler will be told to use.
        """
        limit = limit if self._obeys_limit else None
        code, best = self._code(configuration), None
        if code in self._known and self._known[code][2] == limit:
            same, registers, _ = self._known[code]
            return Bound(registers, same, registers)
        for other, (known, registers, its_limit) in self._known.items():
            lost, changed = self._lost(other, code)
            if lost is None:
                continue
            found = registers - lost
            if limit != its_limit:
                found = min(found, limit if limit is not None else found)
                changed = (*changed, "registers")
            if best is None or found > best.registers:
                best = Bound(found, known, registers, changed)
        return best

    def _lost(self, known: tuple[Value, ...], code: tuple[Value, ...]) -> tuple[int | None, tuple[str, ...]]:
        """The most registers that a configuration may take fewer than a known one; None: it may be any."""
        lost, changed = 0, []
        for place, (one, other) in enumerate(zip(known, code, strict=True)):
            if one == other:
                continue
            name = self._used[place]
            slope = self._slopes.get(name)
            if slope is None or slope.pairs < LEAST_PAIRS or not {one, other} <= slope.seen:
                return None, ()
            assert not isinstance(one, str)
            assert not isinstance(other, str)
            lost += SAFETY * (slope.growing if one < other else slope.shrinking)
            changed.append(name)
        return lost + (STEP if changed else 0), tuple(changed)
