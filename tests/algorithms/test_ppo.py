import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from plugrl.algorithms.algorithm import TrainState
from plugrl.algorithms.ppo import PPO
from plugrl.config.base import EnvSizes
from plugrl.config.dummy import DummyPolicyConfig
from plugrl.config.gaussian import GaussianConfig
from plugrl.config.ppo import PPOConfig
from plugrl.data.progress import LearnProgress
from plugrl.errors import IncompatibleError, LearnDivergedError, LearnInterruptedError
from plugrl.policies.dummy import DummyPolicy
from plugrl.policies.gaussian import GaussianPolicy
from plugrl.protocol.messages import Observation

SMALL = PPOConfig(
    global_steps=1024, rollout_steps=128, num_minibatches=4, num_epochs=3, save_interval=2
)


def ppo(config: PPOConfig = SMALL, *, horizon: int = 1, seed: int = 0, **fields: Any) -> PPO:
    torch.manual_seed(seed)
    policy = GaussianPolicy(
        GaussianConfig(action_horizon=horizon), EnvSizes(obs_dim=2, action_dim=2), seed=seed
    )
    return PPO(replace(config, **fields), policy, seed=seed)


def collect(algorithm: PPO, world: Any) -> None:
    while not algorithm.should_learn():
        algorithm.feedback(world.frames(algorithm.infer(obs_of(world))))


def obs_of(world: Any) -> Observation:
    return Observation({}, {"x": world.obs}, np.full(len(world.obs), ""))


def assert_same(a: TrainState, b: TrainState) -> None:
    for ours, theirs in ((a.model, b.model), (a.optimizer, b.optimizer)):
        assert ours.keys() == theirs.keys()
        for name in ours:
            np.testing.assert_array_equal(ours[name], theirs[name], err_msg=name)
    assert a.counters == b.counters


class InterruptedAt(LearnProgress):
    """Is interrupted before its n-th minibatch."""

    def __init__(self, n: int) -> None:
        super().__init__()
        self.left = n

    def step(self, **where: int) -> None:
        self.left -= 1
        if self.left < 0:
            self.interrupt()
        super().step(**where)


@pytest.mark.parametrize("horizon", [1, 4])
def test_before_the_first_step_of_every_learn_the_ratio_is_one(
    drive: Any, target: Callable[..., Any], horizon: int
) -> None:
    algorithm, world = ppo(horizon=horizon), target(8)
    for _ in range(3):
        collect(algorithm, world)
        batch = algorithm._batch(algorithm._rollout.by_stream())
        log_probs = algorithm.policy.evaluate(batch.inputs, batch.actions).log_probs
        ratio = (log_probs - batch.old_log_probs).exp().detach()
        torch.testing.assert_close(ratio.mean(), torch.tensor(1.0), atol=1e-6, rtol=0)
        torch.testing.assert_close(ratio, torch.ones(128), atol=5e-6, rtol=0)
        drive(algorithm, world, 1)


@pytest.mark.many_examples
def test_it_improves_a_simple_task(drive: Any, target: Callable[..., Any]) -> None:
    algorithm = ppo(
        rollout_steps=512, num_minibatches=8, num_epochs=10, learning_rate=3e-3, global_steps=10**6
    )
    metrics = drive(algorithm, target(8), 12)
    first, last = (m["rollout/episode_return_mean"] for m in (metrics[0], metrics[-1]))
    assert first < -9  # 4 steps of 2 dimensions, each about 1 + 1/3
    assert last > -4
    assert metrics[-1]["train/explained_variance"] > metrics[0]["train/explained_variance"]


def test_the_same_seeds_give_the_same_weights(drive: Any, target: Callable[..., Any]) -> None:
    states = []
    for _ in range(2):
        algorithm = ppo()
        drive(algorithm, target(3), 3)
        states.append(algorithm.state())
    assert_same(*states)


def test_another_seed_gives_other_weights(drive: Any, target: Callable[..., Any]) -> None:
    first, second = ppo(seed=0), ppo(seed=1)
    drive(first, target(3), 1)
    drive(second, target(3), 1)
    name = "actor.layers.0.weight"
    assert not np.array_equal(first.state().model[name], second.state().model[name])


