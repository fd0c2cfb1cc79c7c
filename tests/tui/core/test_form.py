"""LAUNCH's table as rows."""

from dataclasses import replace

from plugrl.registry import ALGORITHMS, POLICIES
from plugrl_tui.core import combinations, form
from plugrl_tui.core.combinations import Names
from plugrl_tui.core.draft import Draft
from plugrl_tui.core.form import FormRow, View

OPEN = View(closed=frozenset())


def row(draft: Draft, key: str, view: View = OPEN) -> FormRow:
    return next(row for row in form.rows(draft, view) if row.key == key)


def test_every_field_of_every_combination_has_a_row_with_help_and_type() -> None:
    for names in combinations.every_combination():
        draft = Draft(names=replace(names, env="gym-v1"))
        shown = {row.key: row for row in form.rows(draft, OPEN) if not row.is_group}
        assert set(draft.specs) <= set(shown)
        for found in shown.values():
            assert found.help, found.key
            assert found.type_words, found.key


def test_only_policies_that_can_be_trained_are_offered() -> None:
    assert row(Draft(), "names.policy").choices == ("gaussian-policy",)
    discrete = Draft().with_names(Names(env="cartpole"))
    assert row(discrete, "names.policy").choices == ("categorical-policy",)
    any_env = Draft(names=Names(algorithm="dummy", env=None))
    assert row(any_env, "names.policy").choices == tuple(POLICIES.uids())
    assert row(Draft(), "names.algorithm").choices == tuple(ALGORITHMS.uids())


def test_a_closed_group_says_how_many_it_holds_and_whether_one_is_wrong() -> None:
    draft = Draft().with_text("server.port", "x")
    closed = row(draft, "server", View())
    assert closed.text == str(len([key for key in draft.specs if key.startswith("server.")]))
    assert closed.error == "expected whole number, got 'x'"
    assert not [r for r in form.rows(draft, View()) if r.key == "server.port"]


def test_finding_looks_into_closed_groups_names_and_helps() -> None:
    found = form.rows(Draft(), View(find="bind api"))
    assert [r.key for r in found] == []
    found = form.rows(Draft(), View(find="port bind"))
    assert [r.key for r in found] == ["server", "server.port"]


def test_choices_go_round_both_ways() -> None:
    activation = row(Draft(), "policy.activation")
    assert form.next_choice(activation, 1) == "relu"
    assert form.next_choice(activation, -1) == "silu"
    assert form.next_choice(row(Draft(), "run.seed"), 1) is None


def test_another_policy_begins_with_its_default_variant() -> None:
    draft = Draft(names=Names(algorithm="dummy", algorithm_variant="debug", env=None))
    other = form.with_value(draft, "names.algorithm", "ppo")
    assert (other.names.algorithm, other.names.algorithm_variant) == ("ppo", "default")
    assert form.with_value(draft, "names.env", "none").names.env is None


def test_secrets_are_dots() -> None:
    shown = row(Draft().with_text("server.api_key", "hidden"), "server.api_key").shown
    assert "hidden" not in shown
    assert row(Draft(), "server.api_key").shown == "none"
