"""Files: a model written as text, changed, and read again."""

from pathlib import Path
from tempfile import TemporaryDirectory

from constrint import Model

m = Model("paint")
red, blue = m.int_var("red", 0, 10), m.int_var("blue", 0, 10)
m.add(red + blue == 10, name="bucket")
m.maximize(red - 2 * blue)
with TemporaryDirectory() as folder:
    path = Path(folder, "paint.constrint")
    path.write_text(m.to_text() + "mixed: blue >= 3\n")
    print(Model.from_file(path).solve())

# > Result(optimal, objective=1, values={'red': 7, 'blue': 3})
