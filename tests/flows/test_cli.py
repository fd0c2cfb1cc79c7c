import pytest

from flows import cli
from plugrl.cli.entry import run_guarded
from tests.cli.conftest import options_of, same_logging_afterwards  # noqa: F401 -- fixtures

TRAIN = ("train", "gaussian-policy", "default", "ppo", "default")


def code_of(*argv: str) -> int:
    try:
        return run_guarded(cli.run, argv, cli.PROG)
    except SystemExit as exit_:
        return int(exit_.code or 0)


def test_without_a_command_all_commands_are_shown(capsys):
    assert code_of() == 0
    out = capsys.readouterr().out
    for name in ("train", "evaluate", "list", "show", "cancel", "serve", "deploy"):
        assert f"\n  {name} " in out


def test_an_unknown_command_gets_a_suggestion(capsys):
    assert code_of("trian") == 2
    assert "did you mean 'train'?" in capsys.readouterr().err


def test_training_takes_what_a_launch_takes_and_four_flags_more(
    capsys,
    options_of,  # noqa: F811
    monkeypatch,
    golden,
):
    monkeypatch.setenv("COLUMNS", "100")
    assert code_of(*TRAIN, "--env", "hopper", "--help") == 0
    ours = set(options_of(capsys.readouterr().out).splitlines())
    from plugrl.cli import launch

    with pytest.raises(SystemExit):
        launch.run([*TRAIN[1:], "--env", "hopper", "--help"], "plugrl launch")
    launchs = set(options_of(capsys.readouterr().out).splitlines())
    assert ours - launchs == {
        "--retries INT",
        "--retry-delay FLOAT",
        "--prefect, --no-prefect",
        "--detach, --no-detach",
    }
    assert launchs <= ours
    golden("train.txt", "".join(f"{option}\n" for option in sorted(ours - launchs)))


def test_an_evaluation_takes_what_that_of_the_library_takes_and_may_leave_prefect_out(
    capsys,
    options_of,  # noqa: F811
    monkeypatch,
):
    monkeypatch.setenv("COLUMNS", "100")
    assert code_of("evaluate", "--help") == 0
    ours = set(options_of(capsys.readouterr().out).splitlines())
    from plugrl.cli import evaluate

    with pytest.raises(SystemExit):
        evaluate.run(["--help"], "plugrl eval")
    librarys = set(options_of(capsys.readouterr().out).splitlines())
    assert librarys <= ours
    assert ours - librarys == {"--prefect, --no-prefect"}


@pytest.mark.parametrize("name", ["serve", "deploy"])
def test_the_help_text_of_a_deployment_is_this(name, capsys, monkeypatch, golden):
    monkeypatch.setenv("COLUMNS", "100")
    assert code_of(name, "--help") == 0
    golden(f"{name}.txt", capsys.readouterr().out)


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (("train",), "expected POLICY VARIANT ALGO VARIANT, got nothing"),
        (TRAIN, "expected --env NAME"),
        ((*TRAIN, "--env", "hoper"), "did you mean 'hopper'?"),
        ((*TRAIN, "--env", "hopper", "--retries", "-1"), "at --retries"),
        ((*TRAIN, "hopper"), "expected a flag, got 'hopper'"),
        ((*TRAIN, "--env", "hopper", "--resume"), "expected --exp-name NAME beside --resume"),
        (
            (*TRAIN, "--env", "hopper", "--resume", "--exp-name", "x"),
            "error: nothing to resume, there is no folder checkpoints/ppo/gaussian-policy/x",
        ),
        (("serve", "--limit", "0"), "expected at least 1, got 0, at --limit"),
        (("evaluate", "--env", "hopper"), "expected STEP_DIR first, got --env"),
        (("evaluate", "no-such-folder", "--env", "hopper"), "no checkpoint at no-such-folder"),
    ],
)
def test_a_mistake_is_one_sentence_and_no_folder(argv, sentence, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert code_of(*argv) in (1, 2)
    assert sentence in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
