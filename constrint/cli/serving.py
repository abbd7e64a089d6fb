"""`constrint lsp`: the language server for editors."""

from __future__ import annotations

import click

from constrint.errors import ModelError
from constrint.support.optional import needed

MISSING_EXTRA = 3


@click.command()
def lsp() -> None:
    """Serve an editor on standard input and output by the Language Server Protocol (extra: lsp)."""
    try:
        server = needed("constrint.cli.language_server", "constrint[lsp]", "the language server")
    except ModelError as error:
        click.echo(f"error: {error}", err=True)
        raise click.exceptions.Exit(MISSING_EXTRA) from None
    server.serve()
