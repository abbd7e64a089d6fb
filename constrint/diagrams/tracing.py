"""Callables as restrictions: called once with symbols instead of numbers, if that shows all they do.

A callable that needs the truth value of a symbol (`if`, `and`, `or`, a comparison chain) cannot be traced; it
is called with the values of its parameters instead, once for each combination that is reached.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from constrint.diagrams.restrictions import Parameters, Restriction, split
from constrint.diagrams.terms import BOOL, OBJECT, Array, Term, Terms
from constrint.diagrams.traced_symbols import Symbol, tree_of, watched
from constrint.errors import ModelError
from constrint.support.deadline import check_deadline

_NO_NUMBERS = np.zeros(1, dtype=np.int64)

TRIED = 200  # trial calls that find out which parameters a callable reads


class _Hidden(Exception):  # noqa: N818 - a signal that names the parameter
    """A callable reads a parameter that it did not read in the trial calls."""


def _noting_all(name: str) -> Any:
    """A method of dicts that depends on all entries."""
    method = getattr(dict, name)

    def noting(self: _Record, *given: object) -> object:
        self._note_all()
        return method(self, *given)

    return noting


class _Record(dict[str, Any]):
    """Parameters by name or attribute; records which are read, and refuses those that it was not given."""

    def __init__(self, values: dict[str, object], hidden: Collection[str] = ()) -> None:
        super().__init__(values)
        self.read: dict[str, None] = {}
        self.hidden = hidden

    def _note(self, name: Any) -> None:
        if name in self.hidden:
            raise _Hidden(name)
        self.read[name] = None

    def _note_all(self) -> None:
        for name in (*self.hidden, *dict.keys(self)):
            self._note(name)

    def __getitem__(self, name: str) -> Any:
        self._note(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        """As a dict's."""
        self._note(name)
        return super().get(name, default)

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __contains__(self, name: object) -> bool:
        self._note(name)
        return super().__contains__(name)

    __iter__, __reversed__, __len__ = map(_noting_all, ("__iter__", "__reversed__", "__len__"))
    __eq__, __ne__ = map(_noting_all, ("__eq__", "__ne__"))
    keys, values, items, copy = map(_noting_all, ("keys", "values", "items", "copy"))
    __or__, __ror__, __repr__ = map(_noting_all, ("__or__", "__ror__", "__repr__"))
    pop, popitem, setdefault = map(_noting_all, ("pop", "popitem", "setdefault"))
    __hash__ = None  # as a dict


