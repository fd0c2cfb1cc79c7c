import numpy as np
import pytest
from gymnasium import spaces

from plugrl.envs.spaces import ObservationLayout, action_decoder, action_sizes
from plugrl.errors import EnvError, IncompatibleError, InvalidMessageError


def box(*shape, dtype=np.float64):
    return spaces.Box(-np.inf, np.inf, shape, dtype)


IMAGE = spaces.Box(0, 255, (4, 6, 3), np.uint8)


@pytest.mark.parametrize(
    ("dtype", "on_the_wire"),
    [(np.float16, "f4"), (np.float32, "f4"), (np.float64, "f8")],
)
def test_a_box_becomes_a_flat_state_of_its_own_precision(dtype, on_the_wire):
    layout = ObservationLayout(box(2, 2, dtype=dtype))
    obs = layout.encode([np.array([[1, 2], [3, 4]], dtype), np.zeros((2, 2), dtype)])
    assert obs.states["state"].tolist() == [[1, 2, 3, 4], [0, 0, 0, 0]]
    assert obs.states["state"].dtype == on_the_wire
    assert (obs.images, obs.text.tolist()) == ({}, ["", ""])


@pytest.mark.parametrize(("dtype", "wire"), [(np.int8, "f4"), (np.uint8, "f4"), (np.int64, "f8")])
def test_an_integer_box_becomes_floats_wide_enough_for_it(dtype, wire):
    layout = ObservationLayout(spaces.Box(0, 100, (2,), dtype))
    obs = layout.encode([np.array([3, 100], dtype)])
    assert obs.states["state"].tolist() == [[3.0, 100.0]]
    assert obs.states["state"].dtype == wire


def test_a_uint8_box_of_rank_3_becomes_an_image():
    picture = np.arange(72, dtype=np.uint8).reshape(4, 6, 3)
    obs = ObservationLayout(IMAGE).encode([picture, picture])
    assert obs.states == {}
    assert np.array_equal(obs.images["image"], np.stack([picture, picture]))


def test_discrete_becomes_one_hot_counted_from_its_start():
    obs = ObservationLayout(spaces.Discrete(3, start=5)).encode([5, 7])
    assert obs.states["state"].tolist() == [[1, 0, 0], [0, 0, 1]]
    assert obs.states["state"].dtype == np.float32


def test_multi_discrete_becomes_one_hots_side_by_side():
    obs = ObservationLayout(spaces.MultiDiscrete([2, 3])).encode([np.array([1, 0])])
    assert obs.states["state"].tolist() == [[0, 1, 1, 0, 0]]


def test_multi_binary_becomes_zeros_and_ones():
    obs = ObservationLayout(spaces.MultiBinary(3)).encode([np.array([1, 0, 1], np.int8)])
    assert obs.states["state"].tolist() == [[1, 0, 1]]


def test_the_leaves_of_dicts_and_tuples_are_named_by_their_paths():
    space = spaces.Dict(
        {
            "arm": spaces.Dict({"joints": box(2), "wrist": IMAGE}),
            "pair": spaces.Tuple([spaces.Discrete(2), box(1)]),
            "task": spaces.Text(20),
        }
    )
    raw = {
        "arm": {"joints": np.array([1.0, 2.0]), "wrist": np.zeros((4, 6, 3), np.uint8)},
        "pair": (1, np.array([9.0])),
        "task": "pick up the cube",
    }
    obs = ObservationLayout(space).encode([raw])
    assert {name: state.tolist() for name, state in obs.states.items()} == {
        "arm.joints": [[1.0, 2.0]],
        "pair.0": [[0.0, 1.0]],
        "pair.1": [[9.0]],
    }
    assert obs.images["arm.wrist"].shape == (1, 4, 6, 3)
    assert obs.text.tolist() == ["pick up the cube"]


def test_a_space_without_a_form_on_the_wire_is_refused_by_name_and_place():
    space = spaces.Dict({"sight": spaces.Sequence(box(2))})
    with pytest.raises(IncompatibleError, match=r"got Sequence\(.*\) at sight; wrap the env"):
        ObservationLayout(space)


def test_two_texts_are_refused():
    space = spaces.Dict({"a": spaces.Text(3), "b": spaces.Text(3)})
    with pytest.raises(IncompatibleError, match=r"at most one Text space, got \['a', 'b'\]"):
        ObservationLayout(space)


