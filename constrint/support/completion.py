"""The command that prints the script by which a shell completes a program's commands and options."""

from __future__ import annotations

import click


def completion_of(program: str) -> click.Command:
    """The command `completion` of a program whose commands are click's."""

    @click.command("completion")
    @click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
    @click.pass_context
    def completion(context: click.Context, *, shell: str) -> None:
        from click.shell_completion import BashComplete, FishComplete, ZshComplete

        complete = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}[shell]
        root = context.find_root()
        click.echo(complete(root.command, {}, program, f"_{program.upper()}_COMPLETE").source())

    completion.help = (
        "Print the script that completes commands and options in a SHELL.\n\n"
        f'For bash, put this line into ~/.bashrc: eval "$({program} completion bash)"'
    )
    return completion
