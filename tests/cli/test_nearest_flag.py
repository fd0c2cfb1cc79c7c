import pytest

from plugrl.cli.nearest_flag import FlagParser, nearest_flag, require_known
from plugrl.errors import UsageError

KNOWN = [
    *("num-procs", "num-envs", "env", "exp-name", "seed", "resume", "no-resume", "no-auth"),
    *("algo.learning-rate", "algo.gamma", "algo.gae-lambda", "algo.global-steps"),
    *("algo.rollout-steps", "policy.device", "policy.hidden-sizes", "env.kwargs"),
    *("env.max-episode-steps", "limits.max-message-bytes"),
]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("num-prox", "num-procs"),
        ("exp-nam", "exp-name"),
        ("algo.lr", "algo.learning-rate"),
        ("lr", "algo.learning-rate"),
        ("learning-rate", "algo.learning-rate"),
        ("algp.gamma", "algo.gamma"),
        ("policy.gamma", "algo.gamma"),
        ("algo.lambda", "algo.gae-lambda"),
        ("max-message-bytes", "limits.max-message-bytes"),
        ("algo.learning_rate", "algo.learning-rate"),
        ("resum", "resume"),
        ("quux", None),
        ("nosuch", "no-auth"),
        ("algo.nosuch", None),
    ],
)
def test_a_flag_is_told_by_its_spelling_its_parts_or_its_initials(typed, meant):
    assert nearest_flag(typed, KNOWN) == meant


def test_there_may_be_no_flags_at_all():
    assert nearest_flag("lr", []) is None


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (["--num-prox", "3"], "expected a known flag, got --num-prox; did you mean --num-procs?"),
        (["--algo.lr=3"], "expected a known flag, got --algo.lr; did you mean --algo.learning-rat"),
        (["--quux"], "expected a known flag, got --quux; see 'plugrl x --help' for all"),
    ],
)
def test_a_flag_that_there_is_not_is_refused_by_a_sentence(argv, sentence):
    with pytest.raises(UsageError) as caught:
        require_known(["--seed", "3", *argv], KNOWN, "plugrl x")
    assert str(caught.value).startswith(sentence)


def test_flags_that_there_are_pass_with_values_that_look_like_anything():
    argv = ["--seed=3", "--help", "--env.kwargs", '{"--a": 1}', "--env.kwargs.a=1", "-1", "--", "x"]
    require_known(argv, KNOWN, "plugrl x")


def test_underscores_and_tyro_s_own_flags_are_tyro_s_matter():
    argv = ["--exp_name", "x", "--algo.learning_rate=1", "--tyro-print-completion", "bash"]
    require_known(argv, KNOWN, "plugrl x")


def test_a_parser_of_a_few_flags_names_the_one_that_was_meant(capsys):
    parser = FlagParser(prog="plugrl-flow list")
    parser.add_argument("--forget-gone", action="store_true")
    for typed, said in (
        ("--forget-gon", "expected a known flag, got --forget-gon; did you mean --forget-gone?"),
        ("--h", "expected a known flag, got --h; see 'plugrl-flow list --help' for all"),
        ("x", "unrecognized arguments: x"),
    ):
        with pytest.raises(SystemExit, match="2"):
            parser.parse_args([typed])
        assert said in capsys.readouterr().err


def test_a_flag_in_another_command_s_place_is_told_where_it_belongs(capsys):
    parser = FlagParser(prog="plugrl-tui")
    parser.add_argument("--import")
    commands = parser.add_subparsers(dest="command")
    for name in ("attach", "watch"):
        commands.add_parser(name).add_argument("--key-file")
    for argv, said in (
        (["attach", "--import", "mine"], "expected --import right behind 'plugrl-tui'"),
        (
            ["--key-file=x"],
            "expected --key-file right behind 'plugrl-tui attach' or 'plugrl-tui watch'",
        ),
    ):
        with pytest.raises(SystemExit, match="2"):
            parser.parse_args(argv)
        assert said in capsys.readouterr().err
