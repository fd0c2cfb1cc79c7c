"""One training of Stable-Baselines3's PPO; prints env steps a second between its learns.

python -m benchmarks.end_to_end_sb3 Hopper-v5 30720 dummy
"""

import sys
import time

import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecNormalize

from plugrl.config.ppo import PPOConfig

NUM_ENVS, ROLLOUT, NUM_MINIBATCHES = 8, 2048, 32
GAMMA = PPOConfig().gamma


class Clock(BaseCallback):  # type: ignore[misc]
    """Notes when each rollout begins, which is when the learn before it ended."""

    def __init__(self) -> None:
        super().__init__()
        self.marks: list[tuple[int, float]] = []

    def _on_rollout_start(self) -> None:
        self.marks.append((self.num_timesteps, time.perf_counter()))

    def _on_step(self) -> bool:
        return True


def main() -> None:
    gym_id, steps, vector = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    torch.set_num_threads(1)
    kind = SubprocVecEnv if vector == "subproc" else DummyVecEnv
    envs = make_vec_env(gym_id, n_envs=NUM_ENVS, seed=0, vec_env_cls=kind)
    envs = VecNormalize(envs, gamma=GAMMA)
    model = PPO(
        "MlpPolicy",
        envs,
        n_steps=ROLLOUT // NUM_ENVS,
        batch_size=ROLLOUT // NUM_MINIBATCHES,
        n_epochs=10,
        learning_rate=lambda remaining: 3e-4 * remaining,
        gamma=GAMMA,
        clip_range_vf=0.2,
        policy_kwargs={
            "net_arch": {"pi": [64, 64], "vf": [64, 64]},
            "activation_fn": torch.nn.Tanh,
        },
        device="cpu",
        seed=0,
    )
    clock = Clock()
    model.learn(steps, callback=clock)
    (first_step, first_time), (last_step, last_time) = clock.marks[1], clock.marks[-1]
    print((last_step - first_step) / (last_time - first_time))
    envs.close()


if __name__ == "__main__":
    main()
