"""A checkpoint of PPO on pendulum, learned without a process of its own."""

from pathlib import Path

import numpy as np

from plugrl.algorithms.ppo import PPO
from plugrl.config.base import EnvSizes
from plugrl.config.gaussian import GaussianConfig
from plugrl.config.ppo import VARIANTS
from plugrl.data.frames import Frames
from plugrl.data.progress import LearnProgress
from plugrl.policies.gaussian import GaussianPolicy
from plugrl.protocol.messages import Observation
from plugrl.training.checkpoint import save
from tests.origins import of_ppo

SIZES = EnvSizes(obs_dim=3, action_dim=1)


def trained_checkpoint(
    exp_dir: Path, *, num_learns: int, hidden_sizes: tuple[int, ...] = (64, 64)
) -> Path:
    """The step folder after some learns of 128 frames each; what they say is made up."""
    policy, algorithm = GaussianConfig(hidden_sizes=hidden_sizes), VARIANTS["debug"]
    ppo = PPO(algorithm, GaussianPolicy(policy, SIZES))
    rng = np.random.default_rng(0)
    num_feedbacks = 0
    while ppo.num_learns < num_learns:
        while not ppo.should_learn():
            ppo.feedback(_frames(ppo, rng, num_feedbacks))
            num_feedbacks += 1
        ppo.learn(LearnProgress())
    return save(exp_dir, of_ppo(policy, algorithm, SIZES, variant="debug"), ppo.state(), {}).path


def _frames(ppo: PPO, rng: np.random.Generator, sequence: int) -> Frames:
    obs, next_obs = (Observation({}, {"x": rng.normal(size=(2, 3))}, np.full(2, "")) for _ in "ab")
    inference = ppo.infer(obs)
    return Frames(
        streams=np.arange(2),
        sequence=np.full(2, sequence),
        obs=obs,
        actions=inference.actions,
        step_state=inference.step_state,
        rewards=rng.normal(size=2),
        next_terminated=np.zeros(2, bool),
        next_truncated=np.zeros(2, bool),
        next_obs=next_obs,
        info={},
    )
