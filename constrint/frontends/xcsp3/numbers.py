"""Integers, lists of integers, and words of an XCSP3 text, counted before they are built."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, pairwise

from constrint.errors import ModelError
from constrint.expr.domain import Domain
from constrint.support.limits import Budget, LimitExceeded

_INTEGER = re.compile(r"[+-]?[0-9]+\Z")
_RANGE = re.compile(r"([+-]?[0-9]+)\.\.([+-]?[0-9]+)\Z")
_REPEATED = re.compile(r"([+-]?[0-9]+)x([0-9]+)\Z")
_SHOWN = 60  # most characters of a word or text in a message


def shown(text: str) -> str:
    """A text for a message: its start, on one line."""
    text = text.strip()
    words = text[: 4 * _SHOWN].split()
    short = " ".join(words)[:_SHOWN]
    return short if len(short) >= len(text) else f"{short[: _SHOWN - 1]}…" if len(text) > _SHOWN else short


def integer(word: str, budget: Budget) -> int:
    """One integer."""
    word = word.strip()
    if _INTEGER.match(word) is None:
        raise ModelError(f"'{shown(word)}' is not an integer")
    budget.digits(word)
    return int(word)


def count_of(text: str | None, default: int, what: str, budget: Budget) -> int:
    """The integer of an attribute."""
    if text is None or not text.strip():
        return default
    try:
        return integer(text, budget)
    except LimitExceeded:
        raise
    except ModelError as problem:
        raise ModelError(f"{what}: {problem}") from None


def integers(text: str, budget: Budget) -> list[int]:
    """Integers, with the short forms `1..4` for 1 2 3 4 and `0x3` for 0 0 0."""
    found: list[int] = []
    for word in text.split():
        if _INTEGER.match(word):
            budget.values()
            budget.digits(word)
            found.append(int(word))
        elif match := _RANGE.match(word):
            found.extend(_range(match, budget))
        elif match := _REPEATED.match(word):
            times = integer(match[2], budget)
            budget.values(times)
            found.extend([integer(match[1], budget)] * times)
        else:
            raise ModelError(f"'{shown(word)}' is not an integer")
    return found


def _range(match: re.Match[str], budget: Budget) -> range:
    listed = range(integer(match[1], budget), integer(match[2], budget) + 1)
    # The length of a range must fit 64 bits for Python's len().
    budget.values(max(0, listed.stop - listed.start))
    return listed


def domain_of(text: str, budget: Budget) -> Domain:
    """A domain such as `0..9 15 20..22`; a single range is not listed."""
    words = text.split()
    if len(words) == 1 and (match := _RANGE.match(words[0])):
        return Domain.of_range(integer(match[1], budget), integer(match[2], budget))
    parts: list[range] = []
    for word in words:
        if match := _RANGE.match(word):
            parts.append(_range(match, budget))
        else:
            value = integer(word, budget)
            budget.values()
            parts.append(range(value, value + 1))
    parts = [part for part in parts if part.stop > part.start]
    ascending = all(a.stop <= b.start for a, b in pairwise(parts))
    if ascending and any(part.stop > part.start + 1 for part in parts):
        if all(a.stop == b.start for a, b in pairwise(parts)):
            return Domain.of_range(parts[0].start, parts[-1].stop - 1)
        members = tuple(chain.from_iterable(parts))
        return Domain(members[0], members[-1], 1, members)
    return Domain.of_values(chain.from_iterable(parts))


def groups(text: str, what: str, budget: Budget) -> Iterator[list[str]]:
    """The words of each group of a text such as `(1,2)(3,*)`; anything else is an error."""
    place, text = 0, text.strip()
    while place < len(text):
        end = text.find(")", place)
        if text[place] != "(" or end < 0 or text.find("(", place + 1, end) >= 0:
            raise ModelError(f"{what}: '{shown(text[place:])}' is not a group such as (1,2)")
        words = [word.strip() for word in text[place + 1 : end].split(",")]
        budget.values(len(words))
        yield words
        place = end + 1
        while place < len(text) and text[place].isspace():
            place += 1


def words_of(text: str) -> list[str]:
    """The words of a text; a word continues over blanks inside its brackets: `x add(y, 1)`."""
    if "(" not in text:
        return text.split()
    found: list[str] = []
    depth = 0
    for word in text.split():
        if depth:
            found[-1] += word
        else:
            found.append(word)
        depth = max(0, depth + word.count("(") - word.count(")"))
    return found
