"""Records from data: everything that is wrong is named with its place, and copies are copies."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Annotated, Any, Literal

import msgspec
import pytest

from kerneltune.inputs.checked import InvalidError, Record, checked
from kerneltune.inputs.hardware import HardwareProfile, load_profile

Natural = Annotated[int, msgspec.Meta(ge=0)]


class Inner(Record, frozen=True, kw_only=True):
    """A record of a list."""

    name: str
    kind: Literal["in", "out"] = "in"


class Outer(Record, frozen=True, kw_only=True):
    """A record with each kind of field."""

    count: Natural
    wanted: bool = False
    parts: list[Inner] = msgspec.field(default_factory=list)
    sizes: dict[str, Natural] = msgspec.field(default_factory=dict)
    shape: tuple[Natural, Natural] = (1, 1)
    names: tuple[str, ...] = ()
    by_size: dict[int, Natural] = msgspec.field(default_factory=dict)
    either: int | list[int | str] | None = None

    def disagreements(self) -> Iterator[tuple[str, str]]:
        """A count that the shape contradicts."""
        if self.count > 100:
            yield "count", "exceeds 100"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({}, "missing key 'count'"),
        ({"count": -1}, "count: expected a whole number >= 0, found -1"),
        ({"count": True}, "count: expected a whole number, found True"),
        ({"count": 1, "wanted": 1}, "wanted: expected true or false, found 1"),
        ({"count": 1, "cuont": 2}, "unknown key 'cuont': did you mean 'count'?"),
        ({"count": 101}, "count: exceeds 100"),
        ({"count": 1, "parts": [{"name": "a"}, {"kind": "up"}]},
         "parts.1.kind: expected in or out, found 'up'; missing key 'parts.1.name'"),
        ({"count": 1, "parts": [3]}, "parts.0: expected keys and values, found 3"),
        ({"count": 1, "parts": {"name": "a"}}, "parts: expected a list"),
        ({"count": 1, "sizes": {"a": 1, "b": -2, "c": "x"}},
         "sizes.b: expected a whole number >= 0, found -2; sizes.c: expected a whole number, found 'x'"),
        ({"count": 1, "shape": [1]}, "shape: expected a list of length 2, found [1]"),
        ({"count": 1, "shape": [1, -1]}, "shape.1: expected a whole number >= 0, found -1"),
        ({"count": 1, "names": ["a", 2]}, "names.1: expected text, found 2"),
        ({"count": 1, "by_size": {"2": 1, "x": 2, "3": "y"}},
         "by_size.x: expected a whole number, found 'x'; by_size.3: expected a whole number, found 'y'"),
        ({"count": 1, "either": "x"}, "either: expected a whole number or a list or null, found 'x'"),
    ],
)  # fmt: skip
def test_everything_wrong_is_named(data: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidError) as caught:
        checked(data, Outer)
    assert str(caught.value) == said


def test_a_record_has_its_values_and_defaults() -> None:
    data = {
        "count": 2,
        "parts": [{"name": "a"}],
        "shape": [3, 4],
        "either": [1, "x"],
        "by_size": {"2": 3, 4: 5},
    }
    made = checked(data, Outer)
    given = Outer(count=2, parts=[Inner(name="a")], shape=(3, 4), either=[1, "x"], by_size={2: 3, 4: 5})
    assert made == given
    with pytest.raises(AttributeError):
        made.count = 3  # type: ignore[misc]


def test_a_copy_is_no_view() -> None:
    profile = load_profile("h100_sxm")
    profile.to_json()["cost"].clear()
    assert profile.cost


def complained(data: dict[str, Any]) -> set[int | str]:
    """The keys that a profile's data are refused for."""
    try:
        checked(data, HardwareProfile)
    except InvalidError as error:
        return {one.location[0] for one in error.complaints}
    return set()


def test_drawn_values_are_taken_or_refused_at_their_key() -> None:
    """Each key of a profile with a value of another kind: refused with the key's name, or a legal profile."""
    chosen = random.Random(0)
    data = load_profile("h100_sxm").to_json()
    strange: list[Any] = [None, True, -1, 0, 2**70, 1.5, "x", [], {}, [[1]], {"a": {}}, {1: 2}, [None], ""]
    refused = 0
    for key in data:
        for value in chosen.sample(strange, 8):
            named = complained({**data, key: value})
            refused += bool(named)
            if not named:
                assert getattr(checked({**data, key: value}, HardwareProfile), key) == value
            else:
                assert key in named or key.startswith(("cluster", "smem", "max_threads"))
    assert refused > 150
