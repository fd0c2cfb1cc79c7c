"""What users import, and what importing it must not bring."""

import subprocess
import sys

import pytest

import plugrl

PUBLIC = {
    *("AlgorithmConfig", "BaseAlgorithm", "BasePolicy", "ClientConfig", "ClientSummary"),
    *("EnvConfig", "EnvSizes", "Frames", "Inference", "LearnProgress", "Observation"),
    *("PlugRLError", "PolicyConfig", "StepResult", "TrainState", "UsageError", "VectorEnv"),
    *("__version__", "register_algo", "register_algo_config", "register_env"),
    *("register_env_config", "register_policy", "register_policy_config", "run_env_client"),
}


def test_the_public_names_are_these():
    assert set(plugrl.__all__) == set(dir(plugrl)) == PUBLIC


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_a_public_name_is_there(name):
    assert getattr(plugrl, name) is not None


HEAVY = {"torch", "gymnasium", "mujoco", "safetensors", "rich", "tensorboard", "wandb", "swanlab"}


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Trainer2'"):
        _ = plugrl.Trainer2


@pytest.mark.parametrize(
    "module",
    [
        "plugrl",
        "plugrl.registry",
        "plugrl.protocol.session",
        "plugrl.client.run",
        "plugrl.server.server",
        "plugrl.training.spec",
        "plugrl.training.step_folder",
        "plugrl.cli.main",
        "plugrl.cli.launch",
        "plugrl.cli.evaluate",
        "plugrl.cli.run_server",
        "plugrl.cli.run_env_client",
        "plugrl.cli.list_names",
    ],
)
def test_importing_it_brings_nothing_heavy(module):
    code = f"import sys, {module}; print({HEAVY} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