@pytest.mark.parametrize("options", [{}, {"adaptive_kl": 0.001, "anneal_clip_ratio": True}])
def test_a_resumed_run_equals_an_uninterrupted_one_bit_for_bit(
    drive: Any, target: Callable[..., Any], options: dict[str, Any]
) -> None:
    straight, world = ppo(**options), target(3)
    drive(straight, world, 2)
    resumed, its_world = ppo(seed=9, **options), copy.deepcopy(world)
    resumed.load_state(straight.state())
    assert drive(straight, world, 2) == drive(resumed, its_world, 2)
    assert_same(straight.state(), resumed.state())


@pytest.mark.parametrize("minibatches_before", [0, 1, 7])
def test_an_interrupted_learn_is_undone_by_the_state_before(
    drive: Any, target: Callable[..., Any], minibatches_before: int
) -> None:
    algorithm, world = ppo(), target(3)
    drive(algorithm, world, 1)
    collect(algorithm, world)
    before = algorithm.state()
    with pytest.raises(LearnInterruptedError):
        algorithm.learn(InterruptedAt(minibatches_before))
    algorithm.load_state(before)
    assert_same(algorithm.state(), before)
    assert (algorithm.global_step, algorithm.num_learns) == (128, 1)
    assert not algorithm.should_learn()


def test_its_state_counts_only_frames_that_were_learned_from(
    drive: Any, target: Callable[..., Any]
) -> None:
    algorithm, world = ppo(), target(3)
    drive(algorithm, world, 1)
    algorithm.feedback(world.frames(algorithm.infer(obs_of(world))))
    assert algorithm.global_step == 131
    assert algorithm.state().counters["global_step"] == 128


def test_its_state_in_mid_rollout_is_that_of_the_rollouts_start(
    drive: Any, target: Callable[..., Any]
) -> None:
    algorithm, world = ppo(), target(4)
    drive(algorithm, world, 1)
    at_start = algorithm.state()
    for _ in range(5):
        algorithm.feedback(world.frames(algorithm.infer(obs_of(world))))
    assert algorithm.episodes.state() != at_start.counters["episodes"]
    assert_same(algorithm.state(), at_start)


def test_it_stores_a_prefix_of_what_does_not_fit(target: Callable[..., Any]) -> None:
    algorithm, world = ppo(), target(50)
    stored = [algorithm.feedback(world.frames(algorithm.infer(obs_of(world)))) for _ in range(4)]
    assert stored == [50, 50, 28, 0]
    assert algorithm.should_learn()
    assert algorithm.global_step == 128


def test_it_saves_and_stops_when_the_config_says(drive: Any, target: Callable[..., Any]) -> None:
    algorithm, world = ppo(global_steps=500), target(4)
    saves, stops = [], []
    for _ in range(4):
        drive(algorithm, world, 1)
        saves.append(algorithm.should_save())
        stops.append(algorithm.should_stop())
    assert saves == [False, True, False, True]
    assert stops == [False, False, False, True]


def test_the_last_full_rollout_is_learned_from_before_it_stops(target: Callable[..., Any]) -> None:
    algorithm = ppo(global_steps=128)
    collect(algorithm, target(4))
    assert not algorithm.should_stop()
    algorithm.learn(LearnProgress())
    assert algorithm.should_stop()


def test_advantages_bootstrap_where_truncated_and_not_where_terminated(
    target: Callable[..., Any],
) -> None:
    algorithm = ppo(normalize_rewards=False, gamma=0.99)
    collect(algorithm, target(2))
    rows = algorithm._rollout.by_stream()
    advantages = algorithm._batch(rows).advantages.numpy()
    with torch.no_grad():
        after = algorithm.policy.value(torch.from_numpy(rows.next_obs)).numpy()
    for i, gain in ((3, 0.0), (64 + 3, 0.99)):  # the last frames of the streams' first episodes
        assert rows.terminated[i] | rows.truncated[i]
        expected = rows.rewards[i] + gain * after[i] - rows.values[i]
        np.testing.assert_allclose(advantages[i], expected, rtol=1e-5)
        before = rows.rewards[i - 1] + 0.99 * after[i - 1] - rows.values[i - 1]
        np.testing.assert_allclose(advantages[i - 1], before + 0.99 * 0.95 * expected, rtol=1e-4)


def test_rewards_are_scaled_before_the_value_is_added(target: Callable[..., Any]) -> None:
    algorithm, plain = ppo(), ppo(normalize_rewards=False)
    collect(algorithm, target(2))
    collect(plain, target(2))
    rows, same = algorithm._rollout.by_stream(), plain._rollout.by_stream()
    returns = algorithm._batch(rows)
    unscaled = plain._batch(same)
    deviation = float(np.sqrt(algorithm._rewards.moments.var))
    difference = same.rewards[3] - rows.rewards[3] / deviation
    np.testing.assert_allclose(unscaled.returns[3] - returns.returns[3], difference, rtol=1e-4)


