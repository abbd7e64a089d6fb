"""Records: the behaviour of a frozen dataclass with slots."""

import copy
import pickle

import pytest

from constrint.support.record import record


class Shape:
    """A base with a slot and a method."""

    __slots__ = ("_note",)

    def area(self) -> int:
        return -1


@record()
class Rectangle(Shape):
    width: int
    height: int
    name: str = "rectangle"
    sides = 4

    def area(self) -> int:
        return self.width * self.height


class Square(Rectangle):
    __slots__ = ()


@record(eq=False)
class Tag:
    text: str


def test_fields_are_set_by_place_by_name_and_by_default() -> None:
    assert (Rectangle(2, 3).area(), Rectangle(height=3, width=2).name, Rectangle(2, 3, "r").name) == (
        6,
        "rectangle",
        "r",
    )
    assert repr(Rectangle(2, height=3)) == "Rectangle(width=2, height=3, name='rectangle')"
    assert Rectangle.sides == Square(1, 1).sides == 4


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'height'"):
        Rectangle(2)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unexpected keyword argument 'depth'"):
        Rectangle(2, 3, depth=4)  # type: ignore[call-arg]


def test_records_do_not_change() -> None:
    for one in (Rectangle(2, 3), Square(2, 2)):
        with pytest.raises(AttributeError, match=r"'width' of .* cannot be changed"):
            one.width = 5  # type: ignore[misc]
        with pytest.raises(AttributeError, match="cannot be changed"):
            del one.width
        with pytest.raises(AttributeError):
            one.colour = "red"  # type: ignore[attr-defined]
        assert not hasattr(one, "__dict__")


def test_equality_is_that_of_kind_and_fields_or_identity() -> None:
    assert Rectangle(2, 3) == Rectangle(2, 3)
    assert hash(Rectangle(2, 3)) == hash(Rectangle(2, 3))
    assert Rectangle(2, 3) != Rectangle(3, 2)
    assert Rectangle(2, 2) != Square(2, 2)
    assert Tag("a") != Tag("a")
    assert len({Tag("a"), Tag("a")}) == 2


@pytest.mark.parametrize("one", [Rectangle(2, 3, "r"), Square(2, 2)])
def test_copies_are_equal(one: Rectangle) -> None:
    for other in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):  # noqa: S301 - our own
        assert other == one
        assert type(other) is type(one)


def test_patterns_match_fields() -> None:
    match Rectangle(2, 3):
        case Rectangle(width, height, name):
            assert (width, height, name) == (2, 3, "rectangle")
