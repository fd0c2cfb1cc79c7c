"""The data classes of the wire: rows, concatenation, features."""

from collections.abc import Callable

import numpy as np
import pytest

from plugrl.protocol.messages import Metadata, Observation, all_true, any_true

MakeObs = Callable[..., Observation]


@pytest.mark.parametrize("flags", [[], [False], [True], [True, False, True], [True] * 9])
@pytest.mark.parametrize("step", [1, 2])
def test_flags_are_looked_through(flags: list[bool], step: int) -> None:
    array = np.array(flags, np.bool_)[::step]
    assert any_true(array) == any(flags[::step])
    assert all_true(array) == all(flags[::step])


def test_rows_are_cut_from_every_array(make_obs: MakeObs) -> None:
    obs = make_obs(1.0, 2.0, 3.0, images=("cam",)).rows(np.array([2, 0]))
    assert len(obs) == 2
    assert obs.images["cam"][:, 0, 0, 0].tolist() == [3, 1]
    assert obs.states["s"].tolist() == [[3.0], [1.0]]
    assert obs.text.tolist() == ["row 3.0", "row 1.0"]


def test_observations_are_concatenated_in_order(make_obs: MakeObs) -> None:
    obs = Observation.concatenate([make_obs(1.0), make_obs(20.5, 3.0)])
    assert obs.states["s"].ravel().tolist() == [1.0, 20.5, 3.0]
    assert obs.text.tolist() == ["row 1.0", "row 20.5", "row 3.0"]


def test_one_observation_is_not_copied(make_obs: MakeObs) -> None:
    obs = make_obs(1.0)
    assert Observation.concatenate([obs]) is obs


@pytest.mark.parametrize("images", [(), ("cam", "extra")])
def test_observations_with_other_names_are_not_concatenated(
    images: tuple[str, ...], make_obs: MakeObs
) -> None:
    with pytest.raises(ValueError, match="same images and states"):
        Observation.concatenate([make_obs(1.0, images=("cam",)), make_obs(1.0, images=images)])


def test_features_are_the_strings_of_a_list() -> None:
    assert Metadata({"features": ["a", 1, "b"]}).features == ("a", "b")


@pytest.mark.parametrize("data", [{}, {"features": "reuse"}, {"features": None}])
def test_features_of_another_form_are_none(data: dict[str, object]) -> None:
    assert Metadata(data).features == ()
