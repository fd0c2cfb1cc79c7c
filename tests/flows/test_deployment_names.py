import pytest

from flows import deploy_command, serve_command
from plugrl.errors import UsageError


@pytest.mark.parametrize("name", ["", " ", "a/b", "50%", "a\nb"])
def test_a_name_that_prefect_refuses_is_a_sentence_before_prefect_is_asked(name):
    for command, flag in (
        (deploy_command.run, "--name"),
        (deploy_command.run, "--pool"),
        (serve_command.run, "--name"),
    ):
        with pytest.raises(UsageError, match=f"at {flag}"):
            command([flag, name], "plugrl-flow x")
