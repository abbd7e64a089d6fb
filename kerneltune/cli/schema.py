"""The command `kerneltune schema`: the schemas of what `--json` prints."""

from __future__ import annotations

import json

import click

from kerneltune.cli.failures import reporting
from kerneltune.cli.options import HELP


@click.command(context_settings=HELP)
@click.argument("command", required=False)
def schema(command: str | None) -> None:
    """Print the JSON schema of what a command for kernels of your own prints with --json, or the commands."""
    with reporting(False):
        from kerneltune.cli.documents import DOCUMENTS, schema_of

        if command is None:
            for name, kind in DOCUMENTS.items():
                click.echo(f"{name}: {str(kind.__doc__).splitlines()[0]}")
        else:
            click.echo(json.dumps(schema_of(command), indent=2))
