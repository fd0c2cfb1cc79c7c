"""What users import, and what importing it must not bring."""

import subprocess
import sys

import pytest

import plugrl


def test_every_public_name_is_there_and_no_other_is_said_to_be():
    assert sorted(plugrl._HOMES) == sorted(set(plugrl.__all__) - {"__version__"})
    for name in plugrl.__all__:
        assert getattr(plugrl, name) is not None
    assert set(dir(plugrl)) == set(plugrl.__all__)


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
        "plugrl.cli.run_env_client",
        "plugrl.cli.list_names",
    ],
)
def test_importing_it_brings_no_torch(module):
    code = f"import sys, {module}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
