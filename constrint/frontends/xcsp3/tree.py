"""The elements of an XCSP3 text with their lines, read piece by piece within limits.

Entities are refused: instances do not need them, and a short text with entities may stand for an arbitrarily
long one, or for another file.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element
from xml.parsers import expat

from constrint.errors import ParseError
from constrint.support.limits import Budget

_PIECE = 1 << 18  # characters between two checks of the clock


class XmlElement(Element):
    """An element; its text is the one before its first part.

    Attributes:
        line: The line on which it begins, from 1.
    """

    line = 1


def parse(text: str, filename: str, budget: Budget) -> XmlElement:
    """The root element of a text.

    Args:
        text: The XML; its declared encoding is ignored.
        filename: Its name in messages.
        budget: The limits of reading.

    Returns:
        The root.

    Raises:
        ParseError: The text is not XML; has line and column.
    """
    return _TreeBuilder(text, filename, budget).root()


class _TreeBuilder:
    def __init__(self, text: str, filename: str, budget: Budget) -> None:
        self._text = text
        self._filename = filename
        self._budget = budget
        self._open: list[XmlElement] = []
        self._said: list[str] = []  # text of the innermost open element, as long as it has no part
        self._root: XmlElement | None = None
        # The text is decoded already, whatever its declaration says.
        self._parser = parser = expat.ParserCreate("utf-8")
        parser.buffer_text = True
        parser.buffer_size = _PIECE
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._said.append
        parser.EntityDeclHandler = self._entity

    def root(self) -> XmlElement:
        try:
            for start in range(0, len(self._text), _PIECE):
                self._parser.Parse(self._encoded(start), False)
                self._budget.check(self._here)
            self._parser.Parse(b"", True)
        except expat.ExpatError as problem:
            said = expat.ErrorString(problem.code)
            raise self._error(f"this is not XML: {said}", problem.lineno, problem.offset + 1) from None
        assert self._root is not None  # expat refuses a text without elements
        return self._root

    def _encoded(self, start: int) -> bytes:
        try:
            return self._text[start : start + _PIECE].encode()
        except UnicodeEncodeError as problem:
            line = self._text.count("\n", 0, start + problem.start) + 1
            raise self._error("this is not XML: it has a lone surrogate", line) from None

    def _here(self) -> str:
        return f"{self._filename}:{self._parser.CurrentLineNumber}"

    def _error(self, message: str, line: int, column: int = 1) -> ParseError:
        return ParseError(message, filename=self._filename, line=line, column=column)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        node = XmlElement(tag, attributes)
        node.line = self._parser.CurrentLineNumber
        self._budget.depth(len(self._open) + 1, self._here)
        if self._open:
            self._keep_text()
            self._open[-1].append(node)
        else:
            self._root = node
        self._open.append(node)
        self._said.clear()

    def _end(self, tag: str) -> None:
        self._keep_text()
        self._open.pop()

    def _keep_text(self) -> None:
        """Store the collected text in the innermost open element, which has no part before it."""
        said = "".join(self._said)
        if not len(self._open[-1]):
            self._open[-1].text = said
        elif said.strip():
            message = f"the text '{said.strip()[:40]}' stands behind a part of <{self._open[-1].tag[:40]}>"
            raise self._error(message, self._parser.CurrentLineNumber)
        self._said.clear()

    def _entity(self, name: str, *_: object) -> None:
        message = f"the entity '{name[:40]}' is declared: entities are not read; write out what it stands for"
        raise self._error(message, self._parser.CurrentLineNumber)
