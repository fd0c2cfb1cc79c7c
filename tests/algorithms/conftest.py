"""Worlds that live in this process, and the server's loop in its shortest form."""

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from plugrl.algorithms.base import BaseAlgorithm
from plugrl.data.frames import Frames, Inference
from plugrl.data.progress import LearnProgress
from plugrl.protocol.messages import Observation


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> None:
    """Small networks are fastest so, and tests that run beside others even more."""
    torch.set_num_threads(1)


def observation(states: NDArray[Any]) -> Observation:
    return Observation({}, {"x": states}, np.full(len(states), ""))


class World:
    """n envs; each frame is handed on as the server hands it on."""

    def __init__(self, num_envs: int) -> None:
        self.streams = np.arange(num_envs)
        self.sequence = np.zeros(num_envs, np.int64)
        self.returns = np.zeros(num_envs)
        self.obs = np.zeros((num_envs, 0))

    def step(self, actions: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.float64], Any, Any]:
        """Next observations (terminal ones at an end), rewards, terminated, truncated."""
        raise NotImplementedError

    def reset(self, env: int) -> NDArray[Any]:
        """The first observation of a new episode."""
        raise NotImplementedError

    def frames(self, inference: Inference) -> Frames:
        obs = self.obs
        next_obs, rewards, terminated, truncated = self.step(inference.actions)
        self.returns += rewards
        done = terminated | truncated
        info = {"episode": {"r": self.returns.copy()}} if done.any() else {}
        frames = Frames(
            streams=self.streams,
            sequence=self.sequence.copy(),
            obs=observation(obs),
            actions=inference.actions,
            step_state=inference.step_state,
            rewards=rewards,
            next_terminated=terminated,
            next_truncated=truncated,
            next_obs=observation(next_obs),
            info=info,
        )
        self.sequence += 1
        self.obs = next_obs.copy()
        for env in np.flatnonzero(done).tolist():
            self.obs[env] = self.reset(env)
        self.returns[done] = 0
        return frames


class Target(World):
    """Says where the target is and pays minus the squared distance of the action from it.

    Episodes of 4 steps, the last of them truncated where the env's number is odd.
    """

    def __init__(self, num_envs: int, seed: int = 0, width: int = 2) -> None:
        super().__init__(num_envs)
        self.rng = np.random.default_rng(seed)
        self.obs = self.rng.uniform(-1, 1, (num_envs, width))

    def step(self, actions: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.float64], Any, Any]:
        rewards = -((actions[:, 0] - self.obs) ** 2).sum(axis=1)
        ended = self.sequence % 4 == 3
        odd = self.streams % 2 == 1
        return self.rng.uniform(-1, 1, self.obs.shape), rewards, ended & ~odd, ended & odd

    def reset(self, env: int) -> NDArray[Any]:
        first: NDArray[Any] = self.rng.uniform(-1, 1, self.obs[env].shape)
        return first


class GymnasiumWorld(World):
    """Envs of Gymnasium."""

    def __init__(self, env_id: str, num_envs: int, seed: int) -> None:
        super().__init__(num_envs)
        self.envs = [gymnasium.make(env_id) for _ in range(num_envs)]
        self.obs = np.stack([env.reset(seed=seed + i)[0] for i, env in enumerate(self.envs)])

    def step(self, actions: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.float64], Any, Any]:
        results = [env.step(a[0, 0]) for env, a in zip(self.envs, actions, strict=True)]
        obs, rewards, terminated, truncated = (
            np.array([result[i] for result in results]) for i in range(4)
        )
        return obs, rewards, terminated, truncated

    def reset(self, env: int) -> NDArray[Any]:
        first: NDArray[Any] = self.envs[env].reset()[0]
        return first


def drive(algorithm: BaseAlgorithm[Any], world: World, num_learns: int) -> list[dict[str, float]]:
    """Infer, step, feed and learn; returns the metrics of each learn."""
    metrics = []
    for _ in range(num_learns):
        while not algorithm.should_learn():
            algorithm.feedback(world.frames(algorithm.infer(observation(world.obs))))
        metrics.append(algorithm.learn(LearnProgress()))
    return metrics


Drive = Callable[[BaseAlgorithm[Any], World, int], list[dict[str, float]]]


@pytest.fixture(name="drive")
def drive_fixture() -> Drive:
    return drive


@pytest.fixture
def target() -> Callable[..., World]:
    return Target


@pytest.fixture
def gymnasium_world() -> Callable[..., World]:
    return GymnasiumWorld
