"""The command that is shown means what the form says; checked with the real parser."""

from collections.abc import Iterable
from dataclasses import asdict, replace
from typing import Any

import pytest

from flows.plans import add_flags
from plugrl.cli.env_choice import choose_env
from plugrl.cli.launch import opening_flags
from plugrl.cli.parsing import take_names
from plugrl.cli.run_server import NAMES, add_server_flags
from plugrl.config.client import ClientConfig
from plugrl.errors import UsageError
from plugrl.registry import POLICIES
from plugrl_tui.core import combinations, command_line
from plugrl_tui.core.combinations import Names
from plugrl_tui.core.command_line import CommandError
from plugrl_tui.core.draft import Draft, FlowChoices
from plugrl_tui.core.fields import FieldSpec, Kind

ENV_NAMES = [*combinations.env_names(), "Hopper-v4", "my_package.my_module:MyEnv"]


def with_fitting_env(names: Names) -> Names:
    choices = (replace(names, env=env) for env in ENV_NAMES)
    return next(choice for choice in choices if combinations.why_unfit(choice) is None)


COMBINATIONS = list(map(with_fitting_env, combinations.every_combination()))
OTHER_TEXTS = {
    Kind.INT: "12_345",
    Kind.FLOAT: "3e-4",
    Kind.TEXT: "some-text",
    Kind.PATH: "folder with spaces/below",
    Kind.NUMBERS: "256 2_56 8",
    Kind.JSON: '{"a": [1, "b c"], "d": null}',
}
FITTING = {
    "run.num_threads": "3",
    "run.keep_last": "1_000",
    "run.resume": "false",
    "algo.gamma": "0.5",
    "algo.gae_lambda": "1",
    "algo.confidence": "0.9",
    "algo.num_minibatches": "5",
    "server.tls_cert": "none",
    "server.tls_key": "none",
    "server.api_key": "none",
}
"""Fields whose ranges the texts above are not in, or that stand for each other."""


def parsed(words: list[str]) -> Any:
    """What the command line makes of a command."""
    names, flags = take_names(words[len(command_line.TRAIN) :], NAMES, POLICIES)
    env = next((w.partition("=")[2] for w in words if w.startswith("--env=")), None)
    choice = None if env is None else choose_env(env)
    return add_server_flags(add_flags(opening_flags("p", "d")), names, "p", choice).parse(flags)


def means_the_same(draft: Draft) -> None:
    assert draft.verdict.errors == {}
    arguments = parsed(command_line.command(draft))
    for name, config in draft.verdict.configs.items():
        found = getattr(arguments, name, None)
        assert (FlowChoices(prefect=arguments.prefect) if name == "flow" else found) == config, name


def other_text(key: str, spec: FieldSpec) -> str:
    if key in FITTING:
        return FITTING[key]
    if spec.kind is Kind.BOOL:
        return spec.show(value=not spec.default)
    if spec.kind is Kind.CHOICE:
        return next(choice for choice in reversed(spec.choices) if choice != spec.default)
    return OTHER_TEXTS[spec.kind]


@pytest.mark.many_examples
@pytest.mark.parametrize("names", COMBINATIONS, ids=lambda n: f"{n.policy}-{n.algorithm}")
def test_the_defaults_of_every_combination_that_can_train(names: Names) -> None:
    means_the_same(Draft(names=names, texts={}))


@pytest.mark.many_examples
@pytest.mark.parametrize("names", COMBINATIONS, ids=lambda n: f"{n.policy}-{n.algorithm}")
def test_every_field_changed_at_once(names: Names) -> None:
    draft = Draft(names=names, texts={})
    changed = draft.with_texts({k: other_text(k, spec) for k, spec in draft.specs.items()})
    assert len(changed.changed) > len(changed.specs) * 0.8
    means_the_same(changed)


@pytest.mark.many_examples
@pytest.mark.parametrize("env", ENV_NAMES)
def test_every_env_with_every_field_changed(env: str) -> None:
    draft = Draft(texts={}).with_names(Names(env=env))
    texts = {k: other_text(k, s) for k, s in draft.specs.items() if k.startswith("env.")}
    means_the_same(draft)
    means_the_same(draft.with_texts(texts))


@pytest.mark.many_examples
@pytest.mark.parametrize("names", COMBINATIONS, ids=lambda n: f"{n.policy}-{n.algorithm}")
def test_none_is_written_wherever_a_field_may_be_none(names: Names) -> None:
    draft = Draft(names=names, texts={})
    means_the_same(draft.with_texts({k: "none" for k, s in draft.specs.items() if s.optional}))


@pytest.mark.parametrize("names", COMBINATIONS, ids=lambda n: f"{n.policy}-{n.algorithm}")
def test_a_command_that_is_pasted_makes_the_same_draft(names: Names) -> None:
    for env in (names.env, "gym-v1"):
        draft = Draft(names=replace(names, env=env), texts={})
        changed = draft.with_texts({k: other_text(k, spec) for k, spec in draft.specs.items()})
        again = command_line.read(command_line.command_text(changed), Draft())
        assert again.names == changed.names
        assert again.verdict.configs == changed.verdict.configs


def test_a_key_is_in_no_command() -> None:
    draft = Draft().with_text("server.api_key", "a-secret-that-nobody-reads")
    assert "secret" not in command_line.command_text(draft)


