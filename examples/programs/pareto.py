"""Pareto front: speed against memory of a tile."""

from constrint import Model

m = Model()
rows, columns = (m.int_var(name, values=[16, 32, 64, 128]) for name in ("rows", "columns"))
stages = m.int_var("stages", 1, 4)
memory = stages * (rows + columns)
m.add(memory <= 600)
for point in m.pareto([(rows * columns * stages, "max"), (memory, "min")]):
    print(point.objective)

# > (32768, 512)
# > (16384, 256)
# > (8192, 192)
# > (4096, 128)
# > (2048, 96)
# > (1024, 64)
# > (512, 48)
# > (256, 32)
