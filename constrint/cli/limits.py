"""The limit options, such as `--max-depth N`, of every command that reads a file."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from typing import Annotated, Any, get_type_hints

import typer

from constrint.support.limits import DEFAULT, Limits

_HELP = {
    "depth": "Nesting of brackets, lists, blocks and operators",
    "digits": "Digits of a number",
    "variables": "Variables of the model",
    "values": "Listed values and cells of tables",
    "nodes": "Operators and operands",
    "bytes": "Bytes of the file",
}


def takes_limits(command: Callable[..., None]) -> Callable[..., None]:
    """Add an option for each limit to a command; its parameter `limits` receives them as `Limits`."""

    @wraps(command)
    def run(**given: Any) -> None:
        chosen = {name: given.pop(f"max_{name}") for name in _HELP}
        limits = {name: value or None for name, value in chosen.items() if value is not None}
        command(**given, limits=Limits(**limits))

    hints = get_type_hints(command, include_extras=True)
    signature = inspect.signature(command)
    own = [
        parameter.replace(annotation=hints[name], kind=parameter.KEYWORD_ONLY)
        for name, parameter in signature.parameters.items()
        if name != "limits"
    ]
    own += [
        inspect.Parameter(
            f"max_{field.name}", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=_option(field.name)
        )
        for field in fields(Limits)
    ]
    run.__signature__ = signature.replace(parameters=own)  # type: ignore[attr-defined]  # what typer looks at
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in own}
    return run


def _option(name: str) -> Any:
    usual = f"{getattr(DEFAULT, name):,}"
    text = f"{_HELP[name]} that are read at most (usually {usual}); 0 for no limit."
    return Annotated[
        int | None,
        typer.Option(f"--max-{name}", min=0, metavar="N", help=text, rich_help_panel="Limits of reading"),
    ]
