"""Messages of editors are read behind those whose length is wrong."""

from __future__ import annotations

import json
from io import BytesIO

import pytest

from constrint.cli.framing import MOST_BYTES, Messages


def body(number: int, text: str = "") -> bytes:
    return json.dumps({"id": number, "text": text}).encode()


def framed(content: bytes, length: int | None = None, more: bytes = b"") -> bytes:
    return b"Content-Length: %d\r\n%s\r\n%s" % (len(content) if length is None else length, more, content)


def received(raw: bytes) -> list[int]:
    """The numbers of the messages that come through, read as pygls reads them."""
    stream, found = Messages(BytesIO(raw)), []
    while line := stream.readline():
        assert line.startswith(b"Content-Length: ")
        assert stream.readline() == b"\r\n"
        length = int(line.split(b":")[1])
        content = stream.read(length)
        assert len(content) == length
        found.append(json.loads(content)["id"])
    return found


def test_right_messages_pass() -> None:
    raw = (
        framed(body(1))
        + framed(body(2, "Content-Length: 3\r\n\r\n"), more=b"Content-Type: x\r\n")
        + framed(body(3))
    )
    assert received(raw) == [1, 2, 3]
    assert received(b"") == []


@pytest.mark.parametrize("by", [-30, -7, -2, -1, 1, 2, 7, 25, 60, 90, 1000])
def test_the_next_message_is_found_behind_a_wrong_length(by: int) -> None:
    wrong = body(2, "a" * 40)
    raw = (
        framed(body(1)) + framed(wrong, len(wrong) + by) + framed(body(3)) + framed(body(4)) + framed(body(5))
    )
    found = received(raw)
    assert found[0] == 1
    assert found == sorted(set(found))
    if by < 1000:
        assert {4, 5} <= set(found)


@pytest.mark.parametrize(
    "junk",
    [
        b"junk\r\n", b"Content-Length: x\r\n\r\n", b"Content-Length: -4\r\n\r\n{}",
        b"Content-Length:\r\n\r\n", b"Content-Length: 5\r\n" * 400,
        framed(b"no JSON"), framed(b"[1, 2]"), framed(b"[" * 5000), framed(b"{}", MOST_BYTES + 1),
        b"\0" * 10_000,
        b"Content-Length: 99999999999999999999\r\n\r\n", b"x" * 10_000 + b"\r\n",
    ],
)  # fmt: skip
def test_junk_is_left_out(junk: bytes) -> None:
    assert received(framed(body(1)) + junk + framed(body(2)) + framed(body(3)))[-1] == 3
    assert received(framed(body(1)) + junk)[0] == 1
