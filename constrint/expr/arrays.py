"""Arrays of expressions that behave as numpy's; numpy is imported where slices and scalars do not suffice."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, SupportsIndex, TypeAlias, cast, overload

from constrint.errors import ModelError
from constrint.expr import BoolExpr, IntExpr, IntLike, as_expr
from constrint.expr.array_operators import Item, One, Rank, Three, Two, elements_of
from constrint.expr.array_shapes import Axes, Shape, nested, shape_of
from constrint.expr.array_totals import Reducible
from constrint.expr.build import NotWhole, lifted
from constrint.support.arguments import with_other_names
from constrint.support.record import public_names

if TYPE_CHECKING:
    import numpy as np

    from constrint.expr.domain import Domain

Index: TypeAlias = Any
"""An index: an integer, slice, ``...``, ``None``, list, array or expression, or a tuple of them."""

_WHOLE = slice(None)


class ValueLookup(Protocol):
    """A result, or any mapping from expressions."""

    def __getitem__(self, key: Any, /) -> object: ...


@with_other_names
class ExprArray(Reducible[Item, Rank]):
    """An array of expressions. Operators, indices and methods are numpy's, and so are functions of numpy.

    ``x[mask]``, ``x[[0, 2]]``, ``x.T``, ``x + np.arange(3)``, ``np.sum(x, axis=0)``, ``np.concatenate([x,
    y])`` and so on give arrays, or expressions; an index may be an expression, too: ``x[i, j]``. Comparisons
    give arrays of conditions. Arrays cannot be changed.

    Type checkers know the elements and the axes: ``ExprArray[IntVar, tuple[int, int]]`` is a matrix of
    variables. Either may be left out.

    Attributes:
        shape: Length of each axis.
        flat: The elements in row-major order.
    """

    __slots__ = ()
    __dir__ = public_names

    def __init__(self, flat: Sequence[Item], shape: Shape) -> None:
        self.shape = cast("Rank", shape_of(shape))
        self.flat = tuple(flat)
        if math.prod(self.shape) != len(self.flat):
            raise ModelError(f"{len(self.flat)} elements do not fill the shape {self.shape}")

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return len(self.flat)

    @property
    def T(self) -> ExprArray[Item, Rank]:  # noqa: N802 - numpy's name
        """The array with reversed axes."""
        found: ExprArray[Item, Any] = self.transpose()
        return found

    if TYPE_CHECKING:  # what an index selects, by the number of axes

        @overload
        def __getitem__(self: ExprArray[Item, One], key: IntExpr) -> IntExpr: ...
        @overload
        def __getitem__(self: ExprArray[Item, One], key: SupportsIndex | str) -> Item: ...
        @overload
        def __getitem__(self: ExprArray[Item, Two], key: IntExpr) -> ExprArray[IntExpr, One]: ...
        @overload
        def __getitem__(self: ExprArray[Item, Two], key: SupportsIndex) -> ExprArray[Item, One]: ...
        @overload
        def __getitem__(self: ExprArray[Item, Three], key: SupportsIndex) -> ExprArray[Item, Two]: ...
        @overload
        def __getitem__(
            self: ExprArray[Item, Two], key: tuple[IntExpr, IntLike] | tuple[IntLike, IntExpr]
        ) -> IntExpr: ...
        @overload
        def __getitem__(self: ExprArray[Item, Two], key: tuple[SupportsIndex, SupportsIndex]) -> Item: ...
        @overload
        def __getitem__(
            self: ExprArray[Item, Two], key: tuple[SupportsIndex, slice] | tuple[slice, SupportsIndex]
        ) -> ExprArray[Item, One]: ...
        @overload
        def __getitem__(self: ExprArray[Item, Three], key: tuple[IntLike, IntLike, IntLike]) -> Item: ...
        @overload
        def __getitem__(self: ExprArray[Item, Two], key: tuple[slice, slice]) -> ExprArray[Item, Two]: ...
        @overload
        def __getitem__(self, key: slice | list[int] | list[bool]) -> ExprArray[Item, Rank]: ...
        @overload
        def __getitem__(self, key: Index) -> Any: ...

    def __getitem__(self, key: Index) -> Any:
        """An element, or the array of several; with an expression in the key, the element that it selects.

        Expressions count from 0 to the length of their axis; an element outside is undefined.
        """
        # The fast paths: single elements, of which models take thousands, and whole rows and columns.
        if type(key) is tuple:
            if len(key) == 2 == len(self.shape):
                i, j = key
                rows, columns = self.shape
                if type(i) is int and 0 <= i < rows:
                    if type(j) is int and 0 <= j < columns:
                        return self.flat[i * columns + j]
                    if type(j) is slice and j == _WHOLE:
                        return made(self.flat[i * columns : (i + 1) * columns], (columns,))
                elif type(i) is slice and i == _WHOLE and type(j) is int and 0 <= j < columns:
                    return made(self.flat[j::columns], (rows,))
        elif type(key) is int and len(self.shape) == 1 and 0 <= key < self.shape[0]:
            return self.flat[key]
        elif type(key) is slice and len(self.shape) == 1:
            chosen = self.flat[key]
            return made(chosen, (len(chosen),))
        from constrint.expr.array_indices import indexed

        return indexed(self, key)

    if not TYPE_CHECKING:  # checkers report every assignment

        def __setitem__(self, key: Index, value: object) -> NoReturn:
            raise ModelError(
                "an array of expressions cannot be changed: add a constraint, such as `x[0] == 3`, or make "
                "another array by array([…])"
            )

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("an array without axes has no length")
        return self.shape[0]

    if TYPE_CHECKING:

        @overload
        def __iter__(self: ExprArray[Item, One]) -> Iterator[Item]: ...
        @overload
        def __iter__(self: ExprArray[Item, Two]) -> Iterator[ExprArray[Item, One]]: ...
        @overload
        def __iter__(self: ExprArray[Item, Three]) -> Iterator[ExprArray[Item, Two]]: ...
        @overload
        def __iter__(self) -> Iterator[Any]: ...

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __contains__(self, value: object) -> NoReturn:
        raise ModelError(
            "whether an array has a value is not known while the model is built: write any_of(array == value)"
        )

    def __bool__(self) -> NoReturn:
        raise ModelError("an array has no truth value while the model is built: write all_of(…) or any_of(…)")

    # ------------------------------------------------------------ numpy's methods

    def reshape(self, *shape: int | Sequence[int]) -> ExprArray[Item]:
        """The same elements in another shape; one length may be -1, for as many as there are."""
        given = shape[0] if len(shape) == 1 and isinstance(shape[0], Sequence) else shape
        lengths = cast("Sequence[int]", given)
        known = math.prod([length for length in lengths if length != -1])
        if sum([length == -1 for length in lengths]) == 1 and known and self.size % known == 0:
            lengths = [self.size // known if length == -1 else length for length in lengths]
        return ExprArray(self.flat, lengths)

    def ravel(self) -> ExprArray[Item, One]:
        """The elements along one axis."""
        return made(self.flat, (self.size,))

    flatten = ravel

    def transpose(self, *axes: int | Sequence[int]) -> ExprArray[Item]:
        """The array with reversed axes, or with axes in the order given."""
        order = axes[0] if len(axes) == 1 and isinstance(axes[0], Sequence) else axes or None
        return self._apply("transpose", order)

    def swapaxes(self, first: int, second: int) -> ExprArray[Item, Rank]:
        """The array with two axes exchanged."""
        return self._apply("swapaxes", first, second)

    def squeeze(self) -> ExprArray[Item]:
        """The array without axes of length 1."""
        return self._apply("squeeze")

    def repeat(self, repeats: int | Sequence[int], axis: int | None = None) -> ExprArray[Item]:
        """The array with each element repeated."""
        return self._apply("repeat", repeats, axis)

    def diagonal(self, offset: int = 0) -> ExprArray[Item]:
        """The elements whose first two indices differ by an offset."""
        return self._apply("diagonal", offset)

    def cumsum(self, axis: int | None = None) -> ExprArray[IntExpr]:
        """The sums up to each element."""
        return self._apply("cumsum", axis)

    def trace(self) -> Any:
        """The sum of the diagonal."""
        return self.diagonal().sum(axis=-1)

    def dot(self, other: object) -> Any:
        """The product of matrices and vectors."""
        return self @ other

    def tolist(self) -> Any:
        """The elements as nested lists."""
        return nested(self.flat, self.shape)

    def values(self, result: ValueLookup) -> Any:
        """The values in a result (or in any mapping from expressions), as nested lists."""
        found = [result[element] for element in self.flat]
        return nested(found, self.shape)

    def is_in(self, values: Iterable[int] | Domain) -> ExprArray[BoolExpr, Rank]:
        """The conditions that the elements are among some constants."""
        return made([element.is_in(values) for element in self.flat], self.shape)

    def _apply(self, name: str, *arguments: Any) -> ExprArray[Any, Any]:
        """The result of a function of numpy on the array."""
        import numpy as np

        found = getattr(np, name)(self, *arguments)
        assert isinstance(found, ExprArray)
        return found

    # ------------------------------------------------------------ numpy's protocols

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        import numpy as np

        from constrint.expr.alignment import check_pandas_product

        check_pandas_product(self, sys._getframe(1))
        if dtype is not None and np.dtype(dtype) != np.dtype(object):
            raise ModelError(
                "an array of expressions has no numbers while the model is built (`result[x]` has)"
            )
        grid = np.empty(self.size, dtype=object)
        grid[:] = self.flat
        return grid.reshape(self.shape)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        from constrint.expr.array_functions import ufunc_of

        return ufunc_of(ufunc, method, inputs, options)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        from constrint.expr.array_functions import function_of

        return function_of(function, args, options)

    def __repr__(self) -> str:
        from constrint.expr.array_text import array_text

        return array_text(self)

    def _repr_html_(self) -> str | None:
        from constrint.expr.array_text import array_html

        return array_html(self)


def made(flat: Iterable[Any], shape: tuple[int, ...]) -> ExprArray[Any, Any]:
    """An array of elements that are known to fill a shape."""
    array: ExprArray[Any, Any] = ExprArray.__new__(ExprArray)
    array.flat, array.shape = tuple(flat), shape
    return array


@overload
def array(values: ExprArray[Item, Rank]) -> ExprArray[Item, Rank]: ...
@overload
def array(values: Sequence[IntLike]) -> ExprArray[IntExpr, One]: ...
@overload
def array(values: Sequence[Sequence[IntLike]]) -> ExprArray[IntExpr, Two]: ...
@overload
def array(values: object) -> ExprArray[Any]: ...


def array(values: object) -> ExprArray:  # type: ignore[misc] # of elements that the overloads name
    """An array of expressions and integers, from nested lists or a numpy array.

    It is needed for constants that an expression selects: ``array(costs)[i, j]``. The labels of a series or
    data frame of pandas are those of the array.
    """
    if isinstance(values, ExprArray):
        return values
    found = elements_of(values)
    if found is None:
        found = [values], ()
    return _axes(values, found[1]).array([element_like(one) for one in found[0]])


def _axes(values: object, shape: tuple[int, ...]) -> Axes:
    if not hasattr(values, "to_numpy"):
        return Axes(shape)
    from constrint.expr.alignment import labels_along, usable

    return Axes(shape, usable(labels_along(values)))


def element_like(value: object) -> object:
    """An element of an array: an expression, or one with fractional coefficients."""
    try:
        return as_expr(value)
    except NotWhole:
        return lifted(value)
