"""Limits of reading: `Limits` for a text or file, and `Budget`, which counts while it is read.

Every reader takes `Limits`, makes one `Budget`, and checks it before building what the text describes.
Exceeding a limit of size is an input error, `LimitExceeded`; reaching a limit of time or memory is a
`LimitError`, as in a search.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from threading import Lock
from typing import TYPE_CHECKING, BinaryIO, NoReturn, TypeAlias

from constrint.errors import LimitError, ModelError, Position
from constrint.support.arguments import check_bytes, check_seconds
from constrint.support.deadline import NEVER, Deadline
from constrint.support.files import MOST_BYTES, PATIENCE, PIECE, damaged, opened

if TYPE_CHECKING:
    from pathlib import Path

Where: TypeAlias = str | Position | Callable[[], str | Position]
"""A place for a message; a function is called only if there is a message."""

_WHAT = {
    "depth": "this is nested more than {limit} deep",
    "digits": "this number has more than {limit} digits",
    "variables": "the model has more than {limit} variables",
    "values": "the model lists more than {limit} values and cells of tables",
    "nodes": "the model has more than {limit} operators and operands",
    "bytes": "this has more than {limit} bytes",
    "steps": "reading takes more than {limit} steps beyond one for each byte",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """Limits of the size of a model that is read; None means no limit.

    What is written out takes a byte each, so the limit of bytes bounds it; the others bound what short texts
    expand to. Hence the limits of variables, values and nodes, where they have their default, are at least
    the number of bytes of the texts.

    Attributes:
        depth: Nesting of brackets, lists, blocks, elements, and of operators in an expression.
        digits: Digits of a number as written; computed constants may have ten times as many.
        variables: Variables of the model, including those of arrays.
        values: Values listed in domains, sets and lists, and cells of tables, over the whole model.
        nodes: Operators and operands of all expressions, after templates, loops and groups are expanded.
        bytes: Size of the text or file.
        steps: Steps of reading beyond one for each byte of the texts: operators and operands read, choices of
            generators tried, calls of the text's functions, elements of lists taken again. A step takes some
            2 µs, so a short text is read or refused within 3 s; a long one may take longer in proportion.
    """

    depth: int | None = 500
    digits: int | None = 4_000
    variables: int | None = 1_000_000
    values: int | None = 10_000_000
    nodes: int | None = 5_000_000
    bytes: int | None = MOST_BYTES
    steps: int | None = 1_000_000

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None and (type(value) is not int or value < 1):
                raise ModelError(
                    f"Limits({field.name}=…) must be an integer of at least 1, or None, not {value!r}"
                )


DEFAULT = Limits()
_VALUES_OF_STEP = 8  # numbers of a long list, which are read together
_ELEMENTS_OF_STEP = 4  # entries that are taken from a list together
_BYTES_OF_VALUE, _BYTES_OF_VARIABLE = 100, 300  # that listed numbers and variables of arrays take
_FRAMES_OF_DEPTH = 50  # calls for one pair of brackets: all ranks of operators stand between it and the next
_VERY_DEEP = 20_000  # levels, where there is no limit


class LimitExceeded(ModelError):  # noqa: N818 - what happened, as in `LimitExceeded: model.json: …`
    """A text or file exceeds its `Limits`.

    Attributes:
        name: Name of the limit, as in `Limits`.
        limit: Its value.
        where: The place, such as ``model.constrint:3:7``; may be empty.
    """

    def __init__(self, name: str, limit: int, where: str = "") -> None:
        self.name = name
        self.limit = limit
        self.where = where
        self.message = _WHAT[name].format(limit=f"{limit:,}")
        self.hint = f"raise the limit: limits=Limits({name}=…) in Python, --max-{name} N on the command line"
        super().__init__(
            f"{where}: {self.message}\nhint: {self.hint}" if where else f"{self.message}: {self.hint}"
        )

    def __reduce__(self) -> tuple[type[LimitExceeded], tuple[str, int, str]]:
        return type(self), (self.name, self.limit, self.where)


class ReadingStopped(LimitError):  # noqa: N818 - what happened
    """The time or memory limit was reached while a text or file was being read."""


class Budget:
    """Counts the contents of a text while it is read, and checks the clock and the memory at intervals.

    Each method raises `LimitExceeded` with the place if its limit is exceeded, and `ReadingStopped` if the
    deadline has passed or the memory is used up.

    Args:
        limits: The limits; `Limits()` by default.
        deadline: End of reading.
        memory: Bytes by which the process may grow while it reads; None for no limit.

    Attributes:
        here: The place that is read, where a call gives none.
    """

    STEPS_OF_CHECK = 500  # counted items between two checks of the clock

    __slots__ = (
        "_deadline",
        "_memory",
        "_most",
        "_seen",
        "_steps",
        "_written",
        "here",
        "limits",
        "node_count",
        "value_count",
        "variable_count",
    )

    def __init__(
        self, limits: Limits | None = None, deadline: Deadline = NEVER, memory: int | None = None
    ) -> None:
        self.limits = limits or DEFAULT
        self.node_count = self.value_count = self.variable_count = 0
        self._deadline = deadline
        self._memory = memory
        self._most = None if memory is None else (resident_bytes() or 0) + memory
        self.here: Where = ""
        self._seen = 0
        self._steps = 0
        self._written = 0  # bytes of texts, each of which allows a step

    @property
    def deadline(self) -> Deadline:
        """The deadline of reading."""
        return self._deadline

    @property
    def memory(self) -> int | None:
        """Bytes by which the process may grow, or None."""
        return self._memory

    @property
    def frames(self) -> int:
        """Nested calls that a reader needs for the greatest allowed depth."""
        depth = self.limits.depth
        return _FRAMES_OF_DEPTH * (depth if depth is not None else _VERY_DEEP)

    @property
    def seconds_left(self) -> float | None:
        """Seconds left; None if there is no limit."""
        return max(0.0, self._deadline.left) if self._deadline.is_set else None

    def _expands(self, count: int, limit: int, default: int | None) -> bool:
        """Whether a count that is beyond its limit is more than what is written, or the limit was given."""
        return limit != default or count > self._written

    def depth(self, n: int, where: Where = "") -> None:
        """Count an item at depth `n`."""
        limit = self.limits.depth
        if limit is not None and n > limit:
            raise exceeded("depth", limit, where)

    def digits(self, text: str | int, where: Where = "") -> None:
        """Count a number with this text, or with this many digits."""
        limit = self.limits.digits
        if limit is not None and (len(text) if isinstance(text, str) else text) > limit:
            raise exceeded("digits", limit, where)

    def node(self, n: int = 1, where: Where = "") -> None:
        """Count `n` more operators and operands."""
        self.node_count += n
        limit = self.limits.nodes
        if (
            limit is not None
            and self.node_count > limit
            and self._expands(self.node_count, limit, DEFAULT.nodes)
        ):
            raise exceeded("nodes", limit, where)
        self.count_steps(n, where)

    def variable(self, n: int = 1, where: Where = "") -> None:
        """Count `n` more variables."""
        self.variable_count += n
        limit = self.limits.variables
        if (
            limit is not None
            and self.variable_count > limit
            and self._expands(self.variable_count, limit, DEFAULT.variables)
        ):
            raise exceeded("variables", limit, where)
        self._foresee(n * _BYTES_OF_VARIABLE, where)
        self.count_steps(n, where)

    def values(self, n: int = 1, where: Where = "") -> None:
        """Count `n` more listed values or cells of tables."""
        self.value_count += n
        limit = self.limits.values
        if (
            limit is not None
            and self.value_count > limit
            and self._expands(self.value_count, limit, DEFAULT.values)
        ):
            raise exceeded("values", limit, where)
        self._foresee(n * _BYTES_OF_VALUE, where)
        self.count_steps(1 + n // _VALUES_OF_STEP, where)

    def elements(self, n: int, where: Where = "") -> None:
        """Count `n` elements of a list, set or array that a name stands for and a statement takes again."""
        self.count_steps(1 + n // _ELEMENTS_OF_STEP, where)

    def size(self, n: int, where: Where = "") -> None:
        """Note that the texts read so far have `n` bytes."""
        limit = self.limits.bytes
        if limit is not None and n > limit:
            raise exceeded("bytes", limit, where)
        self._written = max(self._written, n)
        self.check(where)

    def count_steps(self, n: int = 1, where: Where = "") -> None:
        """Count `n` steps; checks their number, the clock and the memory at intervals."""
        self._seen += n
        if self._seen >= self.STEPS_OF_CHECK:
            self.check(where)

    def _foresee(self, size: int, where: Where) -> None:
        """Refuse what would take more memory than is left before it is made."""
        if self._most is not None and size > PIECE and (resident_bytes() or 0) + size > self._most:
            self._stop_for_memory(where)

    def _stop_for_memory(self, where: Where) -> NoReturn:
        raise ReadingStopped(
            _at(where) + f"reading the model takes more than the memory limit of {self._memory:,} bytes"
        )

    def check(self, where: Where = "") -> None:
        """Check the number of steps, the clock and the memory."""
        self._steps += self._seen
        self._seen = 0
        limit = self.limits.steps
        if limit is not None and self._steps > limit + self._written:
            raise exceeded("steps", limit, where or self.here)
        if self._deadline.is_set and self._deadline.left < 0:
            raise ReadingStopped(_at(where) + "the time limit was reached while the model was being read")
        if self._most is not None and (resident_bytes() or 0) > self._most:
            self._stop_for_memory(where)


def budget_for(
    limits: Limits | None = None, time_limit: float | None = None, memory_limit: int | None = None
) -> Budget:
    """The budget of one call, from its limits, seconds, and bytes of growth."""
    if limits is not None and not isinstance(limits, Limits):
        raise ModelError(f"limits must be a Limits or None, not {limits!r}: write such as Limits(depth=1000)")
    check_seconds(time_limit)
    check_bytes(memory_limit)
    if memory_limit is not None and resident_bytes() is None:
        raise ModelError(
            f"a memory limit is held by {_STATM}, which this system does not have: leave the limit out, or "
            "bound what is read, such as by Limits(nodes=…) or --max-nodes"
        )
    return Budget(limits, Deadline(time_limit), None if memory_limit is None else int(memory_limit))


def read_bytes(path: str | Path, budget: Budget) -> bytes:
    """The bytes of a file, pipe or finite device, expanded where it is compressed, within the limits.

    Raises `OSError` if it cannot be read.
    """
    left = budget.seconds_left
    try:
        with opened(path, PATIENCE if left is None else min(PATIENCE, left)) as file:
            return read_stream(file, budget, str(path))
    except Exception as error:
        problem = damaged(error, str(path))
        if problem is None:
            raise
        raise problem from None


def read_stream(stream: BinaryIO, budget: Budget, name: str) -> bytes:
    """The remaining bytes of a stream; see `read_bytes`."""
    pieces, length = [], 0
    while piece := stream.read(PIECE):
        pieces.append(piece)
        length += len(piece)
        budget.size(length, name)
    return b"".join(pieces)


def decoded(raw: bytes, filename: str) -> str:
    """The text of UTF-8 bytes, without a byte order mark; raises `ModelError` for anything else."""
    try:
        return raw.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise ModelError(f"{filename}:{line}: this is not UTF-8 text") from None


def exceeded(name: str, limit: int, where: Where = "") -> LimitExceeded:
    """The error for a limit at a place."""
    place = where() if callable(where) else where
    return LimitExceeded(name, limit, str(place))


def _at(where: Where) -> str:
    place = str(where() if callable(where) else where)
    return f"{place}: " if place else ""


_STATM = "/proc/self/statm"


def resident_bytes() -> int | None:
    """Resident memory of the process in bytes; None if the system does not report it."""
    try:
        with open(_STATM, "rb") as file:
            pages = int(file.read().split()[1])
    except (OSError, ValueError, IndexError):
        return None
    return pages * 4096 if _PAGE is None else pages * _PAGE


def _page_size() -> int | None:
    try:
        from resource import getpagesize
    except ImportError:
        return None
    return getpagesize()


_PAGE = _page_size()
_lock = Lock()
_deep: list[int] = []  # recursion limits that running walks need
_usual = 0


class recursion_room:  # noqa: N801 - read as a word of a `with` statement
    """Raise the recursion limit for walks over nested structures; several threads may do so.

    Python-to-Python calls take no machine stack, so their number is limited by memory alone.
    """

    __slots__ = ("_wanted",)

    def __init__(self, frames: int) -> None:
        self._wanted = _frames_now() + frames + 200

    def __enter__(self) -> None:
        global _usual
        with _lock:
            if not _deep:
                _usual = sys.getrecursionlimit()
            _deep.append(self._wanted)
            sys.setrecursionlimit(max(_usual, *_deep))

    def __exit__(self, *raised: object) -> None:
        with _lock:
            _deep.remove(self._wanted)
            sys.setrecursionlimit(max([_usual, *_deep]))


def _frames_now() -> int:
    frame, n = sys._getframe(), 0
    while frame.f_back is not None:
        frame, n = frame.f_back, n + 1
    return n
