from dataclasses import dataclass

import pytest

from plugrl.errors import UnknownNameError, UsageError
from plugrl.registry import ALGORITHMS, ENVS, POLICIES, Entry, Registry, load_plugins


@dataclass(frozen=True)
class Config:
    width: int = 1


class Runner:
    pass


@pytest.fixture
def registry() -> Registry:
    entry = Entry("plugrl.config.ppo:VARIANTS", "plugrl.config.ppo:PPOConfig")
    return Registry("thing", {"built-in": entry})


def test_a_decorated_config_and_class_are_found_by_their_uid(registry):
    registry.register_config("mine")(Config)
    registry.register_config("mine", "wide")(lambda: Config(width=9))
    registry.register("mine")(Runner)
    assert registry.uids() == ["built-in", "mine"]
    assert registry.variants("mine") == {"default": Config(), "wide": Config(width=9)}
    assert registry.variant("mine", "wide") == Config(width=9)
    assert registry.cls("mine") is Runner


def test_a_variant_may_be_added_to_what_is_built_in(registry):
    registry.register_config("built-in", "mine")(Config)
    assert registry.variant("built-in", "mine") == Config()
    assert {"default", "debug", "mine"} <= set(registry.variants("built-in"))


def test_an_unknown_uid_or_variant_names_the_nearest(registry):
    with pytest.raises(UnknownNameError, match="unknown thing 'buit-in', did you mean 'built-in'"):
        registry.cls("buit-in")
    with pytest.raises(UnknownNameError, match="variant of thing 'built-in' 'debugg', did you"):
        registry.variant("built-in", "debugg")


def test_a_config_without_a_class_says_so(registry):
    registry.register_config("mine")(Config)
    with pytest.raises(UsageError, match="thing 'mine' has a config but no class registered"):
        registry.cls("mine")


@pytest.mark.parametrize(
    ("registry", "uid"),
    [(registry, uid) for registry in (POLICIES, ALGORITHMS, ENVS) for uid in registry.uids()],
    ids=lambda value: getattr(value, "kind", value),
)
def test_every_built_in_name_has_a_default_and_a_class(registry, uid):
    assert "default" in registry.variants(uid)
    assert isinstance(registry.cls(uid), type)


def test_a_module_that_cannot_be_imported_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "broken_plugin.py").write_text("1 / 0")
    with pytest.raises(UsageError, match="can't import --import broken_plugin: ZeroDivisionError"):
        load_plugins(["broken_plugin"])


def test_installed_plugins_are_found_by_their_entry_point(tmp_path, monkeypatch):
    monkeypatch.setattr(POLICIES, "_entries", dict(POLICIES._entries))
    monkeypatch.syspath_prepend(tmp_path)
    about = tmp_path / "found_plugin-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: found-plugin\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[plugrl.plugins]\nfound = found_plugin\n")
    (tmp_path / "found_plugin.py").write_text(
        "from plugrl import register_policy_config\nregister_policy_config('found')(dict)\n"
    )
    load_plugins()
    assert POLICIES.variants("found") == {"default": {}}
