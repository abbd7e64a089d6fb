"""The command `kerneltune schema`: the schemas of what `--json` prints."""

from __future__ import annotations

import json

import click

from kerneltune.cli.failures import reporting
from kerneltune.cli.options import HELP


@click.command(context_settings={**HELP, "ignore_unknown_options": True})  # of `replay --seeds`
@click.argument("command", nargs=-1)
def schema(command: tuple[str, ...]) -> None:
    """Print the JSON schema of what a command prints with --json, or list the commands."""
    with reporting(False):
        from kerneltune.cli.documents import DOCUMENTS, schema_of, sentence_of

        if not command:
            for name in DOCUMENTS:
                click.echo(f"{name}: {sentence_of(name)}")
        else:
            click.echo(json.dumps(schema_of(" ".join(command)), indent=2))
