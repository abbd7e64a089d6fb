"""The outputs of the notebooks: `python examples/notebooks/outputs.py` runs the cells and writes them.

Jupyter is not needed. A cell has what it prints, and its last expression as a notebook shows it.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


def run(cells: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """The outputs of the cells of a notebook, run one after the other."""
    names: dict[str, Any] = {"__name__": "__main__"}
    return [outputs("".join(cell["source"]), names) if cell["cell_type"] == "code" else [] for cell in cells]


def outputs(source: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    """Run a cell; its outputs in the format of notebooks."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), names)  # noqa: S102 - the notebooks of this folder
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)  # noqa: S307 - as above
    found: list[dict[str, Any]] = []
    if printed.getvalue():
        text = printed.getvalue().splitlines(keepends=True)
        found.append({"name": "stdout", "output_type": "stream", "text": text})
    if value is not None:
        data = {"text/plain": repr(value).splitlines(keepends=True)}
        if hasattr(value, "_repr_html_") and (html := value._repr_html_()):
            data["text/html"] = html.splitlines(keepends=True)
        if hasattr(value, "_repr_svg_") and (svg := value._repr_svg_()):
            data["image/svg+xml"] = svg.splitlines(keepends=True)
        result = {"data": data, "execution_count": None, "metadata": {}, "output_type": "execute_result"}
        found.append(result)
    return found


def main() -> None:
    """Write the outputs of all notebooks."""
    for path in sorted(FOLDER.glob("*.ipynb")):
        notebook = json.loads(path.read_text("utf-8"))
        for cell, found in zip(notebook["cells"], run(notebook["cells"]), strict=True):
            if cell["cell_type"] == "code":
                cell["outputs"] = found
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
