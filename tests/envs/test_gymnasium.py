import re
import subprocess
import sys

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

from plugrl.config.base import EnvSizes
from plugrl.config.gymnasium import GymnasiumEnvConfig
from plugrl.envs.gymnasium import GymnasiumEnv, GymnasiumVector
from plugrl.errors import EnvError, IncompatibleError, UsageError

# gymnasium warns of old ids through this category; the tests ask for such ids on purpose.
old_ids = pytest.mark.filterwarnings("ignore:.*out of date:DeprecationWarning")


def make(env_id, num_envs=1, **fields):
    return GymnasiumEnv(GymnasiumEnvConfig(id=env_id, **fields), num_envs)


class Scripted(gym.Env):
    """Returns the rewards and observations it is given; truncates itself after 3 steps."""

    observation_space = spaces.Box(-np.inf, np.inf, (1,), np.float64)
    action_space = spaces.Box(-1, 1, (1,), np.float32)

    def __init__(self, rewards=(1.0,) * 10, observations=(0.0,) * 10, success_at=None):
        self.rewards, self.observations, self.success_at = rewards, observations, success_at
        self.t = 0
        self.closed = False

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t = 0
        return np.zeros(1), {}

    def step(self, action):
        self.t += 1
        info = {} if self.success_at is None else {"is_success": self.t == self.success_at}
        obs = np.array([self.observations[self.t - 1]])
        return obs, self.rewards[self.t - 1], False, self.t >= 3, info

    def close(self):
        self.closed = True


class Drawing(Scripted):
    def __init__(self, picture):
        super().__init__()
        self.picture = picture

    def render(self):
        return self.picture


def scripted(**kwargs):
    return Scripted(**kwargs)


def test_hopper_steps_like_a_hand_written_loop_and_keeps_its_terminal_observation():
    vector = make("Hopper-v5", 2)
    singles = [gym.make("Hopper-v5") for _ in range(2)]
    everyone, rng = np.arange(2), np.random.default_rng(0)
    obs = vector.reset(everyone, [7, 8])
    raw = [env.reset(seed=7 + i)[0] for i, env in enumerate(singles)]
    assert np.array_equal(obs.states["state"], np.stack(raw))
    assert obs.states["state"].dtype == np.float64
    ended = 0
    while ended < 3:
        actions = rng.uniform(-1, 1, (2, 3)).astype(np.float32)
        result = vector.step(everyone, actions)
        for i, env in enumerate(singles):
            one, reward, terminated, truncated, _ = env.step(actions[i])
            assert np.array_equal(result.obs.states["state"][i], one)
            assert result.rewards[i] == reward
            assert (result.terminated[i], result.truncated[i]) == (terminated, truncated)
            if terminated or truncated:
                ended += 1
                begun = vector.reset(np.array([i]), None).states["state"]
                assert np.array_equal(begun[0], env.reset()[0])


def test_seeds_repeat_exactly_and_differ_by_env():
    first, again = make("CartPole-v1", 2), make("CartPole-v1", 2)
    a = first.reset(np.arange(2), [3, 4]).states["state"]
    b = again.reset(np.arange(2), [3, 4]).states["state"]
    assert np.array_equal(a, b)
    assert not np.array_equal(a[0], a[1])


def test_cartpole_takes_int64_choices():
    env = make("CartPole-v1", 2)
    env.reset(np.arange(2), [0, 1])
    result = env.step(np.arange(2), np.array([[0], [1]]))
    assert result.rewards.tolist() == [1.0, 1.0]
    # Pushed to the left, then to the right.
    assert result.obs.states["state"][0, 1] < 0 < result.obs.states["state"][1, 1]


@pytest.mark.parametrize(("env_id", "choices"), [("FrozenLake-v1", 16), ("Taxi-v4", 500)])
def test_discrete_observations_are_one_hot(env_id, choices):
    state = make(env_id).reset(np.array([0]), [0]).states["state"]
    assert state.shape == (1, choices)
    assert state.sum() == 1


def test_the_tuple_of_blackjack_becomes_numbered_states():
    states = make("Blackjack-v1").reset(np.array([0]), [0]).states
    assert {name: state.shape for name, state in states.items()} == {
        "0": (1, 32),
        "1": (1, 11),
        "2": (1, 2),
    }


