"""An XCSP3 instance as a model: variables, constraints with their groups and blocks, objectives."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element

from constrint.errors import ModelError, ParseError
from constrint.expr import IntExpr
from constrint.expr.functions import max_, min_, sum_
from constrint.frontends.xcsp3.accepted import DESCRIBING, refuse_attributes
from constrint.frontends.xcsp3.core_constraints import constraint
from constrint.frontends.xcsp3.intension import product_of
from constrint.frontends.xcsp3.numbers import shown
from constrint.frontends.xcsp3.reader import PartReader
from constrint.frontends.xcsp3.tree import XmlElement, parse
from constrint.frontends.xcsp3.variables import XcspVariables, text_of
from constrint.globals import nvalue
from constrint.modelling.declarations import Declarations
from constrint.support.limits import Budget, LimitExceeded

if TYPE_CHECKING:
    from constrint.expr.rational import Rational

_PLACES = re.compile(r"%([0-9]+|\.\.\.)")


def read_xcsp3(text: str, filename: str = "<xcsp3>", budget: Budget | None = None) -> Declarations:
    """Read an XCSP3 instance.

    Args:
        text: The XML.
        filename: Its name in messages.
        budget: The limits of reading; the usual ones by default.

    Returns:
        The model, with its objective.

    Raises:
        ParseError: The text is not XML, or has something that XCSP3-core lacks; names the constraint.
        LimitExceeded: The instance is beyond the limits.
    """
    budget = budget or Budget()
    budget.size(len(text), filename)
    root = parse(text, filename, budget)
    if root.tag != "instance":
        message = f"<{shown(root.tag)}> is not an XCSP3 instance"
        raise ParseError(message, filename=filename, line=root.line, column=1)
    return _Instance(filename, budget).read(root)


class _Instance:
    def __init__(self, filename: str, budget: Budget) -> None:
        self._filename = filename
        self._budget = budget
        self.model = Declarations(filename)
        self.variables = XcspVariables(self.model, budget)
        self.reader = PartReader(self.variables)

    def read(self, root: XmlElement) -> Declarations:
        self._guarded(root, _check_root)
        for part in root:
            self._guarded(part, _check_part)  # type: ignore[arg-type] # all are nodes
        for element in _parts(root, "variables"):
            self._guarded(element, self.variables.declare)
        for element in _constraints(_parts(root, "constraints")):
            self._guarded(element, self._add)
        for element in _parts(root, "objectives"):
            self._guarded(element, self._objective)
        return self.model

    def _guarded(self, element: XmlElement, do: Callable[[XmlElement], None]) -> None:
        """Do something with an element; errors get the place of the element."""
        where = f"{self._filename}:{element.line}"
        try:
            do(element)
            self._budget.count_steps(1, where)
        except LimitExceeded as problem:
            raise LimitExceeded(problem.name, problem.limit, problem.where or where) from None
        except ModelError as problem:
            named = shown(element.get("id") or text_of(element))
            message = f"<{shown(element.tag)}> {named}: {problem}".replace("  ", " ").replace(" :", ":")
            raise ParseError(message, filename=self._filename, line=element.line, column=1) from None

    def _add(self, element: XmlElement) -> None:
        for one in self._instances(element):
            self._budget.count_steps()
            self.model.add(constraint(self.reader, one), name=element.get("id"))

    def _instances(self, element: XmlElement) -> Iterator[XmlElement]:
        """The constraints of an element: itself, or those of a group or slide."""
        if element.tag in ("group", "slide"):
            refuse_attributes(element)
        if element.tag == "group":
            return self._of_group(element)
        return self._of_slide(element) if element.tag == "slide" else iter([element])

    def _of_group(self, group: XmlElement) -> Iterator[XmlElement]:
        """The template of a group, filled with each of its lists of arguments."""
        template = self._template(group, "args")
        for args in group.findall("args"):
            yield template.filled(self._words(text_of(args)))

    def _template(self, element: XmlElement, beside: str) -> _Template:
        found = [part for part in element if part.tag != beside]
        if len(found) != 1:
            raise ModelError(f"a {element.tag} needs one constraint as its template, not {len(found)}")
        return _Template(found[0], self._budget)

    def _of_slide(self, slide: XmlElement) -> Iterator[XmlElement]:
        """The template of a slide, filled with each window of its list."""
        holder = slide.find("list")
        if holder is None or len(slide.findall("list")) > 1:
            raise ModelError("a slide needs one list")
        template = self._template(slide, "list")
        words = self._words(text_of(holder))
        width = self.reader.attribute(holder, "collect", max(template.named, default=0) + 1)
        step = self.reader.attribute(holder, "offset", 1)
        if not 1 <= width <= len(words) or step < 1:
            raise ModelError(f"a slide of {width} by {step} over {len(words)} variables is not possible")
        last = len(words) if slide.get("circular") == "true" else len(words) - width + 1
        for first in range(0, last, step):
            yield template.filled([words[(first + i) % len(words)] for i in range(width)])

    def _words(self, text: str) -> list[str]:
        """Arguments one by one; arrays are expanded."""
        words: list[str] = []
        for word in text.split():
            words.extend(self.variables.named(word) if self.variables.is_one(word) else [word])
        return words

    def _objective(self, element: XmlElement) -> None:
        if element.tag not in ("minimize", "maximize"):
            raise ModelError(f"the objective <{shown(element.tag)}> is not supported")
        refuse_attributes(element)
        set_goal = self.model.minimize if element.tag == "minimize" else self.model.maximize
        kind = element.get("type") or "expression"
        if kind == "expression":
            set_goal(_divided(self.reader.term(text_of(element)), element.get("note") or ""))
            return
        args = self.reader.listed(element)
        part = element.find("coeffs")
        if part is not None:
            factors = self.reader.terms(text_of(part))
            if len(factors) != len(args):
                raise ModelError(f"there are {len(factors)} coefficients for {len(args)} variables")
            args = [a * x for a, x in zip(factors, args, strict=True)]
        if kind == "lex":
            set_goal(*args)
        else:
            set_goal(_total(kind, args, self._budget))


def _divided(goal: IntExpr, note: str) -> IntExpr | Rational:
    """A goal, divided as its note says: "divided by 4", or "divided by 4, as a float"."""
    found = re.fullmatch(r"divided by ([1-9][0-9]{0,999})(, as a float)?", note)
    if found is None:
        return goal
    from constrint.expr.rational import Rational

    return Rational(goal, int(found[1]), found[2] is not None)


def _total(kind: str, args: Sequence[IntExpr], budget: Budget) -> IntExpr:
    if kind == "sum":
        return sum_(args)
    if kind == "maximum":
        return max_(args)
    if kind == "minimum":
        return min_(args)
    if kind == "nValues":
        return nvalue(args)
    if kind == "product":
        return product_of(args, budget)
    raise ModelError(f"an objective of type '{shown(kind)}' is not supported")


def _check_root(root: XmlElement) -> None:
    """Refuse an instance of another kind."""
    kind = root.get("type", "CSP")
    if kind not in ("CSP", "COP"):
        raise ModelError(f"an instance of type '{shown(kind)}' is not supported: only CSP and COP are")
    unknown = [name for name in root.keys() if name not in (*DESCRIBING, "format", "type")]  # noqa: SIM118
    if unknown:
        raise ModelError(f"the attribute {shown(unknown[0])} of <instance> is not supported")


def _check_part(part: XmlElement) -> None:
    """Refuse a part of the instance that would be ignored; <annotations> are advice to solvers."""
    if part.tag not in ("variables", "constraints", "objectives", "annotations"):
        raise ModelError(f"<{shown(part.tag)}> in <instance> is not supported")
    if part.tag == "objectives":
        refuse_attributes(part)
        if len(part) > 1 and part.get("combination") != "lexico":
            raise ModelError(
                'several objectives are read as lexicographic ones only: write combination="lexico"'
            )


def _parts(root: XmlElement, tag: str) -> list[XmlElement]:
    """The elements in all parts with a tag."""
    return [element for part in root.findall(tag) for element in part]  # type: ignore[misc] # all are nodes


def _constraints(elements: Sequence[XmlElement]) -> Iterator[XmlElement]:
    """The constraints among some elements, including those in nested blocks."""
    stack = list(reversed(elements))
    while stack:
        element = stack.pop()
        if element.tag == "block":
            stack.extend(reversed(element))  # type: ignore[arg-type] # as above
        else:
            yield element


class _Template:
    """A constraint with numbered placeholders; `%...` stands for all arguments without a number.

    Attributes:
        named: The numbers.
    """

    def __init__(self, template: Element, budget: Budget) -> None:
        self._template = template
        self._budget = budget
        text = " ".join([part.text or "" for part in [template, *template]])
        places = _PLACES.findall(text)
        self._rests = places.count("...")
        for place in places:
            budget.digits(place)
        self.named = {int(place) for place in places if place != "..."}

    def filled(self, words: Sequence[str]) -> XmlElement:
        """The constraint with these words as arguments."""
        most = max(self.named, default=-1)
        if most >= len(words):
            raise ModelError(f"the template names %{shown(str(most))}, and there are {len(words)} arguments")
        self._budget.node(len(self.named) + self._rests * max(0, len(words) - most - 1))
        rest = " ".join(words[most + 1 :]) if self._rests else ""

        def word(match: re.Match[str]) -> str:
            return rest if match[1] == "..." else words[int(match[1])]

        def copied(part: Element) -> XmlElement:
            copy = XmlElement(part.tag, part.attrib)
            copy.text = _PLACES.sub(word, part.text or "")
            return copy

        filled = copied(self._template)
        for part in self._template:
            filled.append(copied(part))
            filled[-1].extend(part)  # nested parts, which are refused
        return filled
