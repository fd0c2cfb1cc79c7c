import gymnasium as gym
import numpy as np
import pytest

from plugrl.config.dummy import DummyEnvConfig
from plugrl.config.gymnasium import GymnasiumEnvConfig
from plugrl.config.probe import ProbeEnvConfig
from plugrl.envs.base import StepResult, VectorEnv
from plugrl.envs.dummy import DummyEnv
from plugrl.envs.gymnasium import GymnasiumEnv
from plugrl.envs.probe import ProbeEnv
from plugrl.protocol.messages import Observation

REUSE = {"features": ["reuse-feedback-obs"]}


def lean(state):
    """A choice of CartPole's two that depends on what is seen, and does not balance for long."""
    return (state[..., 2] + 0.2 * state[..., 3] > 0).astype(np.int64)


def cartpole_policy(infer):
    return lean(infer.obs.states["state"])[None, :, None]


def cartpole_episodes_by_hand(seed, count):
    env = gym.make("CartPole-v1")
    episodes: list[tuple[float, int]] = []
    obs, _ = env.reset(seed=seed)
    while len(episodes) < count:
        total, length, done = 0.0, 0, False
        while not done:
            obs, reward, terminated, truncated, _ = env.step(int(lean(obs)))
            total, length, done = total + float(reward), length + 1, terminated or truncated
        episodes.append((total, length))
        obs, _ = env.reset()
    return episodes


class Counting(VectorEnv):
    """Pays 10**(steps so far) for each step; env i's episodes last ``lengths[i]`` steps.

    Its text gets longer with each step.
    """

    def __init__(self, lengths, truncates=False):
        self.num_envs = len(lengths)
        self._lengths = np.array(lengths)
        self._truncates = truncates
        self._t = np.zeros(self.num_envs, int)
        self.calls = []
        self.seeds = []

    def reset(self, env_indices, seeds):
        self.seeds.append(seeds)
        self.calls.append(("reset", env_indices.tolist()))
        self._t[env_indices] = 0
        return self._observe(env_indices)

    def step(self, env_indices, actions):
        self.calls.append(("step", env_indices.tolist(), actions.tolist()))
        rewards = 10.0 ** self._t[env_indices]
        self._t[env_indices] += 1
        done = self._t[env_indices] == self._lengths[env_indices]
        no = np.zeros_like(done)
        ends = (no, done) if self._truncates else (done, no)
        return StepResult(self._observe(env_indices), rewards, *ends)

    def _observe(self, env_indices):
        t = self._t[env_indices]
        text = np.array(["x" * n for n in t])
        return Observation({}, {"t": t[:, None].astype(np.float64)}, text)


@pytest.mark.many_examples
@pytest.mark.parametrize("metadata", [{}, REUSE])
def test_statistics_of_every_env_are_those_of_single_env_loops(policy_server, metadata):
    server = policy_server(act=cartpole_policy, metadata=metadata)
    env = GymnasiumEnv(GymnasiumEnvConfig(id="CartPole-v1"), 3)

    server.run(env, num_episodes=9, seed=5)

    for i in range(3):
        reported = [(r, n) for j, r, n, _ in server.episodes() if j == i]
        assert reported
        assert reported == cartpole_episodes_by_hand(5 + i, len(reported))


@pytest.mark.many_examples
@pytest.mark.parametrize("ending", ["resync", "abort", "feedback timeout"])
@pytest.mark.parametrize("metadata", [{}, REUSE])
def test_an_episode_goes_on_over_a_reconnect_and_keeps_its_statistics(
    policy_server, metadata, ending
):
    server = policy_server(
        act=cartpole_policy,
        metadata=metadata,
        endings=[(3, ending), (1, ending.upper()), (4, ending.upper())],
    )
    env = GymnasiumEnv(GymnasiumEnvConfig(id="CartPole-v1"), 2)

    server.run(env, num_episodes=4, seed=1)

    assert len(server.thread.connects) == 4
    for i in range(2):
        reported = [(r, n) for j, r, n, _ in server.episodes() if j == i]
        assert reported == cartpole_episodes_by_hand(1 + i, len(reported))


def test_a_connection_begins_with_infer_and_a_feedback_still_held_is_dropped(policy_server):
    server = policy_server(endings=[(2, "ABORT")])
    server.run(Counting([6]), num_episodes=1)
    assert server.order[:3] == [(0, "infer"), (0, "feedback"), (0, "infer")]
    assert server.order[3:5] == [(1, "infer"), (1, "feedback")]
    # The second step was run; its reward is in no feedback but in the episode's return.
    assert [f.rewards.tolist() for f in server.feedbacks] == [[1], [100], [1e3], [1e4], [1e5]]
    assert server.episodes() == [(0, 111111.0, 6, False)]


def test_an_env_that_had_just_finished_is_reset_after_a_reconnect(policy_server):
    server = policy_server(endings=[(2, "ABORT")])
    env = Counting([2, 5])
    server.run(env, num_episodes=2)
    kinds = [call[:2] for call in env.calls]
    assert kinds[:4] == [
        ("reset", [0, 1]),
        ("step", [0, 1]),
        ("step", [0, 1]),
        ("reset", [0]),
    ]
    # Env 1 went on: its text tells its step.
    assert server.infers[2].obs.text.tolist() == ["", "xx"]