@pytest.mark.parametrize(
    ("space", "sizes"),
    [
        (box(2, 3), (6, ())),
        (spaces.Discrete(4), (0, (4,))),
        (spaces.MultiDiscrete([2, 3]), (0, (2, 3))),
        (spaces.MultiBinary(3), (0, (2, 2, 2))),
    ],
)
def test_an_action_has_a_width_or_choices(space, sizes):
    assert action_sizes(space) == sizes


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_an_observation_that_is_not_finite_is_an_error_that_names_the_row(bad):
    with pytest.raises(
        EnvError, match=r"expected finite float32 observations, got .* at state, row 1"
    ):
        ObservationLayout(box(2)).encode([np.zeros(2), np.array([0.0, bad])])


def test_an_observation_of_another_shape_than_its_space_is_an_error():
    with pytest.raises(EnvError, match=r"expected an observation of Box.*got shape \(3,\)"):
        ObservationLayout(box(2)).encode([np.zeros(3)])
    with pytest.raises(EnvError, match=r"expected an image of Box.*got uint8 of shape \(2, 2, 3\)"):
        ObservationLayout(IMAGE).encode([np.zeros((2, 2, 3), np.uint8)])


SMALL = spaces.Box(np.array([-2.0, 0.0], np.float32), np.array([2.0, 10.0], np.float32))


def test_box_actions_are_clipped_to_the_bounds():
    decode = action_decoder(SMALL)
    actions = decode(np.array([[-5.0, 20.0], [1.5, 3.0]], np.float32))
    assert np.asarray(actions).tolist() == [[-2.0, 10.0], [1.5, 3.0]]
    assert all(SMALL.contains(action) for action in actions)


def test_box_actions_are_rescaled_from_minus_one_to_one_to_the_bounds():
    decode = action_decoder(SMALL, "rescale")
    actions = decode(np.array([[-1.0, 1.0], [0.0, 0.0], [-9.0, 9.0]], np.float32))
    assert np.asarray(actions).tolist() == [[-2.0, 10.0], [0.0, 5.0], [-2.0, 10.0]]
    assert all(SMALL.contains(action) for action in actions)


def test_rescaling_without_finite_bounds_is_refused():
    with pytest.raises(IncompatibleError, match="expected finite bounds to rescale to"):
        action_decoder(box(2), "rescale")


def test_a_box_action_keeps_the_shape_of_its_space():
    (action,) = action_decoder(spaces.Box(-1, 1, (2, 2)))(np.zeros((1, 4)))
    assert action.shape == (2, 2)


@pytest.mark.parametrize("shape", [(2,), (2, 1)])
def test_a_discrete_action_counts_from_the_spaces_start(shape):
    decode = action_decoder(spaces.Discrete(3, start=10))
    assert list(decode(np.array([0, 2]).reshape(shape))) == [10, 12]


def test_whole_floats_do_as_discrete_actions():
    assert list(action_decoder(spaces.Discrete(3))(np.array([[2.0]], np.float32))) == [2]


@pytest.mark.parametrize("choice", [-1, 3, 0.5, np.nan])
def test_a_choice_that_does_not_exist_is_refused(choice):
    decode = action_decoder(spaces.Discrete(3))
    with pytest.raises(IncompatibleError, match=r"expected whole actions from 0 to below \[3\]"):
        decode(np.array([[choice]]))


def test_multi_discrete_and_multi_binary_actions_are_rows_of_choices():
    (action,) = action_decoder(spaces.MultiDiscrete([2, 3]))(np.array([[1, 2]]))
    assert action.tolist() == [1, 2]
    binary = spaces.MultiBinary(2)
    (action,) = action_decoder(binary)(np.array([[1, 0]]))
    assert binary.contains(action)


def test_a_width_other_than_the_spaces_is_refused_with_both():
    for space in (SMALL, spaces.MultiDiscrete([2, 2])):
        with pytest.raises(IncompatibleError, match=r"expected actions 2 wide .* got 7 from the"):
            action_decoder(space)(np.zeros((1, 7)))


def test_a_nan_action_is_refused():
    with pytest.raises(InvalidMessageError, match="expected finite actions"):
        action_decoder(SMALL)(np.array([[np.nan, 0.0]]))


def test_an_action_space_without_a_form_on_the_wire_is_refused():
    with pytest.raises(IncompatibleError, match="expected a Box, Discrete, MultiDiscrete or"):
        action_decoder(spaces.Text(3))
