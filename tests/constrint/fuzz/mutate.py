"""Mutations of a corpus: bytes and words changed, moved and repeated, numbers and nesting made large."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from random import Random

LONGEST = 40_000  # bytes of a mutated input

_NUMBERS = (
    "0", "-1", "1", "00", "1_0", "0x1F", "127", "255", "65536", "1000000000", "2147483648", "-2147483649",
    "9223372036854775807", "9223372036854775808", "-9223372036854775809", "1000000000000", "1e400", "1.5",
    "NaN", "Infinity", "1" + "0" * 30, "9" * 400, "1" * 4300, "7" * 5000, "１２", "٣",
)  # fmt: skip
_BYTES = (
    b"\x00", b"\xff", b"\xfe\xff", b"\xef\xbb\xbf", b"\r\n", b"\r", b"\n", b"\t", b"\x0b", b"\x0c", b"\x1a",
    b"\x85", b"\xc2\x85", b"\xe2\x80\xa8", b"\xed\xa0\x80", b"\xf0\x9f\x98\x80",
    b"\xcc\x81", b"\xc3\xa9", b" ",
    b"\\", b"\\ud800", b"\\u0000", b"'", b'"', b"`", b"(", b")", b"[", b"]", b"{", b"}", b"<", b">", b"&",
    b";", b",", b":", b"#", b"%", b"/*", b"*/", b"//", b"<!--", b"..", b"**", b"^", b"|", b"=", b"-",
    b"+", b"0",
)  # fmt: skip
_PAIRS = ((b"(", b")"), (b"[", b"]"), (b"{", b"}"), (b"not (", b")"), (b"<a>", b"</a>"), (b"-", b""))


def mutations(samples: Sequence[bytes], count: int, random: Random, words: Sequence[str]) -> Iterator[bytes]:
    """So many inputs, each a sample that was changed one to five times."""
    short = [each for each in samples if len(each) <= LONGEST] or [b""]
    for _ in range(count):
        data = random.choice(short)
        for _ in range(random.choice((1, 1, 1, 2, 2, 3, 5))):
            data = random.choice(_MUTATIONS)(data, random, short, words)[:LONGEST]
        yield data


def _span(data: bytes, random: Random, most: int = 60) -> tuple[int, int]:
    start = random.randint(0, len(data))
    return start, min(len(data), start + random.randint(0, most))


def _flip(data: bytes, random: Random, samples: Sequence[bytes], words: Sequence[str]) -> bytes:
    if not data:
        return bytes([random.randrange(256)])
    place = random.randrange(len(data))
    return data[:place] + bytes([data[place] ^ (1 << random.randrange(8))]) + data[place + 1 :]


def _delete(data: bytes, random: Random, samples: Sequence[bytes], words: Sequence[str]) -> bytes:
    start, end = _span(data, random)
    return data[:start] + data[end:]


def _truncate(data: bytes, random: Random, samples: Sequence[bytes], words: Sequence[str]) -> bytes:
    return data[: random.randint(0, len(data))]


def _insert_bytes(data: bytes, random: Random, samples: Sequence[bytes], words: Sequence[str]) -> bytes:
    place = random.randint(0, len(data))
    return data[:place] + random.choice(_BYTES) + data[place:]


def _insert_word(data: bytes, random: Random, samples: Sequence[bytes], words: Sequence[str]) -> bytes:
    start, end = _span(data, random, random.choice((0, 0, 5)))
    word = random.choice(words).encode("utf-8", "surrogatepass")
    return data[:start] + b" " * random.randrange(2) + word + b" " * random.randrange(2) + data[end:]


def _repeat(data: bytes, random: Random, samples: Sequence[bytes], words: Sequence[str]) -> bytes:
    start, end = _span(data, random, random.choice((1, 3, 10, 60)))
    times = random.choice((2, 2, 3, 10, 100, 1_000, 20_000))
    return data[:end] + data[start:end] * min(times, LONGEST // max(1, end - start)) + data[end:]


def _swap(data: bytes, random: Random, samples: Sequence[bytes], words: Sequence[str]) -> bytes:
    lines = data.split(b"\n")
    a, b = random.randrange(len(lines)), random.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]
    return b"\n".join(lines)


def _double_line(data: bytes, random: Random, samples: Sequence[bytes], words: Sequence[str]) -> bytes:
    lines = data.split(b"\n")
    place = random.randrange(len(lines))
    return b"\n".join([*lines[: place + 1], *lines[place:]])


def _splice(data: bytes, random: Random, samples: Sequence[bytes], words: Sequence[str]) -> bytes:
    other = random.choice(samples)
    start, end = _span(other, random, 300)
    place = random.randint(0, len(data))
    return data[:place] + other[start:end] + data[place:]


def _number(data: bytes, random: Random, samples: Sequence[bytes], words: Sequence[str]) -> bytes:
    found = list(re.finditer(rb"-?\d+", data))
    new = random.choice(_NUMBERS).encode()
    if not found:
        return data + new
    old = random.choice(found)
    return data[: old.start()] + new + data[old.end() :]


def _nest(data: bytes, random: Random, samples: Sequence[bytes], words: Sequence[str]) -> bytes:
    opening, closing = random.choice(_PAIRS)
    times = random.choice((2, 10, 100, 400, 600, 3_000, 12_000))
    start, end = _span(data, random, 20)
    if random.random() < 0.5:  # around something that is a value
        words_there = list(re.finditer(rb"\w+", data))
        if words_there:
            start, end = random.choice(words_there).span()
    return data[:start] + opening * times + data[start:end] + closing * times + data[end:]


def _exchange(data: bytes, random: Random, samples: Sequence[bytes], words: Sequence[str]) -> bytes:
    """One word in place of another that stands there."""
    found = list(re.finditer(rb"\w+|[^\w\s]+", data))
    if len(found) < 2:
        return data
    old, new = random.choice(found), random.choice(found)
    return data[: old.start()] + new.group() + data[old.end() :]


_MUTATIONS: tuple[Callable[[bytes, Random, Sequence[bytes], Sequence[str]], bytes], ...] = (
    _flip, _delete, _truncate, _insert_bytes, _insert_bytes, _insert_word, _insert_word, _repeat, _swap,
    _double_line, _splice, _number, _number, _nest, _exchange, _exchange,
)  # fmt: skip
