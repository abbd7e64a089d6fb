"""Numbers that expressions give: constrint's expressions over parameters, sizes and a GPU's limits.

Texts are parsed by constrint, never evaluated by Python. A callable of the configuration may take a text's
place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from constrint import Model
from constrint.errors import ConstrintError
from constrint.expr.base import IntExpr
from kerneltune.errors import InputError, nearest
from kerneltune.inputs.offered import named_in

Number = int | str | Callable[[Mapping[str, Any]], int]
"""A number of a launch: an integer, an expression, or a function of the configuration."""
Configuration = dict[str, Any]
UNDECLARED = re.compile(r"'(\w+)' is not declared")
WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Numbers:
    """Named numbers of a configuration.

    Args:
        given: The numbers by name. Expressions may name parameters whose values are integers, the constants,
            and the numbers before them.
        values: The values of each parameter.
        constants: Sizes and limits by name; a parameter of the same name takes precedence.
        where: The beginning of messages.
        text: A constraint file's text, which declares the parameters and may define further numbers.

    Raises:
        InputError: An expression cannot be read.
    """

    def __init__(
        self,
        given: Mapping[str, Number],
        values: Mapping[str, object],
        constants: Mapping[str, int],
        where: str = "the launch",
        text: str = "",
    ) -> None:
        self._where = where
        self._plain = {name: one for name, one in given.items() if callable(one)}
        texts = {name: str(one) for name, one in given.items() if not callable(one)}
        self._variables: dict[str, object] = {}
        self._terms: dict[str, IntExpr] = {}
        whole = {name: ints for name, found in values.items() if (ints := _integers(found))}
        lines = [f"{name} in {{{', '.join(map(str, ints))}}}" for name, ints in whole.items()]
        lines = [text] if text else lines
        known = {k: v for k, v in constants.items() if k not in values}
        for name, text in texts.items():  # each alone, so that messages name it
            earlier = [f"{_hidden(other)} := {texts[other]}" for other in texts][: list(texts).index(name)]
            model = self._read([*lines, *earlier], name, text, known, values)
            self._variables = dict(model.variables)  # the last model has all
            self._terms = {one: term for one in texts if (term := model.lets.get(_hidden(one))) is not None}

    @property
    def names(self) -> list[str]:
        """The numbers that have a value."""
        return [*self._terms, *self._plain]

    def _read(
        self, lines: list[str], name: str, text: str, known: Mapping[str, int], values: Mapping[str, object]
    ) -> Model:
        try:
            definition = f"{_hidden(name)} := {text}"
            whole = "\n".join([*lines, definition])
            return Model.from_text(whole, filename=self._where, constants=named_in(whole, known))
        except ConstrintError as error:
            said = _last(error, f"{_hidden(name)} := ")
            undeclared = UNDECLARED.search(said)
            if undeclared is not None and text.count("(") == text.count(")"):
                said = _undeclared(undeclared[1], known, values)
            if text.count("(") > text.count(")"):  # YAML's list was parted at the comma
                said = (
                    f'{said.splitlines()[0]}\nhint: quote an expression with a comma: ["ceildiv(n, 64)", 1]'
                )
            raise InputError(f"{self._where}: {name}: {text!r}: {said}") from None

    def of(self, configuration: Mapping[str, Any]) -> dict[str, int]:
        """The numbers of a configuration.

        Raises:
            InputError: One has no value, or a function raises.
        """
        assignment: dict[Any, int] = {
            variable: int(configuration[name]) for name, variable in self._variables.items()
        }
        found = {}
        for name, term in self._terms.items():
            try:
                found[name] = int(term.evaluate(assignment))
            except (ConstrintError, ArithmeticError) as error:
                raise InputError(
                    f"{self._where}: {name} has no value for {dict(configuration)}: {error}"
                ) from None
        for name, function in self._plain.items():
            try:
                found[name] = int(function(dict(configuration)))
            except Exception as error:  # the user's own function
                raise InputError(f"{self._where}: {name} of {dict(configuration)}: {error!r}") from None
        return found


def _undeclared(word: str, known: Iterable[str], values: Mapping[str, Any]) -> str:
    """A sentence on a word of an expression that has no whole number."""
    if word in values:
        wrong = next((one for one in values[word] if not isinstance(one, int)), None)
        return f"'{word}' has the value {wrong!r}, but only whole numbers can stand here"
    hint = nearest(word, [*values, *known])
    hint = hint if hint.startswith("did you mean") else f"the parameters are {', '.join(values)}"
    return f"no parameter or size is named '{word}': {hint}"


def _hidden(name: str) -> str:
    """A name that is neither a parameter's nor a size's."""
    return f"launch_{name}_number"


def _integers(values: Any) -> list[int]:
    """The values of a parameter if all are integers or Booleans."""
    listed = list(values)
    if not all(isinstance(value, int) for value in listed):
        return []
    return sorted({int(value) for value in listed})


def _last(error: ConstrintError, added: str) -> str:
    """A reader's message without what the user did not write: the place, and what was added to the line."""
    said = re.sub(r"^[^\n]*?:\d+:\d+: ", "", str(error))
    lines = said.split("\n")
    for number, line in enumerate(lines[:-1]):
        if line.strip().startswith(added):
            lines[number] = line.replace(added, "", 1)
            lines[number + 1] = lines[number + 1].replace(" " * len(added), "", 1)
    return "\n".join(lines)
