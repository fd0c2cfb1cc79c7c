"""Times PPO's learn step beside Stable-Baselines3's, at equal settings, alternating in one run.

    python -m benchmarks.learn_step

Both learn from 2048 frames of Hopper-v5's sizes: 32 minibatches, 10 epochs, two 64-64 tanh
networks, clipped values, advantages by GAE included, one thread.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable

import gymnasium
import numpy as np
import stable_baselines3
import torch
from gymnasium.spaces import Box
from stable_baselines3.common.logger import Logger

from benchmarks.record import record
from plugrl.algorithms.ppo import PPO
from plugrl.config.base import EnvSizes
from plugrl.config.gaussian import GaussianConfig
from plugrl.config.ppo import PPOConfig
from plugrl.data.frames import Frames
from plugrl.data.progress import LearnProgress
from plugrl.policies.gaussian import GaussianPolicy
from plugrl.protocol.messages import Observation

OBS_DIM, ACTION_DIM, NUM_FRAMES, NUM_ENVS, EPISODE_LENGTH = 11, 3, 2048, 8, 100


class ShapeOnlyEnv(gymnasium.Env[np.ndarray, np.ndarray]):
    """Tells Stable-Baselines3 the sizes; never stepped."""

    observation_space = Box(-np.inf, np.inf, (OBS_DIM,))
    action_space = Box(-1.0, 1.0, (ACTION_DIM,))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    torch.set_num_threads(1)
    ours, theirs, act = plugrl_learn(), sb3_learn(), plugrl_act()
    seconds: dict[str, list[float]] = {"plugrl": [], "stable_baselines3": []}
    for _ in range(rounds):
        seconds["plugrl"].append(ours())
        seconds["stable_baselines3"].append(theirs())
    medians = {name: statistics.median(times) for name, times in seconds.items()}
    result = {
        "medians_s": medians,
        "ratio": medians["plugrl"] / medians["stable_baselines3"],
        "act_8_rows_median_us": act,
    }
    print(json.dumps(result, indent=2))
    print("written to", record("learn_step", {**result, "seconds": seconds}))


def plugrl_learn() -> Callable[[], float]:
    """A function that fills a rollout and returns the seconds of the learn."""
    config = PPOConfig(rollout_steps=NUM_FRAMES)
    algorithm = PPO(config, plugrl_policy())
    rng = np.random.default_rng(0)
    sequence = 0

    def learn() -> float:
        nonlocal sequence
        obs = random_obs(rng)
        while not algorithm.should_learn():
            inference = algorithm.infer(obs)
            next_obs = random_obs(rng)
            sequence += 1
            algorithm.feedback(
                Frames(
                    streams=np.arange(NUM_ENVS),
                    sequence=np.full(NUM_ENVS, sequence),
                    obs=obs,
                    actions=inference.actions,
                    step_state=inference.step_state,
                    rewards=rng.normal(size=NUM_ENVS),
                    next_terminated=np.full(NUM_ENVS, sequence % EPISODE_LENGTH == 0),
                    next_truncated=np.zeros(NUM_ENVS, bool),
                    next_obs=next_obs,
                    info={},
                )
            )
            obs = next_obs
        return timed(lambda: algorithm.learn(LearnProgress()))

    return learn


def sb3_learn() -> Callable[[], float]:
    """The same of Stable-Baselines3: returns, advantages, ``train``."""
    model = stable_baselines3.PPO(
        "MlpPolicy",
        ShapeOnlyEnv(),
        n_steps=NUM_FRAMES,
        batch_size=NUM_FRAMES // 32,
        n_epochs=10,
        gamma=PPOConfig().gamma,
        clip_range_vf=0.2,
        device="cpu",
    )
    model.set_logger(Logger(folder=None, output_formats=[]))
    rng = np.random.default_rng(0)

    def learn() -> float:
        buffer = model.rollout_buffer
        buffer.reset()
        done = np.zeros(1)
        values = torch.zeros(1)
        for step in range(NUM_FRAMES):
            obs = rng.normal(size=(1, OBS_DIM)).astype(np.float32)
            with torch.no_grad():
                actions, values, log_probs = model.policy(torch.from_numpy(obs))
            done = np.array([step % EPISODE_LENGTH == 0])
            buffer.add(obs, actions.numpy(), rng.normal(size=1), done, values, log_probs)

        def update() -> None:
            buffer.compute_returns_and_advantage(last_values=values, dones=done)
            model.train()

        return timed(update)

    return learn


def plugrl_act() -> float:
    """Median microseconds of acting on 8 rows."""
    policy = plugrl_policy()
    obs = random_obs(np.random.default_rng(0))
    return 1e6 * statistics.median(timed(lambda: policy.act(obs)) for _ in range(2000))


def plugrl_policy() -> GaussianPolicy:
    torch.manual_seed(0)
    return GaussianPolicy(GaussianConfig(), EnvSizes(obs_dim=OBS_DIM, action_dim=ACTION_DIM))


def random_obs(rng: np.random.Generator) -> Observation:
    return Observation({}, {"obs": rng.normal(size=(NUM_ENVS, OBS_DIM))}, np.full(NUM_ENVS, ""))


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
