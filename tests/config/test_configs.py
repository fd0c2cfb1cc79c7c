"""All configs: what they have in common, and what each refuses."""

import subprocess
import sys
from dataclasses import FrozenInstanceError, fields, replace
from pathlib import Path
from typing import Any

import gymnasium
import pytest

from plugrl.config.categorical import CategoricalConfig
from plugrl.config.client import ClientConfig
from plugrl.config.dummy import DummyConfig, DummyEnvConfig, DummyPolicyConfig
from plugrl.config.evaluation import EvaluationConfig
from plugrl.config.gaussian import GaussianConfig
from plugrl.config.gymnasium import SHORT_NAMES, GymnasiumEnvConfig
from plugrl.config.ppo import PPOConfig
from plugrl.config.probe import ProbeEnvConfig
from plugrl.config.server import LimitsConfig, RunConfig, ServerConfig, TrackConfig
from plugrl.errors import ConfigError
from plugrl.registry import GYMNASIUM_SHORT_NAMES

CONFIGS = [
    *(CategoricalConfig(), ClientConfig(), DummyConfig(), DummyEnvConfig(), DummyPolicyConfig()),
    *(EvaluationConfig(), GaussianConfig(), GymnasiumEnvConfig(), PPOConfig(), ProbeEnvConfig()),
    *(LimitsConfig(), RunConfig(), ServerConfig(), TrackConfig()),
]
INFINITY, NAN = float("inf"), float("nan")
REFUSED: list[tuple[type, dict[str, Any], str]] = [
    (PPOConfig, {"rollout_steps": 0}, "rollout_steps"),
    (PPOConfig, {"save_interval": 0}, "save_interval"),
    (PPOConfig, {"rollout_steps": 63}, "num_minibatches"),
    (PPOConfig, {"learning_rate": INFINITY}, "learning_rate"),
    (PPOConfig, {"learning_rate": NAN}, "learning_rate"),
    (PPOConfig, {"gamma": 1.1}, "gamma"),
    (PPOConfig, {"value_coef": -0.1}, "value_coef"),
    (PPOConfig, {"target_kl": 0.0}, "target_kl"),
    (PPOConfig, {"restore": "model"}, "restore"),
    (GaussianConfig, {"hidden_sizes": (64, 0)}, "hidden_sizes"),
    (GaussianConfig, {"clip_obs": 0.0}, "clip_obs"),
    (GaussianConfig, {"log_std_init": INFINITY}, "log_std_init"),
    (CategoricalConfig, {"num_choices": (2, 1)}, "num_choices"),
    (DummyConfig, {"fake_learn_duration_sec": INFINITY}, "fake_learn_duration_sec"),
    (DummyEnvConfig, {"episode_length": 0}, "episode_length"),
    (EvaluationConfig, {"confidence": 1.0}, "confidence"),
    (GymnasiumEnvConfig, {"id": ""}, "id"),
    (GymnasiumEnvConfig, {"max_episode_steps": 0}, "max_episode_steps"),
    (ProbeEnvConfig, {"action_dim": 0}, "action_dim"),
    (ServerConfig, {"port": 65_536}, "port"),
    (ServerConfig, {"mini_infer_batch_size": 0}, "mini_infer_batch_size"),
    (ServerConfig, {"tls_cert": Path("cert.pem")}, "tls_key"),
    (LimitsConfig, {"max_viewers": 0}, "max_viewers"),
    (RunConfig, {"exp_name": "a/b"}, "exp_name"),
    (RunConfig, {"exp_name": ".."}, "exp_name"),
    (RunConfig, {"exp_name": " "}, "exp_name"),
    (RunConfig, {"exp_name": "a\nb"}, "exp_name"),
    (RunConfig, {"exp_name": "\udcff"}, "exp_name"),
    (RunConfig, {"exp_name": "é" * 101}, "exp_name"),
    (RunConfig, {"resume": True}, "resume"),
    (RunConfig, {"exp_name": "a", "resume": True, "overwrite": True}, "overwrite"),
    (RunConfig, {"seed": 2**32}, "seed"),
    (ClientConfig, {"num_envs": 0}, "num_envs"),
    (ClientConfig, {"retry_max_s": INFINITY}, "retry_max_s"),
    (ClientConfig, {"server_port": 0}, "server_port"),
]


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: type(config).__name__)
def test_a_config_is_frozen_and_its_defaults_are_legal(config):
    assert replace(config) == config
    for item in fields(config):
        with pytest.raises(FrozenInstanceError):
            setattr(config, item.name, None)


@pytest.mark.parametrize(("kind", "values", "name"), REFUSED)
def test_a_value_out_of_range_is_refused_by_the_name_of_its_field(kind, values, name):
    with pytest.raises(ConfigError, match=rf"^expected .+, got .+, at {kind.__name__}\.{name}$"):
        kind(**values)


def test_the_short_names_are_those_of_the_registry():
    assert tuple(sorted(SHORT_NAMES)) == GYMNASIUM_SHORT_NAMES


@pytest.mark.parametrize("name", GYMNASIUM_SHORT_NAMES)
def test_the_sizes_of_a_short_name_are_those_of_its_env(name):
    pytest.importorskip("mujoco")
    config = SHORT_NAMES[name]["default"]
    env = gymnasium.make(config.id)
    sizes, space = config.sizes(), env.action_space
    env.close()
    assert sizes is not None
    assert (sizes.obs_dim,) == env.observation_space.shape
    if isinstance(space, gymnasium.spaces.Discrete):
        assert (sizes.num_choices, sizes.action_dim) == ((space.n,), 0)
    else:
        assert ((sizes.action_dim,), sizes.num_choices) == (space.shape, ())


def test_no_config_brings_torch():
    code = (
        "import importlib, pkgutil, sys, plugrl.config as room\n"
        "for module in pkgutil.iter_modules(room.__path__):\n"
        "    importlib.import_module(f'plugrl.config.{module.name}')\n"
        "print({'torch', 'gymnasium'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
