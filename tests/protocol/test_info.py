"""Which info maps can be split per env, and what episode statistics may be."""

from typing import Any

import numpy as np
import pytest

from plugrl.errors import InvalidMessageError
from plugrl.protocol.info import check_info

TWO = np.zeros(2)


@pytest.mark.parametrize(
    ("info", "num_envs"),
    [
        ({}, 0),
        ({}, 2),
        ({"a": TWO}, 2),
        ({"a": TWO, "b": np.zeros((2, 3)), "c": 1.0, "d": "text", "e": [1, 2, 3]}, 2),
        ({"c": 1.0, "a": {"b": "text", "c": TWO}}, 2),
        ({"a": np.float32(1), "b": np.zeros(()), "c": TWO}, 2),
        ({"a": 1.0}, 1),
        ({"a": {"b": 1.0}, "c": None}, 1),
        ({"a": {"b": {"c": np.zeros(5)}}, "d": TWO}, 2),
        ({"a": {"b": {"c": np.zeros(5)}}}, 1),
    ],
)
def test_info_that_can_be_split_is_taken_as_it_is(info: dict[str, Any], num_envs: int) -> None:
    assert check_info(info, num_envs) is info


@pytest.mark.parametrize(
    ("info", "num_envs", "path"),
    [
        ({"a": TWO}, 1, "a"),
        ({"a": TWO}, 3, "a"),
        ({"a": {"b": TWO}}, 3, "a.b"),
        ({"a": TWO, "b": np.zeros(3)}, 2, "b"),
        ({"a": TWO, "b": {"c": np.zeros(1)}}, 2, "b.c"),
    ],
)
def test_an_array_without_a_row_for_each_env_is_refused(
    info: dict[str, Any], num_envs: int, path: str
) -> None:
    with pytest.raises(InvalidMessageError, match=rf"at \$\.data\.info\.{path}$"):
        check_info(info, num_envs)


@pytest.mark.parametrize(
    "info", [{"a": 1.0}, {"a": {"b": "text"}}, {"a": {"b": {"c": TWO}}}, {"a": np.zeros(())}]
)
def test_a_map_without_arrays_is_a_single_entry(info: dict[str, Any]) -> None:
    check_info(info, 1)
    with pytest.raises(InvalidMessageError, match="without arrays"):
        check_info(info, 2)


@pytest.mark.parametrize(
    "episode",
    [
        {"r": np.zeros(2), "l": np.zeros(2, "i4"), "s": TWO > 0, "mask": TWO > 0},
        {"r": np.zeros(2, "f4"), "l": np.zeros(2, "u8")},
        {"r": np.zeros(2), "t": np.zeros(2)},
        {"r": np.zeros(2), "l": 5, "s": True},
    ],
)
def test_episode_statistics_are_taken(episode: dict[str, Any]) -> None:
    info = {"episode": episode}
    assert check_info(info, 2) is info


def test_episode_statistics_of_one_env_may_be_plain_numbers() -> None:
    info = {"episode": {"r": 1.5, "l": 3, "s": False, "mask": np.True_}}
    assert check_info(info, 1) is info


@pytest.mark.parametrize(
    "episode",
    [
        np.zeros(2),
        {"r": np.array(["a", "b"])},
        {"r": np.zeros((2, 1))},
        {"r": np.zeros(2), "l": np.zeros(2)},
        {"r": np.zeros(2), "l": 1.5},
        {"r": np.zeros(2), "s": np.zeros(2)},
        {"r": np.zeros(2), "mask": np.zeros(2, "i8")},
        {"r": np.zeros(2), "s": None},
        {"r": [1.0, 2.0], "x": TWO},
        {"r": "text", "x": TWO},
    ],
)
def test_episode_statistics_of_another_kind_are_refused(episode: Any) -> None:
    with pytest.raises(InvalidMessageError, match=r"at \$\.data\.info\.episode"):
        check_info({"episode": episode}, 2)
