from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from plugrl.cli.flags import to_flags
from plugrl.cli.parsing import Flags
from plugrl.config.client import ClientConfig
from plugrl.config.gaussian import GaussianConfig
from plugrl.config.gymnasium import GymnasiumEnvConfig
from plugrl.config.ppo import VARIANTS, PPOConfig
from plugrl.config.server import LimitsConfig, ServerConfig


@pytest.mark.parametrize(
    ("config", "default"),
    [
        (ServerConfig(), ServerConfig()),
        (
            ServerConfig(auth=False, limits=LimitsConfig(max_viewers=3), mini_infer_batch_size=4),
            ServerConfig(),
        ),
        (PPOConfig(clip_value=None, learning_rate=1e-5), VARIANTS["debug"]),
        (PPOConfig(policy_checkpoint_path=Path("/a b/c"), restore="model"), PPOConfig()),
        (GaussianConfig(hidden_sizes=(256, 128, 64), log_std_init=-1.5), GaussianConfig()),
        (GaussianConfig(hidden_sizes=()), GaussianConfig()),
        (replace(GymnasiumEnvConfig(), kwargs={"a": 1, "b": "x y"}), GymnasiumEnvConfig()),
        (ClientConfig(api_key="-x", num_episodes=3), ClientConfig()),
    ],
)
@pytest.mark.parametrize("prefix", ["", "some."])
def test_the_flags_of_a_config_make_that_config_again(config: Any, default: Any, prefix: str):
    argv = to_flags(config, default, prefix=prefix)
    flags = Flags("prog", "").add_config("c", default, prefix=prefix.removesuffix("."))
    assert flags.parse(argv).c == config


def test_a_config_like_its_default_needs_no_flags():
    assert to_flags(PPOConfig(), PPOConfig(), prefix="algo.") == []
