"""`ReadingSettings`: which statements of a text are read without their trees, and what is kept of texts."""

from __future__ import annotations

from constrint.settings.record import Record


class ReadingSettings(Record):
    """Settings of `constrint.frontends.text`."""

    # Statements with more nested operators and brackets are read by their trees: nearly none of a long text,
    # and plain reading must not come near Python's limit of recursion.
    most_nesting: int = 40
    longest_number: int = 18  # digits, which int64 holds; longer numbers are counted when they are read
    # Words in all statements whose shapes are kept by the process: some 50 MB.
    most_kept: int = 200_000
    # Statements of shorter texts are kept: the same text is often read again, with other constants.
    longest_known: int = 20_000
