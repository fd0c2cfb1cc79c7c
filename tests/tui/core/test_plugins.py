"""Plug-ins are chosen from in the app, whose process never imports them."""

import asyncio
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from plugrl_tui.core import combinations, command_line, plugins
from plugrl_tui.core.combinations import Names
from plugrl_tui.core.command_line import CommandError
from plugrl_tui.core.draft import IMPORTS_KEY, Draft
from tests.tui.plugin_files import install, write_plugins

pytestmark = pytest.mark.usefixtures("own_registries")
TRUNK = Names(policy="shared-trunk", policy_variant="small")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_plugins(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def loaded(*modules: str) -> None:
    asyncio.run(plugins.load(modules))


def test_a_policy_of_a_plug_in_is_as_good_as_ours_and_is_not_imported() -> None:
    loaded("trunk_plugin")
    assert plugins.refusal(["trunk_plugin"]) is None
    assert not {"heavy_as_torch", "trunk_plugin"} & set(sys.modules)
    assert "shared-trunk" in combinations.policies_for(Names())
    draft = Draft(names=TRUNK, texts={}, imports=("trunk_plugin",))
    assert draft.verdict.errors == {}
    policy = {key: spec for key, spec in draft.specs.items() if key.startswith("policy.")}
    assert {key: draft.text(key) for key in policy} == {
        "policy.device": "cpu",
        "policy.width": "32",
        "policy.slope": "none",
        "policy.activation": "relu",
        "policy.sizes_of_heads": "64 32",
        "policy.more": '{"a": 1}',
        "policy.folder": "some/where",
        "policy.trunk.depth": "1",
    }
    assert policy["policy.width"].help == "Width of the trunk."
    assert policy["policy.trunk.depth"].help == "Layers of the trunk."
    assert policy["policy.activation"].choices == ("tanh", "relu")


def test_the_command_imports_the_plug_in_and_changes_its_fields() -> None:
    loaded("trunk_plugin")
    texts = {"policy.trunk.depth": "3", "policy.sizes_of_heads": "8 8", "policy.slope": "0.5"}
    draft = Draft(names=TRUNK, texts=texts, imports=("trunk_plugin",))
    words = command_line.command(draft)
    assert words[2:4] == ["shared-trunk", "small"]
    assert words[-1] == "--import=trunk_plugin"
    assert {"--policy.trunk.depth=3", "--policy.slope=0.5"} <= set(words)
    again = command_line.read(command_line.command_text(draft), Draft())
    assert (again.names, again.imports) == (draft.names, draft.imports)
    assert again.verdict.configs == draft.verdict.configs


def test_a_name_of_a_plug_in_that_another_draft_named_is_imported_all_the_same() -> None:
    loaded("trunk_plugin", "corridor_plugin")
    draft = Draft(names=replace(TRUNK, env="corridor"), texts={"clients.num_procs": "0"})
    imports = ["--import=trunk_plugin", "--import=corridor_plugin"]
    assert command_line.command(draft)[-2:] == imports
    clients = command_line.client_command(draft, "ws://127.0.0.1:8000")
    assert clients[-1] == "--import=corridor_plugin"


def test_sizes_of_an_env_are_those_of_its_variant_and_else_unknown() -> None:
    loaded("corridor_plugin")
    config = combinations.env_config("corridor")
    assert config.sizes().obs_dim == 9
    assert replace(config, length=4).sizes() is None


def test_an_installed_plug_in_is_there_without_being_named(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(here)
    monkeypatch.syspath_prepend(here)
    assert plugins.is_pending(())
    loaded()
    assert not plugins.is_pending(())
    draft = Draft(names=Names(env="corridor"))
    assert draft.verdict.errors == {}
    assert not any(word.startswith("--import") for word in command_line.command(draft))


def test_an_installed_plug_in_that_is_broken_is_a_sentence_though_nobody_named_it(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(here, "broken_plugin")
    monkeypatch.syspath_prepend(here)
    assert Draft().verdict.errors == {}
    loaded()
    reason = "can't import entry point 'mine': ZeroDivisionError: division by zero"
    assert Draft().verdict.errors == {IMPORTS_KEY: reason}


@pytest.mark.parametrize(
    ("module", "sentence"),
    [
        ("no_such_plugin", "can't import --import no_such_plugin: ModuleNotFoundError"),
        ("broken_plugin", "can't import --import broken_plugin: ZeroDivisionError"),
    ],
)
def test_what_can_t_be_imported_is_a_sentence_at_its_field(module: str, sentence: str) -> None:
    draft = Draft(imports=(module,))
    assert draft.verdict.errors == {IMPORTS_KEY: plugins.PENDING}
    loaded(module)
    assert sentence in replace(draft).verdict.errors[IMPORTS_KEY]


def test_a_plug_in_that_ends_its_process_is_a_sentence(here: Path) -> None:
    (here / "leaving.py").write_text("import os\nos._exit(3)\n")
    loaded("leaving")
    assert "its process ended with 3: it said nothing" in (plugins.refusal(["leaving"]) or "")


def test_a_plug_in_that_never_ends_is_given_up(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugins, "TIMEOUT_S", 0.01)
    loaded("trunk_plugin")
    assert "trunk_plugin took more than 0 s to import" in (plugins.refusal(["trunk_plugin"]) or "")


def test_a_plug_in_that_was_corrected_is_read_again(here: Path) -> None:
    loaded("broken_plugin")
    (here / "broken_plugin.py").write_text((here / "trunk_plugin.py").read_text())
    plugins.forget(["broken_plugin"])
    assert plugins.is_pending(["broken_plugin"])
    loaded("broken_plugin")
    assert plugins.refusal(["broken_plugin"]) is None


def test_modules_that_a_command_imports_are_known_before_its_names_are() -> None:
    words = ["plugrl", "launch", "shared-trunk", "small", "ppo", "default", "--import", "a"]
    assert command_line.imports_in([*words, "--import=b.c", "--import"]) == ("a", "b.c")
    with pytest.raises(CommandError, match=r"unknown flag --policy\.width"):
        command_line.read_words([*words, "--policy.width=3"], Draft())
    loaded("trunk_plugin")
    draft = command_line.read_words([*words, "--policy.width=3"], Draft())
    assert (draft.names.policy, draft.value("policy.width")) == ("shared-trunk", 3)
