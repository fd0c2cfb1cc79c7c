"""The dummy policy: zeros for every observation, for tests and for measuring load."""

from typing import Any

import numpy as np

from plugrl.config.base import EnvSizes
from plugrl.config.dummy import DummyPolicyConfig
from plugrl.data.frames import Inference
from plugrl.policies.policy import Policy
from plugrl.protocol.messages import Observation


class DummyPolicy(Policy[DummyPolicyConfig]):
    """Answers any observation with zeros; has no parameters."""

    def __init__(
        self, config: DummyPolicyConfig, sizes: EnvSizes | None = None, *, seed: int = 0
    ) -> None:
        """Take the action's shape from ``config``; ``sizes`` don't matter."""
        super().__init__(config, sizes, seed=seed)
        self._chunk_shape = (config.action_horizon, config.action_dim)

    def act(self, obs: Observation, *, deterministic: bool = False) -> Inference:
        """Zeros: (n, H, action_dim) float32."""
        return Inference(np.zeros((len(obs), *self._chunk_shape), np.float32))

    def metadata(self) -> dict[str, Any]:
        """The action's shape."""
        return {
            "action_dim": self.config.action_dim,
            "action_horizon": self.config.action_horizon,
        }