@pytest.mark.parametrize("limit", [2, 700])
def test_the_step_limit_can_be_lowered_and_raised(limit):
    # CartPole's own limit is 500; pushing to where the pole leans keeps it up for longer.
    env = make("CartPole-v1", max_episode_steps=limit)
    one = np.array([0])
    state = env.reset(one, [0]).states["state"]
    for t in range(1, limit + 1):
        push = int(state[0] @ np.array([0.3, 1.0, 10.0, 3.0]) > 0)
        result = env.step(one, np.array([push]))
        state = result.obs.states["state"]
        assert not result.terminated[0]
        assert result.truncated[0] == (t == limit)


def test_without_a_limit_of_ours_the_ids_own_one_holds():
    env = make("Pendulum-v1")
    one = np.array([0])
    for _ in range(2):
        env.reset(one, None)
        flags = [env.step(one, np.zeros((1, 1))).truncated[0] for _ in range(200)]
        assert flags == [False] * 199 + [True]


def test_an_id_without_a_version_has_the_limit_of_the_newest():
    with pytest.warns(UserWarning, match="latest versioned environment"):
        env = make("Pendulum")
    assert env._max_steps == 200


def test_its_sizes_are_those_of_its_spaces():
    assert make("Hopper-v5").sizes() == EnvSizes(obs_dim=11, action_dim=3)
    cartpole = EnvSizes(obs_dim=4, action_dim=0, num_choices=(2,))
    assert make("CartPole-v1").sizes() == cartpole


def test_numbers_up_to_the_largest_of_float32_will_do():
    largest = float(np.finfo(np.float32).max)
    vector = GymnasiumVector([Scripted(rewards=[-largest], observations=[largest])])
    vector.reset(np.array([0]), None)
    result = vector.step(np.array([0]), np.zeros((1, 1)))
    assert result.rewards.tolist() == [-largest]
    assert result.obs.states["state"].tolist() == [[largest]]


def test_actions_beyond_the_bounds_are_clipped_or_rescaled_at_the_env():
    clipped, rescaled = make("Pendulum-v1"), make("Pendulum-v1", action_bounds="rescale")
    reference = gym.make("Pendulum-v1")
    one = np.array([0])
    for env, action in ((clipped, 9.0), (rescaled, 1.0)):
        env.reset(one, [0])
        reference.reset(seed=0)
        expected = reference.step(np.array([2.0], np.float32))
        result = env.step(one, np.array([[action]], np.float32))
        assert result.rewards[0] == expected[1]


def test_a_class_or_function_is_named_by_its_module():
    for name in ("Scripted", "scripted"):
        env = make(f"{__name__}:{name}", kwargs={"rewards": [5.0]})
        env.reset(np.array([0]), None)
        assert env.step(np.array([0]), np.zeros((1, 1))).rewards.tolist() == [5.0]


def test_ready_made_envs_keep_their_own_limit_and_are_closed():
    envs = [Scripted(), Scripted()]
    vector = GymnasiumVector(envs)
    vector.reset(np.arange(2), None)
    flags = [vector.step(np.arange(2), np.zeros((2, 1))).truncated.tolist() for _ in range(3)]
    assert flags == [[False] * 2, [False] * 2, [True] * 2]
    vector.close()
    assert all(env.closed for env in envs)


def test_envs_that_reset_inside_their_own_step_are_refused():
    with pytest.raises(UsageError, match=r"expected a gymnasium.Env, got SyncVectorEnv; .* a list"):
        GymnasiumVector([gym.make_vec("CartPole-v1", vectorization_mode="sync")])  # type: ignore[list-item]
    with pytest.raises(UsageError, match="expected an env without autoreset"):
        GymnasiumVector([gym.wrappers.FlattenObservation(gym.wrappers.Autoreset(Scripted()))])


def test_success_is_read_from_the_info_of_the_step_that_ends_an_episode():
    vector = GymnasiumVector([Scripted(success_at=2), Scripted(success_at=3), Scripted()])
    vector.reset(np.arange(3), None)
    infos = [vector.step(np.arange(3), np.zeros((3, 1))).info for _ in range(3)]
    assert infos[:2] == [{}, {}]
    assert infos[2]["success"].tolist() == [False, True, False]