def test_every_probe_episode_has_its_length_and_return(policy_server):
    server = policy_server(metadata={"action_dim": 2}, act=lambda m: np.ones((4, len(m.obs), 2)))
    server.run(ProbeEnv(ProbeEnvConfig(), 4), num_episodes=20, replan_steps=2)
    episodes = server.episodes()
    assert {(i, r, n) for i, r, n, _ in episodes} == {(0, 3, 3), (1, 5, 5), (2, 7, 7), (3, 3, 3)}
    assert sum(i == 0 for i, *_ in episodes) == sum(i == 3 for i, *_ in episodes)


def test_a_chunk_ends_early_where_an_episode_ends_and_its_rewards_are_summed(policy_server):
    server = policy_server(act=lambda m: np.arange(3.0)[:, None, None] + np.zeros((3, 2, 1)))
    env = Counting([2, 4])

    server.run(env, num_episodes=1)

    assert env.calls[1:] == [
        ("step", [0, 1], [[0.0], [0.0]]),
        ("step", [0, 1], [[1.0], [1.0]]),
        ("step", [1], [[2.0]]),
    ]
    (feedback,) = server.feedbacks
    assert feedback.rewards.tolist() == [11.0, 111.0]
    assert feedback.rewards.dtype == np.float32
    assert feedback.terminated.tolist() == [True, False]
    assert feedback.obs.states["t"].tolist() == [[2.0], [3.0]]
    assert feedback.obs.text.tolist() == ["xx", "xxx"]


def test_replan_steps_runs_a_prefix_of_the_chunk(policy_server):
    server = policy_server(act=lambda m: np.arange(5.0)[:, None, None] * np.ones((5, 1, 1)))
    env = Counting([4])
    server.run(env, num_episodes=1, replan_steps=2)
    steps = [call[2] for call in env.calls if call[0] == "step"]
    assert steps == [[[0.0]], [[1.0]], [[0.0]], [[1.0]]]
    assert [f.rewards.tolist() for f in server.feedbacks] == [[11.0], [1100.0]]


def test_replan_steps_beyond_the_horizon_run_the_whole_chunk(policy_server):
    server = policy_server(act=lambda m: np.zeros((2, 1, 1)))
    server.run(Counting([4]), num_episodes=1, replan_steps=9)
    assert len(server.feedbacks) == 2


@pytest.mark.parametrize("metadata", [{}, REUSE])
def test_a_feedback_has_the_terminal_observation_and_the_next_infer_the_reset_one(
    policy_server, metadata
):
    server = policy_server(metadata=metadata)
    server.run(Counting([2, 3]), num_episodes=2)
    assert [f.obs.states["t"].ravel().tolist() for f in server.feedbacks] == [
        [1, 1],
        [2, 2],
        [1, 3],
    ]
    # The text of the reset env is the shorter one; that of the other must not be cut to it.
    assert [m.obs.states["t"].ravel().tolist() for m in server.infers] == [[0, 0], [1, 1], [0, 2]]
    assert server.infers[2].obs.text.tolist() == ["", "xx"]


def test_truncation_is_told_from_termination(policy_server):
    server = policy_server()
    server.run(Counting([1], truncates=True), num_episodes=1)
    (feedback,) = server.feedbacks
    assert (feedback.terminated.tolist(), feedback.truncated.tolist()) == ([False], [True])
    assert server.episodes() == [(0, 1.0, 1, False)]


def test_observations_cross_once_where_the_server_offers_it(policy_server):
    server = policy_server(metadata=REUSE)
    env = DummyEnv(DummyEnvConfig(episode_length=3, num_images=1), 2)
    server.run(env, num_episodes=4)
    assert server.reuses == [
        None,
        [True, True],
        [True, True],
        None,
        [True, True],
        [True, True],
    ]


@pytest.mark.parametrize(
    ("metadata", "wanted"), [({}, True), ({"features": ["other"]}, True), (REUSE, False)]
)
def test_observations_are_complete_where_reuse_is_not_offered_or_not_wanted(
    policy_server, metadata, wanted
):
    server = policy_server(metadata=metadata)
    env = DummyEnv(DummyEnvConfig(episode_length=3), 2)
    server.run(env, num_episodes=2, reuse_feedback_obs=wanted)
    assert server.reuses == [None] * 3


def test_reuse_starts_anew_on_each_connection(policy_server):
    server = policy_server(metadata=REUSE, endings=[(2, "resync")])
    server.run(Counting([5]), num_episodes=1)
    assert [number for number, kind in server.order if kind == "infer"] == [0, 0, 0, 1, 1, 1]
    assert server.reuses == [None, [True], [True], None, [True], [True]]


def test_step_ids_count_the_chunks_of_each_envs_episode(policy_server):
    server = policy_server()
    server.run(Counting([2, 3]), num_episodes=2)
    assert [m.step_ids.tolist() for m in server.infers] == [[0, 0], [1, 1], [0, 2]]
    assert [f.step_ids.tolist() for f in server.feedbacks] == [[1, 1], [2, 2], [1, 3]]


def test_seeds_are_given_once_at_the_first_reset(policy_server):
    server = policy_server()
    env = Counting([1, 2])
    server.run(env, num_episodes=3, seed=40)
    assert env.seeds == [[40, 41], None]


def test_two_runs_with_one_seed_report_the_same(policy_server):
    reports = []
    for _ in range(2):
        server = policy_server(act=lambda m: np.full((1, len(m.obs), 3), 0.3, np.float32))
        env = GymnasiumEnv(GymnasiumEnvConfig(id="Hopper-v5"), 2)
        server.run(env, num_episodes=3)
        reports.append(server.episodes())
    assert reports[0] == reports[1]
