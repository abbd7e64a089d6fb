"""An XCSP3 instance as a model: variables, constraints with their groups and blocks, objectives."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from constrint.errors import ModelError, ParseError
from constrint.expr import IntExpr
from constrint.expr.functions import max_, min_, sum_
from constrint.frontends.xcsp3.constraints import constraint
from constrint.frontends.xcsp3.functions import product_of
from constrint.frontends.xcsp3.reader import Reader
from constrint.frontends.xcsp3.variables import Variables, text_of
from constrint.globals import nvalue
from constrint.model import Model

_PLACES = re.compile(r"%(\d+|\.\.\.)")
_NOT_CONSTRAINTS = ("block", "group", "slide")


def read_xcsp3(text: str, *, filename: str = "<xcsp3>") -> Model:
    """Read an XCSP3 instance.

    Args:
        text: The XML.
        filename: Its name in messages.

    Returns:
        The model, with its objective. Raises `ParseError` for text that is no XML and, naming the constraint,
        for what XCSP3-core does not have.
    """
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as problem:
        line, column = problem.position
        message = f"this is no XML: {problem.msg.partition(':')[0]}"
        raise ParseError(message, filename=filename, line=line, column=column + 1) from None
    if root.tag != "instance":
        raise ParseError(f"<{root.tag}> is no XCSP3 instance", filename=filename, line=1, column=1)
    return _Instance(text, filename).read(root)


class _Instance:
    def __init__(self, text: str, filename: str) -> None:
        self._text = text
        self._filename = filename
        self.model = Model(filename)
        self.variables = Variables(self.model)
        self.reader = Reader(self.variables)

    def read(self, root: Element) -> Model:
        for part in root.findall("variables"):
            for element in part:
                self._guarded(element, self.variables.declare)
        for part in root.findall("constraints"):
            for element in part:
                self._guarded(element, self._add)
        for part in root.findall("objectives"):
            for element in part:
                self._guarded(element, self._objective)
        return self.model

    def _guarded(self, element: Element, do: Callable[[Element], None]) -> None:
        """Do something with an element; what goes wrong is said with the place of the element."""
        try:
            do(element)
        except ParseError:
            raise
        except (ModelError, ValueError, KeyError, IndexError, TypeError) as problem:
            said = str(problem) if isinstance(problem, ModelError) else f"cannot be read ({problem})"
            named = element.get("id") or text_of(element)[:40]
            message = f"<{element.tag}> {named}: {said}".replace("  ", " ")
            raise ParseError(message, filename=self._filename, line=self._line(element), column=1) from None

    def _line(self, element: Element) -> int:
        """The line of an element, found by its id or its text; 1 where that says nothing."""
        for wanted in (f'id="{element.get("id")}"' if element.get("id") else "", text_of(element)):
            place = self._text.find(wanted) if wanted else -1
            if place >= 0:
                return self._text.count("\n", 0, place) + 1
        return 1

    def _add(self, element: Element) -> None:
        if element.tag == "block":
            for inner in element:
                self._guarded(inner, self._add)
        elif element.tag == "group":
            for one in self._of_group(element):
                self.model.add(constraint(self.reader, one), name=element.get("id"))
        elif element.tag == "slide":
            for one in self._of_slide(element):
                self.model.add(constraint(self.reader, one), name=element.get("id"))
        else:
            self.model.add(constraint(self.reader, element), name=element.get("id"))

    def _of_group(self, group: Element) -> Iterator[Element]:
        """The template of a group with each of its lists of arguments."""
        template = next(part for part in group if part.tag != "args")
        for args in group.findall("args"):
            yield _filled(template, self._words(text_of(args)))

    def _of_slide(self, slide: Element) -> Iterator[Element]:
        """The template of a slide over each window of its list."""
        holder = slide.find("list")
        template = next(part for part in slide if part.tag != "list")
        if holder is None:
            raise ModelError("a slide needs a list")
        words = self._words(text_of(holder))
        places = [int(place) for place in _PLACES.findall(_all_text(template)) if place != "..."]
        width = int(holder.get("collect") or max(places, default=0) + 1)
        step = int(holder.get("offset") or 1)
        last = len(words) if slide.get("circular") == "true" else len(words) - width + 1
        for first in range(0, last, step):
            yield _filled(template, [words[(first + i) % len(words)] for i in range(width)])

    def _words(self, text: str) -> list[str]:
        """Arguments one by one: arrays are taken apart."""
        words: list[str] = []
        for word in text.split():
            words.extend(self.variables.named(word) if self.variables.is_one(word) else [word])
        return words

    def _objective(self, element: Element) -> None:
        if element.tag not in ("minimize", "maximize"):
            raise ModelError(f"the objective <{element.tag}> is not supported")
        set_goal = self.model.minimize if element.tag == "minimize" else self.model.maximize
        kind = element.get("type") or "expression"
        if kind == "expression":
            set_goal(self.reader.term(text_of(element)))
            return
        args = self.reader.listed(element)
        part = element.find("coeffs")
        if part is not None:
            factors = self.reader.terms(text_of(part))
            args = [a * x for a, x in zip(factors, args, strict=True)]
        if kind == "lex":
            set_goal(*args)
        else:
            set_goal(_total(kind, args))


def _total(kind: str, args: Sequence[IntExpr]) -> IntExpr:
    if kind == "sum":
        return sum_(args)
    if kind == "maximum":
        return max_(args)
    if kind == "minimum":
        return min_(args)
    if kind == "nValues":
        return nvalue(args)
    if kind == "product":
        return product_of(args)
    raise ModelError(f"an objective of type '{kind}' is not supported")


def _all_text(element: Element) -> str:
    return " ".join(part.text or "" for part in element.iter())


def _filled(template: Element, words: Sequence[str]) -> Element:
    """A template with its numbered places filled; `%...` are all arguments that no number names."""
    named = {int(place) for place in _PLACES.findall(_all_text(template)) if place != "..."}
    rest = " ".join(words[max(named, default=-1) + 1 :])
    filled = deepcopy(template)
    for part in filled.iter():
        if part.text:
            part.text = _PLACES.sub(
                lambda match: rest if match[1] == "..." else words[int(match[1])], part.text
            )
    return filled
