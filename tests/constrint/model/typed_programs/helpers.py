"""Functions over models, with annotations of their own."""

from constrint import ExprArray, IntExpr, IntVar, Model, Result

Vector = ExprArray[IntVar, tuple[int]]


def declared(m: Model, count: int) -> Vector:
    return m.int_vars("x", count, 0, 9)


def matrix(m: Model, count: int) -> Vector:
    return m.int_vars("y", (count, count), 0, 9)  # error


def spread(x: Vector) -> IntExpr:
    return x.max() - x.min()


def steps(x: Vector) -> ExprArray[IntExpr, tuple[int]]:
    return x[1:] - x[:-1]


def solved(m: Model, x: Vector) -> Result[int]:
    return m.solve(minimize=spread(x))


def objective(r: Result[int]) -> str:
    return r.objective  # error


model = Model()
xs = declared(model, 4)
model.add(steps(xs) >= 1)
answer = solved(model, xs)
spread([1, 2])  # error
spread(model)  # error
print(answer.objective.upper())  # error
print(answer[xs].mean())
