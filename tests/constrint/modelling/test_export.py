"""Results as dictionaries, arrays, data frames and notebook cells."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from constrint import Model, ModelError
from constrint.modelling import export


def model() -> Model:
    m = Model("<shop>")
    x, y = m.int_var("x", 1, 3), m.int_var("y", values=[2, 5])
    m.let("area", x * y)
    m.add(x * y <= 10, name="small & cheap")
    m.maximize(x)
    m.prefer((y, "min"))
    return m


def test_one_result() -> None:
    result = model().solve()
    assert result.to_dict() == {"x": 3, "y": 2, "area": 6}
    assert result.to_numpy().tolist() == [3, 2, 6]
    assert result.to_pandas().to_dict() == {"x": 3, "y": 2, "area": 6}


def test_no_result() -> None:
    m = model()
    m.add(m.variables["x"] > 7)
    result = m.solve()
    assert result.to_dict() == {}
    assert result.to_numpy().shape == (0,)
    assert len(result.to_pandas()) == 0
    assert export.to_numpy(m.iter_solutions()).shape == (0, 0)
    assert export.to_pandas(m.iter_solutions(), ["x"]).shape == (0, 1)


def test_many_results() -> None:
    rows = export.to_dicts(model().iter_solutions())
    assert len(rows) == 5
    array = export.to_numpy(model().iter_solutions(), ["y", "x"])
    assert sorted(array.tolist()) == [[2, 1], [2, 2], [2, 3], [5, 1], [5, 2]]
    assert array.dtype == np.int64
    frame = export.to_pandas(rows)
    assert list(frame.columns) == ["x", "y", "area"]
    assert (frame["x"] * frame["y"] == frame["area"]).all()
    with pytest.raises(ModelError, match="'z'"):
        export.to_numpy(rows, ["z"])


def test_integers_beyond_64_bits_stay_exact() -> None:
    m = Model()
    x = m.int_var("x", 0, 10)
    m.let("big", 10**30 + x)
    m.add(x == 7)
    assert export.to_numpy([m.solve()])[0, 1] == 10**30 + 7
    assert export.to_pandas([m.solve()])["big"][0] == 10**30 + 7


def test_pandas_is_imported_only_when_needed() -> None:
    code = (
        "import sys, constrint; m = constrint.Model(); x = m.int_var('x', 1, 2); m.solve().to_numpy(); "
        "print(*[name for name in ('pandas', 'sympy', 'lark') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("pandas", "sympy"):
        monkeypatch.setitem(sys.modules, name, None)
    for module in ("sympy.reader", "sympy.writer"):
        monkeypatch.delitem(sys.modules, f"constrint.frontends.{module}", raising=False)
    m = model()
    for call in (m.solve().to_pandas, m.iter_solutions().to_pandas):
        with pytest.raises(ModelError, match="needs pandas: pip install 'pandas'"):
            call()
    for call in (m.to_sympy, lambda: Model.from_sympy([])):
        with pytest.raises(ModelError, match=r"needs sympy: pip install 'constrint\[sympy\]'"):
            call()


def test_notebook_cells_show_everything_and_escape_it() -> None:
    m = model()
    html = m._repr_html_()
    for text in (
        "&lt;shop&gt;",
        "1..3",
        "2..5 step 3",
        "small &amp; cheap",
        "x * y &lt;= 10",
        "maximize",
        "area",
    ):
        assert text in html
    result = m.solve()._repr_html_()
    assert "optimal, objective 3" in result
    assert "<td>area</td><td>6</td>" in result
    m.assume(m.variables["x"] > 8)
    assert "assumed: " in m.explain()._repr_html_()  # type: ignore[union-attr]
    assert "infeasible" in m.solve()._repr_html_()
    guilty = m.solve(assumptions=[m.variables["y"] == 3])
    assert "<strong>infeasible</strong>" in guilty._repr_html_()


def test_long_tables_are_cut() -> None:
    m = Model()
    for i in range(150):
        m.int_var(f"x{i}", 0, 1)
    assert "… and 50 more" in m._repr_html_()
