"""Tries an installed distribution: run it by the Python of the environment into which it was installed."""

import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

MODEL = "bm in 16..256 step 16\nbn in {16, 32, 64, 128}\nbm * bn <= 16384\nmaximize bm * bn\n"
TILE = "tile lstm --gpu h100_sxm --heads 12 --head-dim 64 --batch 16 --dtype bf16"


def said(*words: str) -> str:
    """What a command of the environment prints; it must succeed."""
    command = Path(sys.executable).with_name(words[0])
    done = subprocess.run([str(command), *words[1:]], capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        sys.exit(f"{' '.join(words)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def main() -> None:
    """Solve, count and tile, by the library and by the commands, outside of any checkout."""
    import constrint
    import kerneltune

    for package in (constrint, kerneltune):
        assert Path(sys.prefix) in Path(str(package.__file__)).parents, package.__file__
    assert constrint.__version__ == version("constrint")

    model = constrint.Model()
    x, y = model.int_var("x", 0, 9), model.int_var("y", 0, 9)
    model.add(x * y == 12, x < y)
    assert model.solve(maximize=x)["x"] == 3
    assert model.count() == 2

    assert "solve" in said("constrint", "--help")
    assert "solve" in said("fzn-constrint", "--help")
    assert version("constrint") in said("constrint", "--version")
    assert version("constrint") in said("kerneltune", "--version")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "tiling.constrint")
        file.write_text(MODEL, encoding="utf-8")
        assert "bm = " in said("constrint", "solve", str(file))
    assert "batch_tile" in said("kerneltune", *TILE.split())
    sys.stdout.write(f"constrint {version('constrint')} works in {sys.prefix}\n")


if __name__ == "__main__":
    main()
