import pytest

from plugrl.cli import run_env_client
from plugrl.cli.entry import run_guarded
from plugrl.cli.run_env_client import with_step_limit
from plugrl.config.gymnasium import GymnasiumEnvConfig


def code_of(*argv: str) -> int:
    try:
        return run_guarded(run_env_client.run, argv, "plugrl-run-env-client")
    except SystemExit as exit_:
        return int(exit_.code or 0)


def test_the_options_are_pinned(capsys, golden, options_of, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    assert code_of("hopper", "--help") == 0
    golden("run-env-client.txt", options_of(capsys.readouterr().out))


def test_help_without_an_env_says_what_there_is(capsys):
    assert code_of("--help") == 0
    out = capsys.readouterr().out
    assert out.startswith("usage: plugrl-run-env-client ENV [VARIANT] [OPTIONS]")
    assert "halfcheetah" in out


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        ((), "expected ENV, got nothing"),
        (("hoper",), "unknown env 'hoper', did you mean 'hopper'?"),
        (("dummy-v1", "stat"), "did you mean 'state'?"),
        (("dummy-v1", "--server-port", "0"), "expected 1 to 65535, got 0"),
        (("dummy-v1", "--num-envs", "0"), "expected at least 1, got 0"),
        (("dummy-v1", "--max-episode-steps", "5"), "has no limit of steps"),
        (("dummy-v1", "--env.episode-length", "0"), "expected at least 1, got 0"),
        (("dummy-v1", "--server-host", "../.."), "expected a host name"),
        (("dummy-v1", "--server-host", "a" * 300), "expected a host name"),
        (("dummy-v1", "--connect-timeout-s", "1e300"), "at most 1e9, got 1e+300"),
        (("gym-v1", "--env.id", ":"), "can't make ':'"),
    ],
)
def test_a_mistake_is_one_clear_sentence_and_exit_2(argv, sentence, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    assert code_of(*argv) == 2
    error = capsys.readouterr().err
    assert sentence in error
    assert "Traceback" not in error


def test_a_step_limit_goes_to_the_env_that_has_one():
    assert with_step_limit("hopper", GymnasiumEnvConfig(), 50).max_episode_steps == 50
    assert with_step_limit("hopper", GymnasiumEnvConfig(), None) == GymnasiumEnvConfig()