def test_no_local_clients_means_a_supervised_server_and_a_command_for_the_clients() -> None:
    draft = Draft().with_texts({"clients.num_procs": "0", "env.max_episode_steps": "7"})
    words = command_line.command(draft)
    assert words[: len(command_line.TRAIN)] == list(command_line.TRAIN)
    assert "--num-procs=0" in words
    clients = command_line.client_command(draft, "ws://127.0.0.1:8123")
    assert clients[:2] == ["plugrl-run-env-client", "hopper"]
    assert "--env.max-episode-steps=7" in clients
    assert "--server-host=ws://127.0.0.1:8123" in clients


def test_a_run_that_prefect_did_not_hear_of_comes_back_as_one() -> None:
    names = "gaussian-policy default ppo default --env hopper"
    assert command_line.read(f"plugrl launch {names}", Draft()).value("flow.prefect") is False
    assert command_line.read(f"plugrl-flow train {names}", Draft()).value("flow.prefect") is True
    again = command_line.read(f"plugrl-flow train {names} --no-prefect", Draft())
    assert "--no-prefect" in command_line.command(again)


@pytest.mark.parametrize("program", ["plugrl eval", "bin/plugrl-flow evaluate"])
def test_what_measures_a_checkpoint_is_no_run_to_be_made(program: str) -> None:
    with pytest.raises(CommandError, match="measures a checkpoint, which is no training"):
        command_line.read(f"{program} runs/x/64 --env hopper --algo.num-episodes 20", Draft())


def test_flags_alone_change_the_draft_and_keep_the_rest() -> None:
    draft = Draft().with_text("run.seed", "5")
    again = command_line.read("--algo.global_steps 2e5 --policy.hidden-sizes 32 32", draft)
    assert again.value("run.seed") == 5
    assert again.value("algo.global_steps") == 200_000
    assert again.value("policy.hidden_sizes") == (32, 32)


def test_the_step_limits_own_flag_is_the_envs_field() -> None:
    assert command_line.read("--max-episode-steps 9", Draft()).value("env.max_episode_steps") == 9


@pytest.mark.parametrize(
    "program", ["plugrl-run-server", "plugrl run-server", "bin/plugrl-run-server"]
)
def test_a_server_alone_comes_back_as_one(program: str) -> None:
    command = f"{program} gaussian-policy default ppo default --env hopper --seed 3"
    draft = command_line.read(command, Draft())
    assert draft.value("clients.num_procs") == 0
    assert command_line.command(draft)[:2] == ["plugrl-flow", "train"]
    assert "--num-procs=0" in command_line.command(draft)


def test_switches_take_no_value() -> None:
    again = command_line.read("--track.enabled --algo.no-normalize-rewards", Draft())
    assert again.value("track.enabled") is True
    assert again.value("algo.normalize_rewards") is False


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("--algo.gama 0.9", "unknown flag --algo.gama, did you mean --algo.gamma?"),
        ("--seed", "expected a value (whole number), got none, at --seed"),
        ("hello there", "expected flags, such as --seed 3, got 'hello there'"),
        ("plugrl-flow train ppo", "expected POLICY VARIANT ALGO VARIANT, got ppo"),
        ("plugrl-flow train", "expected flags"),
        ("gaussian-policy default --seed 3", "expected POLICY VARIANT ALGO VARIANT"),
        ("--seed 'open", "No closing quotation"),
    ],
)
def test_what_is_no_command_is_refused_with_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(CommandError) as refused:
        command_line.read(text, Draft())
    assert sentence in str(refused.value)


TEXTS = ("", "none", "None", "abc", "1e3", "1.5", "8_192", "-3", "nan", "true", "64 64")
SPECIAL = {"run.exp_name", "server.api_key", "server.tls_cert", "server.tls_key"}
"""Fields that others depend on, or that a command leaves out."""


def judged_alike(draft: Draft, keys: Iterable[str], text: str) -> None:
    plain = command_line.command(draft)
    for key in keys:
        group, _, _ = key.partition(".")
        prefix = next(g.prefix for g in draft.groups if g.name == group)
        verdict = draft.with_text(key, text).verdict
        try:
            arguments = parsed([*plain, f"--{prefix}{draft.specs[key].flag}={text}"])
            ClientConfig(**asdict(arguments.clients))
        except (SystemExit, UsageError):
            assert key in verdict.errors, (key, text)
        else:
            assert key not in verdict.errors, (key, text, verdict.errors[key])
            assert str(getattr(arguments, group)) == str(verdict.configs[group]), key


def checkable(draft: Draft) -> dict[str, FieldSpec]:
    listed = (Kind.BOOL, Kind.NUMBERS)
    return {k: s for k, s in draft.specs.items() if s.kind not in listed and k not in SPECIAL}


@pytest.mark.many_examples
@pytest.mark.parametrize("text", TEXTS)
def test_a_text_is_taken_where_the_command_line_takes_it_for_every_kind_of_field(text: str) -> None:
    draft = Draft(texts={}).with_names(Names(env="gym-v1"))
    one_a_kind = {(s.kind, s.optional): key for key, s in checkable(draft).items()}
    assert len(one_a_kind) >= 8
    judged_alike(draft, one_a_kind.values(), text)


@pytest.mark.slow
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("env", ["gym-v1", "dummy-v1", "probe-v1"])
def test_a_text_is_taken_where_the_command_line_takes_it_for_every_field(
    env: str, text: str
) -> None:
    draft = Draft(texts={}).with_names(Names(env=env))
    judged_alike(draft, checkable(draft), text)
