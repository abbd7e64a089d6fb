"""Messages of the Language Server Protocol from a stream, also behind one whose length is wrong.

A message is ``Content-Length: n``, an empty line, and n bytes of JSON. Where those bytes are no JSON, reading
goes on at the next header: what lies between is dropped, and said on standard error.
"""

from __future__ import annotations

import json
import re
from typing import BinaryIO

import click

MOST_BYTES = 64_000_000
"""The longest message that is read, in bytes: a text of 20 million characters and more."""
_MARK = b"Content-Length:"
_HEADER = re.compile(rb"Content-Length:[ \t]*(\d{1,12})[ \t]*\r?\n(?:[^\r\n]+\r?\n)*\r?\n", re.IGNORECASE)
_LONGEST_HEADER = 4096


class Messages:
    """A stream as a reader of messages takes it, with a right header before each."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._kept = b""
        self._body = b""
        self._lines: list[bytes] = []

    def readline(self) -> bytes:
        """A line of a header; empty at the end."""
        if not self._lines:
            body = self._next()
            if body is None:
                return b""
            self._body = body
            self._lines = [b"\r\n", b"%s %d\r\n" % (_MARK, len(body))]
        return self._lines.pop()

    def read(self, length: int = -1) -> bytes:
        """The message behind the header."""
        body, self._body = self._body, b""
        return body

    def _next(self) -> bytes | None:
        """The next message that is JSON; None at the end of the stream."""
        while (length := self._length()) is not None:
            if length > MOST_BYTES:
                _say(f"a message of {length:,} bytes is left out: at most {MOST_BYTES:,} are read")
                continue
            body = self._take(length)
            if _is_json(body):
                return body
            begin = body.find(_MARK)
            if begin > 0 and _is_json(body[:begin]):
                self._kept = body[begin:] + self._kept
                return body[:begin]
            _say(f"{length:,} bytes are no message: reading goes on at the next header")
            self._kept = body + self._kept
        return None

    def _length(self) -> int | None:
        """The length in the next header, which is taken from the stream; None at its end."""
        while True:
            begin = self._kept.find(_MARK)
            self._kept = self._kept[begin if begin >= 0 else -len(_MARK) :]
            found = _HEADER.match(self._kept) if begin >= 0 else None
            if found is not None:
                self._kept = self._kept[found.end() :]
                return int(found[1])
            if begin >= 0 and (len(self._kept) > _LONGEST_HEADER or self._kept.endswith(b"\n\r\n")):
                self._kept = self._kept[len(_MARK) :]  # no length
                continue
            line = self._stream.readline(_LONGEST_HEADER)
            if not line:
                return None
            self._kept += line

    def _take(self, length: int) -> bytes:
        body, self._kept = self._kept[:length], self._kept[length:]
        return body + (self._stream.read(length - len(body)) or b"")


def _is_json(body: bytes) -> bool:
    try:
        return isinstance(json.loads(body), dict)
    except (ValueError, RecursionError):
        return False


def _say(message: str) -> None:
    click.echo(f"constrint lsp: {message}", err=True)