@dataclass
class Called:
    """A restriction that can only be called.

    Attributes:
        function: The callable.
        names: The parameters that it takes, or reads.
        by_name: Whether they are its arguments; otherwise it takes one mapping.
        parameters: All parameters.
        text: Its name in messages.
        scope: Set of its parameters.
        is_text: Whether it was given as text.
        undefined: Number of calls that raised an arithmetic error, which counts as not allowed.
        example: The values of the first such call.
    """

    function: Callable[..., Any]
    names: list[str]
    by_name: bool
    parameters: Parameters
    text: str
    scope: int = 0
    is_text: bool = False
    undefined: int = 0
    example: dict[str, object] = field(default_factory=dict)
    _known: dict[tuple[Any, ...], bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.names:
            self.scope |= 1 << self.parameters.numbers[name]

    def term(self, terms: Terms) -> Term:
        """The term of the restriction."""
        numbers = [self.parameters.numbers[name] for name in self.names]
        return terms.call(self._rows, [terms.var(v) for v in numbers])

    def _rows(self, columns: Sequence[object]) -> tuple[Array, None]:
        lists = [_codes(column) for column in columns]
        rows = max((len(codes) for codes in lists if isinstance(codes, list)), default=1)
        full = [codes if isinstance(codes, list) else [codes] * rows for codes in lists]
        known = self._known
        found = np.empty(rows, dtype=BOOL)
        for i, row in enumerate(zip(*full, strict=True) if full else [()] * rows):
            holds = known.get(row)
            if holds is None:
                check_deadline()
                holds = known[row] = self._holds(row)
            found[i] = holds
        return found, None

    def _label(self, name: str, code: object) -> object:
        labels = self.parameters.labels.get(self.parameters.numbers[name])
        return code if labels is None else labels[code]

    def _holds(self, row: Sequence[object]) -> bool:
        values = {name: self._label(name, code) for name, code in zip(self.names, row, strict=True)}
        try:
            if self.by_name:
                return bool(self.function(**values))
            hidden = self.parameters.numbers.keys() - values.keys()
            return bool(self.function(_Record(values, hidden)))
        except ArithmeticError:
            self.undefined += 1
            self.example = self.example or values
            return False
        except _Hidden as problem:
            raise ModelError(
                f"restriction {self.text} reads '{problem}' for some values only: give it named arguments, "
                "such as `lambda block_x, block_y: …`, so that it is known what it depends on"
            ) from problem
        except Exception as problem:
            raise ModelError(f"restriction {self.text} raised {problem!r} for {values}") from problem


def _codes(column: object) -> object:
    """The codes of a column as a list, or one code for all rows."""
    if isinstance(column, np.ndarray):
        return column.tolist()
    return column.item() if isinstance(column, np.generic) else column


def trace(
    function: Callable[..., object], parameters: Parameters, values: Sequence[Sequence[object]]
) -> list[Restriction] | Called:
    """A callable as traced restrictions, or as one that is called.

    Args:
        function: Takes parameters by their names, or one mapping of all of them.
        parameters: The parameters.
        values: The values of each parameter, by number.

    Returns:
        The traced parts; otherwise the callable with the parameters on which it depends.
    """
    text = _text_of(function)
    names = _argument_names(function)
    by_name = bool(names) and all(name in parameters.numbers for name in names)
    if not by_name and len(names) != 1:
        unknown = ", ".join(name for name in names if name not in parameters.numbers) or "none"
        raise ModelError(
            f"restriction {text}: its arguments must be parameters, or one mapping of all; unknown: {unknown}"
        )
    symbols = {name: Symbol(ast.Name(name)) for name in parameters.numbers}
    try:
        arguments = {name: symbols[name] for name in names} if by_name else {}
        given = () if by_name else (_Record(dict(symbols)),)
        answer = watched(lambda: function(*given, **arguments))
        restrictions = split(tree_of(answer), parameters, text)
        for restriction in restrictions:
            _ = restriction.scope
        if is_understood(restrictions, len(values), values):
            return restrictions
    except Exception:
        pass
    reads = names if by_name else _read(function, parameters, values, text)
    return Called(function, list(reads), by_name, parameters, text)


def is_understood(restrictions: Sequence[Restriction], count: int, values: Sequence[Sequence[Any]]) -> bool:
    """Whether each part has a term, tried on the parameters' codes; raises `ModelError` otherwise."""
    if all(restriction.is_plain for restriction in restrictions):
        return True
    lists: list[Any] = []
    limits: list[tuple[int, int]] = []
    mentioned = 0
    for restriction in restrictions:
        mentioned |= restriction.scope
    for v in range(count):
        if not mentioned >> v & 1:
            lists.append(_NO_NUMBERS)
            limits.append((0, 0))
            continue
        labels = restrictions[0].parameters.labels.get(v)
        numbers = sorted(labels) if labels is not None else sorted(values[v])
        integers = not any(isinstance(number, float) for number in numbers)
        # Numpy would convert some of them to floats.
        wide = integers and max(-numbers[0], numbers[-1]) >= 1 << 62
        lists.append(np.array(numbers, dtype=OBJECT if wide else None))
        limits.append((int(numbers[0]), int(numbers[-1])) if integers else (0, 0))
    terms = Terms(lists, limits)
    for restriction in restrictions:
        check_deadline()
        restriction.term(terms)
    return True


def _argument_names(function: Callable[..., object]) -> list[str]:
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    signature = inspect.signature(function)
    return [
        name
        for name, parameter in signature.parameters.items()
        if parameter.kind in kinds and parameter.default is inspect.Parameter.empty
    ]


def _text_of(function: Callable[..., object]) -> str:
    name = getattr(function, "__name__", type(function).__name__)
    code = getattr(function, "__code__", None)
    return f"{name} ({code.co_filename}:{code.co_firstlineno})" if code is not None else str(name)


def _read(
    function: Callable[..., object], parameters: Parameters, values: Sequence[Sequence[object]], text: str
) -> list[str]:
    """The parameters that a callable of one mapping reads: seen in trial calls, or named in its code."""
    code = getattr(function, "__code__", None)
    constants = set(itertools.chain(code.co_consts, code.co_names)) if code is not None else set()
    read = {name: None for name in parameters.numbers if name in constants}
    for row in spread(values, TRIED):
        check_deadline()
        record = _Record(dict(zip(parameters.numbers, row, strict=True)))
        try:
            function(record)
        except ArithmeticError:
            pass
        except Exception as problem:
            raise ModelError(f"restriction {text} raised {problem!r} for {dict(record)}") from problem
        read.update({name: None for name in record.read if name in parameters.numbers})
    return [name for name in parameters.numbers if name in read]


def spread(values: Sequence[Sequence[object]], count: int) -> Iterator[tuple[object, ...]]:
    """At most `count` assignments spread over all values; the same in every run."""
    if math.prod(map(len, values)) <= count:
        yield from itertools.product(*values)
        return
    for i in range(count):
        places = [(i * (7 * v + 1) + i // len(column)) % len(column) for v, column in enumerate(values)]
        yield tuple([column[place] for column, place in zip(values, places, strict=True)])
