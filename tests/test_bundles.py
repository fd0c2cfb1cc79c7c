"""Bundles are dataclasses with slots."""

from dataclasses import dataclass, field, fields, replace

import pytest

from plugrl.bundles import bundle


@bundle
class Pair:
    """Two things."""

    first: int
    second: list[int] = field(default_factory=list)


def test_a_bundle_is_made_compared_and_copied_as_a_dataclass() -> None:
    pair = Pair(first=1)
    assert pair == Pair(1, [])
    assert pair != Pair(2)
    assert replace(pair, second=[3]) == Pair(1, [3])
    assert [entry.name for entry in fields(pair)] == ["first", "second"]


def test_a_bundle_takes_no_other_attributes() -> None:
    with pytest.raises(AttributeError):
        Pair(1).third = 3  # type: ignore[attr-defined]


def test_a_bundle_costs_less_than_a_frozen_dataclass_for_it_sets_its_fields_itself() -> None:
    @dataclass(frozen=True)
    class Frozen:
        first: int

    assert "__setattr__" in vars(Frozen)
    assert "__setattr__" not in vars(Pair)
