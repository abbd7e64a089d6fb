"""Messages between a run and its child processes: one JSON object a line, checked when it is read.

Plain JSON is what travels, not msgspec's own: a parameter of a user's function may be infinite.
"""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any, TypeVar

import msgspec

SHOWN_CHARACTERS = 80  # most characters of a line that is shown
Value = int | float | str | bool


class BadMessageError(Exception):
    """A line that is no message, or another one than was expected."""


class Message(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True, tag_field="message"):
    """The base of all messages; ``trial`` is the number of the request that an answer belongs to."""

    trial: int | None = None


class NextLaunch(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A launch that follows the first one.

    Attributes:
        entry: The kernel's name.
        grid: Blocks of the launch.
        block: Threads of a block.
        shared_memory: Dynamic bytes of a block.
        takes: The places of its arguments among all.
    """

    entry: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_memory: int
    takes: tuple[int, ...]


class Order(Message, frozen=True, tag=True):
    """All that children need for a configuration.

    Attributes:
        kind: `cuda`, `ptx`, `triton`, `callable` or `tiling`.
        configuration: The values of the parameters.
        source: The text, or where children find a Python function; empty if machine code stands for it.
        entry: The kernel's name.
        grid: Blocks of a launch.
        block: Threads of a block.
        shared_memory: Dynamic bytes of a block.
        registers: Most registers of a thread, as promised.
        blocks_per_sm: Blocks on an SM, as promised.
        cooperative: Whether the launch is cooperative.
        options: Options of the compiler.
        symbols: Names of constant memory.
        target: The compiler's target.
        cache: Whether machine code is kept.
        signature: Of a Triton function's arguments: kind, type and value.
        path: Folders where modules are found.
        timer: Where a callable's timer is found.
        tells: Whether a callable returns its time.
        candidate: A tiling.
        case: The folder of a tiling's input and reference.
        takes: The places of the first launch's arguments among all; None: all.
        then: The launches that follow, in order.
    """

    kind: str
    configuration: dict[str, Value]
    source: str = ""
    entry: str = ""
    grid: tuple[int, int, int] = (1, 1, 1)
    block: tuple[int, int, int] = (1, 1, 1)
    shared_memory: int = 0
    registers: int | None = None
    blocks_per_sm: int | None = None
    cooperative: bool = False
    options: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    target: str = "sm_80"
    cache: bool = True
    signature: tuple[tuple[str, str, Any], ...] = ()
    path: tuple[str, ...] = ()
    timer: str | None = None
    tells: bool = False
    candidate: dict[str, Any] = {}
    case: str = ""
    takes: tuple[int, ...] | None = None
    then: tuple[NextLaunch, ...] = ()


class OwnLaunch(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The launch of a kernel whose compiler chose it, as Triton does.

    Attributes:
        block: Threads of a block.
        shared_memory: Dynamic bytes of a block.
        types: Of each argument; empty for one that stands in the machine code.
        scratch: Pointers behind the arguments that are null, since the kernel needs no scratch memory.
    """

    block: tuple[int, int, int]
    shared_memory: int
    types: tuple[str, ...]
    scratch: int = 0


class Built(Message, frozen=True, tag=True):
    """A compiled kernel.

    Attributes:
        cubin: The machine code; empty for Triton functions that only Triton can launch, which keeps it.
        lowered: The names in it, in the order of the job's names.
        registers: Of a thread.
        shared_memory: Static bytes of a block.
        spills: Bytes of code that spill registers.
        instructions: Of the kernel's code, loops counted once.
        seconds: Time of the compilation.
        cached: Whether the cubin came from the cache.
        compiler: The compiler's version.
        then: Registers and static bytes of shared memory of the kernels that follow the first.
        launch: The launch, where the compiler chose it.
    """

    cubin: bytes = b""
    lowered: tuple[str, ...] = ()
    registers: int = 0
    shared_memory: int = 0
    spills: int = 0
    instructions: int = 0
    seconds: float = 0.0
    cached: bool = False
    compiler: str = ""
    then: tuple[tuple[int, int], ...] = ()
    launch: OwnLaunch | None = None


class Failed(Message, frozen=True, tag=True):
    """Why there is nothing else.

    Attributes:
        failure: The reason.
        exit_code: That of the error's class.
        lost: Whether the process cannot continue.
        died: Whether the process crashed, hung or gave no answer.
        timed_out: Whether it hung.
        limit: The time limit that was exceeded, in seconds.
        seconds: Time that was spent.
        built: What was built before, without the machine code.
    """

    failure: str
    exit_code: int | None = None
    lost: bool = False
    died: bool = False
    timed_out: bool = False
    limit: float | None = None
    seconds: float = 0.0
    built: Built | None = None


class Watcher(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An observer that the measuring process makes.

    Attributes:
        reference: Where it, or its class, is found.
        given: The arguments that its class is called with.
    """

    reference: str
    given: dict[str, Any] = {}


class SetUp(Message, frozen=True, tag=True):
    """The first message to a measuring process.

    Attributes:
        kind: The kind of kernels.
        plan: The fields of the plan.
        case: The folder of the arguments; of tilings, orders name theirs.
        kernels_root: The kernels folder, of tilings.
        observers: The observers.
        path: Folders where modules are found.
        outputs: The folder where the outputs of each candidate are kept; empty: none are.
    """

    kind: str
    plan: dict[str, Value]
    case: str = ""
    kernels_root: str = ""
    observers: tuple[Watcher, ...] = ()
    path: tuple[str, ...] = ()
    outputs: str = ""


class Facts(Message, frozen=True, tag=True):
    """The device that a child measures on."""

    device: str
    compute_capability: str = ""


class Request(Message, frozen=True, tag=True):
    """One candidate to be measured.

    Attributes:
        order: Its order.
        built: Its machine code, where a compiler made it.
        best: The least time so far, in milliseconds.
    """

    order: Order
    built: Built | None = None
    best: float | None = None


Time = Annotated[float, msgspec.Meta(gt=0, le=sys.float_info.max)]
Distance = Annotated[float, msgspec.Meta(ge=0, le=sys.float_info.max)]


class Timing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Times of a candidate in milliseconds.

    Attributes:
        median: The median.
        fastest: The least.
        spread: The distance of the quartiles over the median.
        samples: How many there are.
        stopped: Whether timing was given up because the candidate is far from the best.
    """

    median: Time
    fastest: Time
    spread: Distance
    samples: Annotated[int, msgspec.Meta(ge=1)]
    stopped: bool = False


class Answer(Message, frozen=True, tag=True):
    """A candidate that was measured.

    Attributes:
        timing: Its times; None if the plan has none.
        seconds: Time that was spent.
        relative_error: Distance from the reference.
        tolerance: The bound of that.
        objectives: What observers and the energy counter told.
        notes: What NVML told.
        built: What was built where it was measured, without the machine code.
    """

    timing: Timing | None
    seconds: float = 0.0
    relative_error: Distance | None = None
    tolerance: Distance | None = None
    objectives: dict[str, float] = {}
    notes: dict[str, float] = {}
    built: Built | None = None


class Finals(Message, frozen=True, tag=True):
    """Candidates to be timed in turns.

    Attributes:
        orders: Their orders.
        builts: Their machine code.
        rounds: Turns.
        samples: Times of a candidate in a turn.
    """

    orders: tuple[Order, ...]
    builts: tuple[Built | None, ...]
    rounds: int
    samples: int


class Turns(Message, frozen=True, tag=True):
    """The times of each candidate in milliseconds."""

    times: tuple[tuple[float, ...], ...]
    seconds: float = 0.0


class BlockOrder(Message, frozen=True, tag=True):
    """A block of a reference to be computed.

    Attributes:
        kernels_root: The kernels folder.
        folder: The folder of the arrays.
        problem: The fields of the request.
        number: The block's.
        heads: Its heads, from and to.
        rows: Its rows of the batch, likewise.
    """

    kernels_root: str
    folder: str
    problem: dict[str, Value]
    number: int
    heads: tuple[int, int]
    rows: tuple[int, int]


class Done(Message, frozen=True, tag=True):
    """A block of a reference is computed."""


REQUESTS: Any = Request | Finals  # what a measuring process is asked
M = TypeVar("M", bound=Message)


def encoded(message: Message, *, finite: bool = False) -> bytes:
    """The line of a message; where numbers must be finite, raises `ValueError` for one that is not."""
    data = msgspec.to_builtins(message, enc_hook=_plain)
    return json.dumps(data, allow_nan=not finite).encode() + b"\n"


def decoded(line: bytes, kind: type[M]) -> M | Failed:
    """The message of a line, or the failure that came instead.

    Raises:
        BadMessageError: The line is no such message; the text names the field and shows the line.
    """
    try:
        if not line.endswith(b"\n"):
            raise ValueError("it was cut off or has no end")
        found: M | Failed = msgspec.convert(json.loads(line.decode("utf-8")), kind | Failed)
        return found
    except (ValueError, RecursionError) as error:  # msgspec's and Unicode's errors are ValueErrors
        raise BadMessageError(f"{error}: {_shown(line)}") from None


def required(line: str, kind: type[M]) -> M:
    """The message of a line that the parent wrote."""
    found = decoded(line.encode(), kind)
    if not isinstance(found, kind):
        raise BadMessageError(f"a failure instead of a message: {_shown(line.encode())}")
    return found


def _plain(value: object) -> object:
    """Numbers of other libraries that are Python's, too, such as numpy's float64."""
    for kind in (int, float, str):
        if isinstance(value, kind):
            return kind(value)
    raise TypeError(f"a message cannot have a value of {type(value).__name__}")


def _shown(line: bytes) -> str:
    text = line[: 4 * SHOWN_CHARACTERS].decode("utf-8", "replace").strip()
    return repr(text if len(text) <= SHOWN_CHARACTERS else text[:SHOWN_CHARACTERS] + "…")
