import subprocess
import sys

import pytest

from plugrl.cli import list_names
from plugrl.errors import UnknownNameError, UsageError


def test_all_kinds_are_listed_with_their_variants(capsys):
    assert list_names.run([], "plugrl list") == 0
    out = capsys.readouterr().out
    for word in ("policies:", "algorithms:", "envs:", "gaussian-policy", "ppo", "hopper"):
        assert word in out


def test_one_kind_can_be_listed_alone(capsys):
    assert list_names.run(["algorithms"], "plugrl list") == 0
    out = capsys.readouterr().out
    assert out.startswith("algorithms:\n  NAME")
    assert "hopper" not in out


def test_plugins_are_listed_too(capsys, tmp_path, monkeypatch):
    (tmp_path / "my_listed_plugin.py").write_text(
        "from plugrl.config.dummy import DummyConfig\n"
        "from plugrl.registry import register_algo_config\n"
        "register_algo_config('my-algo', 'tiny')(DummyConfig)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert list_names.run(["algorithms", "--import", "my_listed_plugin"], "plugrl list") == 0
    assert "my-algo  tiny" in capsys.readouterr().out


def test_a_plugin_that_cannot_be_imported_is_named():
    with pytest.raises(UsageError, match="--import no_such_module"):
        list_names.run(["--import", "no_such_module"], "plugrl list")


def test_an_unknown_kind_suggests_the_nearest():
    with pytest.raises(UnknownNameError, match="did you mean 'envs'"):
        list_names.run(["env"], "plugrl list")


def test_the_env_that_takes_any_id_says_so(capsys):
    list_names.run(["envs"], "plugrl list")
    assert "Any Gymnasium env, by its id or as module:EnvClass" in capsys.readouterr().out


@pytest.mark.parametrize(
    "module",
    ["list_names", "run_env_client", "run_server", "launch", "checkpoints", "evaluate", "main"],
)
def test_no_command_imports_torch_or_gymnasium_before_it_knows_what_to_do(module):
    code = (
        f"import sys, plugrl.cli.{module}\n"
        "from plugrl.cli import list_names\n"
        "list_names.describe(list_names.ENVS), list_names.describe(list_names.POLICIES)\n"
        "heavy = ('torch', 'gymnasium', 'rich', 'safetensors', 'mujoco', 'tensorboard')\n"
        "print([m for m in heavy if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
