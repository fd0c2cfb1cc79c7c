from dataclasses import dataclass, field
from typing import Any

import pytest

from plugrl.cli.parsing import Flags, flags_named, peek, split_env_name, take_names
from plugrl.config.server import ServerConfig
from plugrl.errors import ConfigError, UsageError
from plugrl.registry import POLICIES

NAMES = ("POLICY", "VARIANT", "ALGO", "VARIANT")


@dataclass(frozen=True, kw_only=True)
class Example:
    """An example."""

    count: int = 1
    """How many."""
    limit: int | None = None
    """At most so many."""
    sizes: tuple[int, ...] = (64, 64)
    """How wide."""
    rate: float = 0.5
    """How fast."""
    flag: bool = False
    """Whether."""
    extra: dict[str, Any] = field(default_factory=dict)
    """What else."""


def parse(*argv: str) -> Any:
    return Flags("prog", "Description.").add_config("x", Example()).parse(argv).x


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        ((), Example()),
        (("--x.count", "1e6"), Example(count=1_000_000)),
        (("--x.count=8_192",), Example(count=8192)),
        (("--x.count", "-3"), Example(count=-3)),
        (("--x.limit", "2e3"), Example(limit=2000)),
        (("--x.limit", "None"), Example(limit=None)),
        (("--x.limit", "none"), Example(limit=None)),
        (("--x.sizes", "256", "1e2"), Example(sizes=(256, 100))),
        (("--x.rate", "3e-4"), Example(rate=0.0003)),
        (("--x.flag",), Example(flag=True)),
        (("--x.no-flag",), Example()),
        (("--x.extra", '{"a": [1, "b"]}'), Example(extra={"a": [1, "b"]})),
    ],
)
def test_values_are_read_as_people_write_them(argv, expected):
    assert parse(*argv) == expected


@pytest.mark.parametrize(
    "argv",
    [
        ("--x.count", "1.5"),
        ("--x.count", "many"),
        ("--x.count", "inf"),
        ("--x.flag", "true"),
        ("--x.extra", "[1]"),
        ("--x.extra", "{"),
        ("stray",),
    ],
)
def test_values_of_another_kind_and_stray_words_exit_with_2(argv, capsys):
    with pytest.raises(SystemExit) as exit_:
        parse(*argv)
    assert exit_.value.code == 2
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        (("--x.cou", "1"), "expected a known flag, got --x.cou; did you mean --x.count?"),
        (("--x.no-flg",), "expected a known flag, got --x.no-flg; did you mean --x.no-flag?"),
        (("--zzzz=1",), "expected a known flag, got --zzzz; see 'prog --help' for all"),
    ],
)
def test_a_flag_that_there_is_not_is_refused_and_the_nearest_named(argv, sentence):
    with pytest.raises(UsageError) as caught:
        parse(*argv)
    assert str(caught.value) == sentence


def test_a_value_out_of_range_names_its_flag():
    flags = Flags("prog", "").add_config("server", ServerConfig(), prefix="")
    with pytest.raises(UsageError, match=r"^expected 0 to 65535, got 65536, at --port$"):
        flags.parse(["--port", "65536"])
    with pytest.raises(UsageError, match=r"got 0, at --limits\.max-viewers$"):
        flags.parse(["--limits.max-viewers", "0"])


def test_a_config_of_another_command_complains_in_its_own_words():
    with pytest.raises(ConfigError, match=r"at ServerConfig\.port"), flags_named({"Other": ""}):
        ServerConfig(port=-1)


@pytest.mark.parametrize(
    ("argv", "names", "flags"),
    [
        ("dummy-policy default ppo debug --port 1", "dummy-policy default ppo debug", "--port 1"),
        ("--port 1 dummy-policy default ppo debug", "dummy-policy default ppo debug", "--port 1"),
        (
            "--env a dummy-policy default ppo debug --resume",
            "dummy-policy default ppo debug",
            "--env a --resume",
        ),
        ("dummy-policy default", "dummy-policy default", ""),
        ("dummy-policy --port 1", "dummy-policy", "--port 1"),
        ("a b c d e", "a b c d", "e"),
        ("--help", "", "--help"),
        ("", "", ""),
    ],
)
def test_the_names_are_split_from_the_flags(argv, names, flags):
    assert take_names(argv.split(), NAMES, POLICIES) == (names.split(), flags.split())


def test_a_flag_can_be_looked_at_before_the_rest_is_parsed():
    argv = ["x", "--import", "a", "--importance", "b", "--import=c", "--import"]
    assert peek(argv, "--import") == ["a", "c"]


def test_an_env_is_named_with_or_without_its_variant():
    assert split_env_name("dummy-v1") == ("dummy-v1", "default")
    assert split_env_name("dummy-v1:state") == ("dummy-v1", "state")
