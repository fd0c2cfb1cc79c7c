import os

import pytest

from flows.parameters import EvaluationParameters, TrainParameters, pass_on_key
from flows.plans import train_plan
from plugrl.config.server import API_KEY_VARIABLE
from plugrl.errors import UsageError

NAMES = ("gaussian-policy", "default", "ppo", "default")


@pytest.mark.parametrize(
    ("argv", "options"),
    [
        (("--num-procs", "2", "--num-envs=4"), {"num-procs": 2, "num-envs": 4}),
        (("--algo.learning-rate", "1e-3"), {"algo.learning-rate": "1e-3"}),
        (("--algo.clip-ratio", "0.2"), {"algo.clip-ratio": 0.2}),
        (("--track.enabled", "--no-auth"), {"track.enabled": True, "no-auth": True}),
        (("--policy.hidden-dims", "64", "32"), {"policy.hidden-dims": ["64", "32"]}),
        (("--env.kwargs", '{"a": 1}'), {"env.kwargs": '{"a": 1}'}),
        (("--env.low", "-1"), {"env.low": -1}),
    ],
)
def test_flags_become_options_and_these_flags_that_mean_the_same(argv, options):
    parameters = TrainParameters.of([*NAMES, "--env", "hopper", "--exp-name=x", *argv])
    assert parameters.options == options
    assert TrainParameters.of(parameters.argv()) == parameters


def test_what_people_look_for_stands_apart_from_the_options():
    argv = [*NAMES, "--env=hopper", "--resume", "--exp-name", "x", "--import", "a", "--import=b"]
    parameters = TrainParameters.of(argv)
    assert (parameters.env, parameters.exp_name, parameters.resume) == ("hopper", "x", True)
    assert (parameters.imports, parameters.options) == (["a", "b"], {})
    assert parameters.argv() == [
        *(*NAMES, "--env", "hopper", "--exp-name", "x"),
        *("--import=a", "--import=b", "--resume"),
    ]


def test_neither_a_key_nor_how_the_command_runs_is_a_parameter():
    argv = [*NAMES, "--env", "hopper", "--api-key", "secret", "--detach", "--no-prefect"]
    parameters = TrainParameters.of(argv)
    assert parameters.options == {}
    assert "secret" not in str(parameters)


def test_a_run_without_a_name_is_given_a_new_one():
    first, second = (TrainParameters.of([*NAMES, "--env", "hopper"]).exp_name for _ in range(2))
    assert first != second


def test_a_run_to_go_on_with_is_given_none():
    assert TrainParameters.of([*NAMES, "--env", "hopper", "--resume"]).exp_name is None


def test_a_box_that_is_not_ticked_in_a_form_is_a_negative_flag():
    parameters = TrainParameters(
        policy="gaussian-policy",
        policy_variant="default",
        algorithm="ppo",
        algorithm_variant="default",
        env="hopper",
        exp_name=None,
        resume=False,
        imports=[],
        options={"track.enabled": False, "auth": False},
    )
    assert parameters.argv()[-2:] == ["--track.no-enabled", "--no-auth"]


def test_an_evaluation_is_the_same_by_its_parameters_and_has_no_key():
    argv = ["runs/x/64", "--env=hopper", "--import", "a", "--api-key", "secret", "--no-prefect"]
    parameters = EvaluationParameters.of([*argv, "--num-envs", "4"], "plugrl-flow evaluate")
    assert parameters == EvaluationParameters(
        step_dir="runs/x/64", env="hopper", imports=["a"], options={"num-envs": 4}
    )
    assert parameters.argv() == [
        *("runs/x/64", "--env", "hopper", "--num-envs=4", "--import=a"),
    ]


@pytest.mark.parametrize("key", [("--api-key", "secret"), ("--api-key=secret",)])
def test_a_key_is_passed_on_by_the_environment(key, monkeypatch):
    # Set first, so that what the call sets is taken back after the test.
    monkeypatch.setenv(API_KEY_VARIABLE, "")
    monkeypatch.delenv(API_KEY_VARIABLE)
    pass_on_key([*NAMES, "--env", "hopper"])
    assert API_KEY_VARIABLE not in os.environ
    pass_on_key([*NAMES, *key])
    assert os.environ[API_KEY_VARIABLE] == "secret"


def test_what_is_neither_a_name_nor_a_flag_is_refused():
    with pytest.raises(UsageError, match="expected a flag, got 'hopper'"):
        TrainParameters.of([*NAMES, "hopper"])


def test_missing_names_are_told():
    with pytest.raises(UsageError, match="expected POLICY VARIANT ALGO VARIANT, got nothing"):
        TrainParameters.of(["--env", "hopper"])


@pytest.mark.parametrize(
    "wrong",
    [("--resume", "true"), ("--resume=no",), ("--exp-name",), ("--exp-name", "a", "b"), ("--env",)],
    ids=" ".join,
)
def test_a_flag_with_too_few_or_too_many_values_is_left_for_the_parser_to_refuse(wrong):
    argv = [*NAMES, "--env=dummy-v1", "--exp-name=x", *wrong]
    with pytest.raises((UsageError, SystemExit)):
        train_plan(tuple(TrainParameters.of(argv).argv()))
