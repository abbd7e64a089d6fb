"""The commands ``kerneltune bundle``: prebuilt kernels, so that users' machines need no compiler."""

from __future__ import annotations

from pathlib import Path

import click

from kerneltune.cli.failures import print_json, reporting
from kerneltune.cli.options import FILE, HELP, json_option
from kerneltune.errors import InputError, nearest
from kerneltune.inputs.descriptions import discover
from kerneltune.inputs.hardware import load_profile, profile_names


@click.group(name="bundle", context_settings=HELP, no_args_is_help=True)
def bundle_app() -> None:
    """Build and check prebuilt kernels: one file, or a wheel."""


@bundle_app.command()
@click.argument("target", type=FILE)
@click.option(
    "--gpu", multiple=True, help="A profile, again for more; by default all that the compiler knows."
)
@click.option("--cell", multiple=True, help="A cell, again for more.")
@click.option("--shape", multiple=True, help="Heads × units, such as 12x64.")
@click.option("--batch", type=int, multiple=True, help="A batch size, again for more.")
@click.option("--dtype", multiple=True, help="A storage type, again for more.")
@click.option("--wheel", type=FILE, help="Also write the wheel constrint-kernels to this folder.")
@json_option
def build(
    *,
    target: Path,
    gpu: tuple[str, ...],
    cell: tuple[str, ...],
    shape: tuple[str, ...],
    batch: tuple[int, ...],
    dtype: tuple[str, ...],
    wheel: Path | None,
    as_json: bool,
) -> None:
    """Solve and compile kernels without a GPU, and write them to a file. A second build resumes."""
    with reporting(as_json):
        from constrint.support.version import version
        from kerneltune.compiling import bundle_build
        from kerneltune.inputs.dtypes import dtype_of

        kernels = discover()
        default = bundle_build.Selection()
        for name in cell:
            kernels.cell(name)
        selection = bundle_build.Selection(
            cells=cell or default.cells,
            shapes=tuple(_shape(text) for text in shape) if shape else default.shapes,
            batches=batch or default.batches,
            dtypes=tuple(dtype_of(name) for name in dtype or default.dtypes),
        )
        profiles = [load_profile(name) for name in gpu or _compilable()]

        if wheel:  # before the hours of compiling
            wheel.mkdir(parents=True, exist_ok=True)

        def progress(line: str) -> None:
            click.echo(line, err=True)

        built = bundle_build.build(target, profiles, kernels, selection, progress)
        written = bundle_build.write_wheel(target, wheel, version()) if wheel else None
        if as_json:
            found = {"status": "built", "kernels": built.kernels, "bytes": built.size}
            print_json({**found, "left_out": built.left_out, "wheel": str(written) if written else None})
            return
        click.echo(f"{target}: {built.kernels} kernels, {built.size / 1e6:.1f} MB")
        for reason in built.left_out:
            click.echo(f"left out: {reason}")
        if written:
            click.echo(f"{written}: {written.stat().st_size / 1e6:.1f} MB")


@bundle_app.command()
@click.argument("target", type=FILE)
@json_option
def check(target: Path, as_json: bool) -> None:
    """Read every kernel of a bundle, and compare it with its hash and with the installed sources."""
    with reporting(as_json):
        from kerneltune.compiling.bundle import Bundle
        from kerneltune.compiling.ready import sources_digest

        opened = Bundle.open(target, sources_digest(discover().root))
        count = sum(1 for _ in opened.all())
        if as_json:
            print_json({"status": "right", "kernels": count, "gpus": dict(opened.contents()), **opened.about})
            return
        click.echo(f"{target}: {count} kernels by {opened.about.get('compiler')}, all as they were written")
        for name, number in opened.contents():
            click.echo(f"  {name}: {number}")


def _shape(text: str) -> tuple[int, int]:
    heads, cross, dim = text.replace("×", "x").partition("x")
    if not (cross and heads.isdecimal() and dim.isdecimal()):
        raise InputError(f"--shape: '{text}' is not heads x units, such as 12x64")
    return int(heads), int(dim)


def _compilable() -> list[str]:
    """The profiles whose architecture the installed compiler supports."""
    from kerneltune.compiling.nvrtc import known_targets

    known = known_targets()
    profiles = [load_profile(name) for name in profile_names()]
    found = [one.name for one in profiles if one.target.removesuffix("a") in known]
    if not found:
        raise InputError(f"no profile's architecture is known to the compiler: {nearest('sm_90', known)}")
    return found
