"""A child process's side of the lines that it answers; imports little, so that children start soon."""

from __future__ import annotations

import os
from typing import TextIO

from kerneltune.messages import Message, encoded

MOST_LINE_BYTES = 1 << 20  # bytes of a line; an answer has some hundreds


def private_stdout() -> TextIO:
    """A standard output for answers only: whatever libraries print goes to standard error."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return answers


def say(answers: TextIO, answer: Message) -> None:
    """Send an answer; raises `ValueError` for a number that JSON does not have."""
    answers.write(encoded(answer, finite=True).decode())
    answers.flush()