def test_the_learning_rate_falls_linearly_over_the_run(
    drive: Any, target: Callable[..., Any]
) -> None:
    rates = [m["train/learning_rate"] for m in drive(ppo(global_steps=512), target(4), 4)]
    np.testing.assert_allclose(rates, 3e-4 * np.array([1, 0.75, 0.5, 0.25]))


def test_the_clip_ratio_falls_when_asked_to(drive: Any, target: Callable[..., Any]) -> None:
    algorithm = ppo(global_steps=512, anneal_clip_ratio=True)
    ratios = [m["train/clip_ratio"] for m in drive(algorithm, target(4), 4)]
    np.testing.assert_allclose(ratios, 0.2 * np.array([1, 0.75, 0.5, 0.25]))


def test_a_target_kl_leaves_the_epochs_early(drive: Any, target: Callable[..., Any]) -> None:
    (metrics,) = drive(ppo(target_kl=1e-5, learning_rate=1e-2), target(4), 1)
    assert 1 <= metrics["train/num_minibatches"] < 12


def test_a_high_kl_lowers_the_learning_rate_and_a_low_one_raises_it(
    drive: Any, target: Callable[..., Any]
) -> None:
    options: dict[str, Any] = {"anneal_learning_rate": False}
    (low,) = drive(ppo(adaptive_kl=1e-9, **options), target(4), 1)
    (high,) = drive(ppo(adaptive_kl=1e9, **options), target(4), 1)
    assert low["train/learning_rate"] == pytest.approx(3e-4 / 30)
    assert high["train/learning_rate"] > 3e-4


def test_the_gradients_global_norm_is_bounded(drive: Any, target: Callable[..., Any]) -> None:
    algorithm = ppo(max_grad_norm=1e-3)
    (metrics,) = drive(algorithm, target(4), 1)
    grad = algorithm._parameters.grad
    assert grad is not None
    assert metrics["train/grad_norm"] > 1e-3
    assert torch.linalg.vector_norm(grad).item() <= 1e-3


def test_an_entropy_bonus_keeps_the_actions_wider(drive: Any, target: Callable[..., Any]) -> None:
    without, with_bonus = ppo(), ppo(entropy_coef=1.0)
    (narrow,), (wide,) = drive(without, target(4), 1), drive(with_bonus, target(4), 1)
    assert wide["policy/action_std"] > narrow["policy/action_std"]


def test_values_may_be_left_unclipped(drive: Any, target: Callable[..., Any]) -> None:
    (clipped,) = drive(ppo(clip_value=1e-6), target(4), 1)
    (free,) = drive(ppo(clip_value=None), target(4), 1)
    assert clipped["train/value_loss"] > free["train/value_loss"]


def test_moments_take_a_rollout_in_after_its_learn(drive: Any, target: Callable[..., Any]) -> None:
    algorithm, world = ppo(), target(4)
    collect(algorithm, world)
    assert algorithm.state().model["normalizer.count"] == 0
    drive(algorithm, world, 1)
    assert algorithm.state().model["normalizer.count"] == 128


def test_numbers_that_are_no_longer_finite_end_the_run(target: Callable[..., Any]) -> None:
    algorithm = ppo()
    collect(algorithm, target(4))
    with torch.no_grad():
        algorithm._parameters.fill_(float("nan"))
    with pytest.raises(LearnDivergedError, match="try a lower"):
        algorithm.learn(LearnProgress())


def test_a_policy_without_a_density_is_refused() -> None:
    with pytest.raises(IncompatibleError, match="expected an ActorCritic policy, got DummyPolicy"):
        PPO(SMALL, DummyPolicy(DummyPolicyConfig()))  # type: ignore[arg-type]


def test_weights_may_be_taken_without_the_critic(drive: Any, target: Callable[..., Any]) -> None:
    teacher, student = ppo(seed=1), ppo(seed=2)
    drive(teacher, target(4), 1)
    model = teacher.state().model
    fresh = student.state().model
    student.load_model(model, without="critic.")
    after = student.state().model
    for name in model:
        origin = fresh if name.startswith("critic.") else model
        np.testing.assert_array_equal(after[name], origin[name], err_msg=name)
