"""`constrint convert`, compressed files, and `read` and `write` by ending."""

from __future__ import annotations

import bz2
import gzip
import lzma
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from click.testing import CliRunner, Result

from constrint import Model, ModelError, read
from constrint.cli.main import app
from constrint.frontends.formats import FORMATS

TEXT = "x in 0..9\ny in 0..9\ncap: 3 * x + 5 * y <= 21\nmaximize 2 * x + 3 * y\n"


def run(*arguments: Any, **options: Any) -> Result:
    return CliRunner().invoke(app, [str(one) for one in arguments], **options)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "m.constrint"
    path.write_text(TEXT, encoding="utf-8")
    return path


BOTH_WAYS = [one for one in FORMATS.values() if one.reader and one.writer]


@pytest.mark.parametrize("form", [one.name for one in BOTH_WAYS])
def test_every_format_that_is_written_reads_back(form: str, source: Path, tmp_path: Path) -> None:
    path = tmp_path / f"out{FORMATS[form].endings[0]}"
    assert run("convert", source, path).exit_code == 0
    assert read(path).solve().objective == read(source).solve().objective == 14
    assert run("solve", path, "--json").exit_code == 0
    by_name = run("convert", source, "-", "--to", form)
    assert by_name.output == path.read_text(encoding="utf-8")
    assert run("check", "-", "--format", form, input=by_name.output).exit_code == 0


@pytest.mark.parametrize("form", [one.name for one in FORMATS.values() if not one.writer])
def test_a_format_that_is_only_read_is_named(form: str, source: Path) -> None:
    result = run("convert", source, "-", "--to", form)
    assert result.exit_code == 2
    assert "is not written: the formats that are written are 'constrint', 'json'" in result.output


def test_what_cannot_be_written_leaves_no_file(tmp_path: Path) -> None:
    path = tmp_path / "m.constrint"
    path.write_text("x in 1..3; y in 1..3\narea: x * y == 2\n", encoding="utf-8")
    result = run("convert", path, tmp_path / "m.lp")
    assert result.exit_code == 2
    assert f"{path}:2:7: area: x * y == 2: a product of variables is not linear" in result.output
    assert [one.name for one in tmp_path.iterdir()] == ["m.constrint"]


def test_the_format_must_be_known(source: Path, tmp_path: Path) -> None:
    assert "give the format, such as --to lp" in run("convert", source, "-").output
    result = run("convert", source, tmp_path / "m.unknown")
    assert result.exit_code == 2
    assert "says no format" in result.output
    assert "cannot write" in run("convert", source, tmp_path / "none" / "m.lp").output
    with pytest.raises(ModelError, match="no dialect 'gms'"):
        Model().to_text(dialect="gms")


@pytest.mark.parametrize(("ending", "module"), [(".gz", gzip), (".bz2", bz2), (".xz", lzma)])
def test_compressed_files(ending: str, module: ModuleType, source: Path, tmp_path: Path) -> None:
    path = tmp_path / f"m.lp{ending}"
    assert run("convert", source, path).exit_code == 0
    with module.open(path, "rt") as file:
        assert file.read().startswith("\\ m\nMaximize")
    assert read(path).solve().objective == 14
    raw = path.read_bytes()
    for broken in (raw[:-9], raw[:12] + b"\xff" * 30 + raw[42:], b"nonsense"):
        path.write_bytes(broken)
        result = run("solve", path)
        assert result.exit_code == 2
        assert "damaged" in result.output or "cannot read" in result.output


def test_a_compressed_bomb_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "m.cnf.gz"
    path.write_bytes(gzip.compress(b"c" + b" " * 30_000_000))
    result = run("solve", path, "--max-bytes", 2_000_000)
    assert result.exit_code == 2
    assert "more than 2,000,000 bytes" in result.output
