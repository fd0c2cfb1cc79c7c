"""PlugRL: train a policy on one machine with environments that run anywhere.

What is public stands in ``__all__``; each name is imported when it is first used, so that an env
client never imports torch.
"""

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from plugrl.algorithms.algorithm import TrainState
    from plugrl.algorithms.base import BaseAlgorithm
    from plugrl.client.run import ClientSummary, run_env_client
    from plugrl.config.base import AlgorithmConfig, EnvConfig, EnvSizes, PolicyConfig
    from plugrl.config.client import ClientConfig
    from plugrl.data.frames import Frames, Inference
    from plugrl.data.progress import LearnProgress
    from plugrl.envs.base import StepResult, VectorEnv
    from plugrl.errors import PlugRLError, UsageError
    from plugrl.policies.base import BasePolicy
    from plugrl.protocol.messages import Observation
    from plugrl.registry import (
        register_algo,
        register_algo_config,
        register_env,
        register_env_config,
        register_policy,
        register_policy_config,
    )

_HOMES = {
    "AlgorithmConfig": "plugrl.config.base",
    "BaseAlgorithm": "plugrl.algorithms.base",
    "BasePolicy": "plugrl.policies.base",
    "ClientConfig": "plugrl.config.client",
    "ClientSummary": "plugrl.client.run",
    "EnvConfig": "plugrl.config.base",
    "EnvSizes": "plugrl.config.base",
    "Frames": "plugrl.data.frames",
    "Inference": "plugrl.data.frames",
    "LearnProgress": "plugrl.data.progress",
    "Observation": "plugrl.protocol.messages",
    "PlugRLError": "plugrl.errors",
    "PolicyConfig": "plugrl.config.base",
    "StepResult": "plugrl.envs.base",
    "TrainState": "plugrl.algorithms.algorithm",
    "UsageError": "plugrl.errors",
    "VectorEnv": "plugrl.envs.base",
    "register_algo": "plugrl.registry",
    "register_algo_config": "plugrl.registry",
    "register_env": "plugrl.registry",
    "register_env_config": "plugrl.registry",
    "register_policy": "plugrl.registry",
    "register_policy_config": "plugrl.registry",
    "run_env_client": "plugrl.client.run",
}

__all__ = [
    "AlgorithmConfig",
    "BaseAlgorithm",
    "BasePolicy",
    "ClientConfig",
    "ClientSummary",
    "EnvConfig",
    "EnvSizes",
    "Frames",
    "Inference",
    "LearnProgress",
    "Observation",
    "PlugRLError",
    "PolicyConfig",
    "StepResult",
    "TrainState",
    "UsageError",
    "VectorEnv",
    "__version__",
    "register_algo",
    "register_algo_config",
    "register_env",
    "register_env_config",
    "register_policy",
    "register_policy_config",
    "run_env_client",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'plugrl' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