@old_ids
@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("CartPole-vo", "CartPole-v1"),
        ("CartPol-v1", "CartPole-v1"),
        ("Hopper-v9", "Hopper-v5"),
        ("Taxi-v3", "Taxi-v4"),
    ],
)
def test_an_unknown_id_is_refused_with_the_nearest(wrong, right):
    with pytest.raises(UsageError, match=f"unknown gymnasium id '{wrong}', did you mean '{right}'"):
        make(wrong)


@pytest.mark.parametrize(
    ("env_id", "sentence"),
    [
        ("nothing_like_it_exists", "unknown gymnasium id 'nothing_like_it_exists' "),
        ("no_such_module:Env", "can't make 'no_such_module:Env' .*No module named"),
        ("builtins:dict", "expected a gymnasium.Env, got dict, at builtins:dict"),
    ],
)
def test_what_is_no_env_is_refused_with_a_sentence(env_id, sentence):
    with pytest.raises(UsageError, match=sentence):
        make(env_id)


@pytest.mark.parametrize(
    ("env_id", "sentence"),
    [
        (
            "own_envs:Walk",
            (
                "module 'own_envs' has no env class 'Walk', did you mean 'WalkEnv'? "
                "(it has: JumpEnv, WalkEnv)"
            ),
        ),
        ("own_envs:gym", "module 'own_envs' has no env class 'gym' (it has: JumpEnv, WalkEnv)"),
        ("json:Walk", "module 'json' has no env class 'Walk' (it has: none)"),
        ("own_envs:Walk-v1", "unknown gymnasium id 'own_envs:Walk-v1'"),
    ],
)
def test_a_class_that_a_module_lacks_is_refused_with_those_it_has(
    tmp_path, monkeypatch, env_id, sentence
):
    (tmp_path / "own_envs.py").write_text(
        "import gymnasium as gym\n"
        "from gymnasium import Env\n"
        "class WalkEnv(Env): pass\n"
        "class JumpEnv(WalkEnv): pass\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UsageError, match=re.escape(sentence)):
        make(env_id)


def test_a_wrong_keyword_argument_is_refused_with_a_sentence():
    with pytest.raises(UsageError, match=r"can't make 'Pendulum-v1' with {'colour': 1}: .*colour"):
        make("Pendulum-v1", kwargs={"colour": 1})


def test_without_mujoco_the_sentence_says_what_to_install():
    program = """
import sys
sys.modules["mujoco"] = None
from plugrl.config.gymnasium import GymnasiumEnvConfig
from plugrl.envs.gymnasium import GymnasiumEnv
from plugrl.errors import UsageError
try:
    GymnasiumEnv(GymnasiumEnvConfig(id="Hopper-v5"), 1)
except UsageError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=50, check=True
    )
    assert done.stdout.startswith("can't make 'Hopper-v5': ")
    assert done.stdout.endswith("; pip install 'plugrl[mujoco]'\n")


def test_a_nan_observation_or_reward_is_an_error():
    blind = GymnasiumVector([Scripted(observations=[np.nan])])
    blind.reset(np.array([0]), None)
    with pytest.raises(EnvError, match="expected finite float32 observations"):
        blind.step(np.array([0]), np.zeros((1, 1)))
    unpaid = GymnasiumVector([Scripted(rewards=[np.nan])])
    unpaid.reset(np.array([0]), None)
    with pytest.raises(EnvError, match=r"expected finite float32 rewards, got \[nan\]"):
        unpaid.step(np.array([0]), np.zeros((1, 1)))


def test_an_action_of_the_wrong_width_is_refused():
    env = make("Hopper-v5")
    env.reset(np.array([0]), None)
    with pytest.raises(IncompatibleError, match=r"expected actions 3 wide .* got 7 from"):
        env.step(np.array([0]), np.zeros((1, 7)))


def test_an_env_that_draws_no_picture_says_so():
    with pytest.raises(UsageError, match=r"can't draw .*Scripted"):
        GymnasiumVector([Scripted()]).render()
    with pytest.raises(UsageError, match="got NoneType; make it with render_mode='rgb_array'"):
        GymnasiumVector([Drawing(None)]).render()


def test_the_picture_is_the_envs_own():
    picture = np.ones((2, 2, 3), np.uint8)
    assert GymnasiumVector([Drawing(picture)]).render() is picture


def test_the_render_mode_reaches_the_env():
    assert make("CartPole-v1", render_mode="rgb_array")._envs[0].render_mode == "rgb_array"
