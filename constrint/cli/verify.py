"""`constrint verify`: check the proof of a learning search against the model as written."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from constrint.cli.failures import STOPPED, reporting
from constrint.cli.inputs import BadInputError, ReadingOptions, load, read_text, shown_name
from constrint.cli.options import FileName, budget_options, json_option, several_options
from constrint.support.long_numbers import counted

if TYPE_CHECKING:
    from constrint.support.limits import Budget
    from constrint.verification.report import Report

REJECTED = 1


@click.command()
@reporting
@click.argument("file", metavar="MODEL", type=FileName(allow_dash=True))
@click.argument("proof", metavar="PROOF", type=FileName())
@click.option("--data", multiple=True, metavar="FILE", type=FileName(), help="A file of data of the model.")
@click.option("--strict", is_flag=True, help="Reject a proof with a step that is trusted, not checked.")
@json_option
@several_options
@budget_options()
def verify(
    *,
    file: str,
    proof: str,
    data: tuple[str, ...],
    strict: bool,
    json: bool,
    reading: ReadingOptions,
    budget: Budget,
) -> None:
    """Check a proof that `solve --learn --proof` wrote, without any code of the solver.

    Exit codes: 0 the proof holds, 1 it is rejected (with the line and the reason), 2 bad input.
    """
    from constrint.support.deadline import Stopped, until
    from constrint.verification.checker import NotTheModelError, RejectedAtError
    from constrint.verification.checker import verify as check
    from constrint.verification.settings import CheckerSettings

    model = load(file, replace(reading, data=data), budget)
    lines = read_text(proof, budget).splitlines()
    try:
        with until(budget.deadline):
            report = check(model, lines, CheckerSettings(is_strict=strict))
    except RejectedAtError as error:
        _say({"verified": False, "line": error.line, "why": error.why}, f"rejected: {proof}, {error}", json)
        raise click.exceptions.Exit(REJECTED) from None
    except NotTheModelError as error:
        raise BadInputError(f"{proof}: {error} than {shown_name(file)}") from None
    except Stopped:
        click.echo("unknown: the time limit was reached while the proof was being checked", err=True)
        raise click.exceptions.Exit(STOPPED) from None
    _say(_document(report), "\n".join(_lines(report)), json)


def _say(document: dict[str, object], text: str, json: bool) -> None:
    """Print the outcome for a program or for people."""
    if json:
        from json import dumps

        text = dumps(document)
    click.echo(text)


def _document(report: Report) -> dict[str, object]:
    """The report of a proof that holds."""
    return {
        "verified": True,
        "claim": report.claim,
        "goals": report.goals,
        "objectives": list(report.objectives),
        "values": report.values,
        "steps": {"derived": report.derived, "listed": report.listed, "learned": report.learned},
        "trusted": dict(report.trusted),
    }


def _lines(report: Report) -> list[str]:
    """The same for people."""
    lines = [f"verified: {report.claim}"]
    lines += [f"{goal} = {value}" for goal, value in zip(report.goals, report.objectives, strict=False)]
    lines.append(
        f"steps: {report.derived} derived, {report.listed} listed, {counted(report.learned, 'clause')}, "
        f"{sum(report.trusted.values())} trusted"
    )
    lines += [f"trusted: {number} × {kind}" for kind, number in sorted(report.trusted.items())]
    return lines
