"""Drafts: choices and texts, judged as the command line judges them."""

import pytest

from plugrl_tui.core.combinations import Names
from plugrl_tui.core.draft import ENV_KEY, NAMES_KEY, Draft


def test_a_new_draft_is_right_and_changes_two_fields() -> None:
    assert Draft().verdict.errors == {}
    assert Draft().changed == ("clients.num_procs", "clients.num_envs")


def test_a_text_that_means_the_default_is_no_change() -> None:
    assert "algo.global_steps" not in Draft().with_text("algo.global_steps", "1e6").changed


def test_texts_of_other_names_wait_for_them() -> None:
    draft = Draft().with_text("algo.gamma", "0.9")
    other = draft.with_names(Names(policy="dummy-policy", algorithm="dummy", env="dummy-v1"))
    assert other.verdict.errors == {}
    assert "algo.gamma" not in other.changed
    assert other.with_names(Names()).value("algo.gamma") == 0.9


def test_a_policy_that_does_not_fit_gives_way_to_one_that_does() -> None:
    assert Draft().with_names(Names(env="cartpole")).names.policy == "categorical-policy"


def test_where_no_policy_fits_the_reason_is_kept() -> None:
    draft = Draft(names=Names(policy="dummy-policy", algorithm="ppo"))
    assert "needs a policy with log_prob, value" in draft.verdict.errors[NAMES_KEY]


def test_an_unknown_name_is_an_error_and_its_fields_are_away() -> None:
    draft = Draft(names=Names(algorithm="pppo"))
    assert "unknown algorithm 'pppo', did you mean 'ppo'?" in draft.verdict.errors[NAMES_KEY]
    assert not any(key.startswith("algo.") for key in draft.specs)


def test_fields_that_depend_on_one_another_blame_the_one_that_the_config_blames() -> None:
    errors = Draft().with_text("algo.rollout_steps", "32").verdict.errors
    assert list(errors) == ["algo.num_minibatches"]
    assert errors["algo.num_minibatches"].startswith("expected at most half of rollout_steps")


def test_nested_fields_are_judged_too() -> None:
    errors = Draft().with_text("server.limits.max_viewers", "0").verdict.errors
    assert errors == {"server.limits.max_viewers": "expected more than 0, got 0"}


def test_local_clients_need_an_env_and_a_positive_number_of_envs() -> None:
    alone = Draft(names=Names(env=None))
    assert ENV_KEY in alone.verdict.errors
    assert alone.with_text("clients.num_procs", "0").verdict.errors == {}
    errors = Draft().with_text("clients.num_envs", "0").verdict.errors
    assert errors == {"clients.num_envs": "expected at least 1, got 0"}


def test_a_draft_comes_back_from_json_without_its_key() -> None:
    draft = Draft().with_texts({"run.seed": "3", "server.api_key": "hidden"})
    again = Draft.of_plain(draft.plain())
    assert again == draft.without_text("server.api_key")


@pytest.mark.parametrize("body", [{}, {"version": 2}, {"version": 1, "names": {"a": 1}}])
def test_what_is_no_draft_is_refused(body: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="expected a draft of version 1"):
        Draft.of_plain(body)
