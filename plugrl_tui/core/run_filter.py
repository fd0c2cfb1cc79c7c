"""The filter of RUNS: words, ``state:failed``, ``algo:ppo``, ``lr<1e-3``, all of them at once."""

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from plugrl_tui.core.history import RunRow

Test: TypeAlias = "Callable[[RunRow], bool]"

_COMPARISON = re.compile(r"(?P<field>[\w.-]+)(?P<sign><=|>=|!=|<|>|=)(?P<value>.+)")
_SIGNS: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "!=": operator.ne,
}
_SHORT = {"lr": "learning_rate", "steps": "step", "name": "exp_name"}


def matcher(text: str) -> Test:
    """The test that a filter means; an empty one lets all pass.

    Raises:
        ValueError: it means none; says what was expected.
    """
    tests = [_test(word) for word in text.split()]
    return lambda row: all(test(row) for test in tests)


def flat(config: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """A nested config's values by dotted name."""
    for name, value in config.items():
        if isinstance(value, Mapping) and value:
            yield from flat(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value


def _test(word: str) -> Test:
    if found := _COMPARISON.fullmatch(word):
        return _comparison(found["field"], found["sign"], found["value"])
    key, colon, wanted = word.partition(":")
    if colon and key in _WORDS:
        if not wanted:
            raise ValueError(f"expected a word after {word}")
        return lambda row: wanted.lower() in _WORDS[key](row).lower()
    if colon and not _is_env(key):
        raise ValueError(f"expected {', '.join(f'{k}:' for k in _WORDS)}, got {word!r}")
    return lambda row: any(word.lower() in part(row).lower() for part in _WORDS.values())


def _is_env(name: str) -> bool:
    # Here, as the registry looks for plug-ins, and the first picture of RUNS has no filter.
    from plugrl.registry import ENVS

    return name in ENVS.uids()


def _comparison(field: str, sign: str, text: str) -> Test:
    name = _SHORT.get(field, field).replace("-", "_")
    compare = _SIGNS[sign]
    wanted: float | str
    try:
        wanted = float(text.replace("_", ""))
    except ValueError:
        if sign not in ("=", "!="):
            raise ValueError(f"expected a number after {field}{sign}, got {text!r}") from None
        wanted = text

    def test(row: "RunRow") -> bool:
        value = _value(row, name)
        if isinstance(wanted, str):
            return value is not None and compare(str(value), wanted)
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return number and compare(value, wanted)

    return test


def _value(row: "RunRow", name: str) -> Any:
    of_row = {"return": row.last_return, "step": row.step, "exp_name": row.name}
    if name in of_row:
        return of_row[name]
    for key, value in flat(row.run.record.config):
        if key == name or key.endswith(f".{name}"):
            return value
    return None


_WORDS: "Mapping[str, Callable[[RunRow], str]]" = {
    "state": lambda row: str(row.state),
    "name": lambda row: row.name,
    "algo": lambda row: f"{row.run.record.algorithm} {row.run.record.algorithm_variant}",
    "policy": lambda row: f"{row.run.record.policy} {row.run.record.policy_variant}",
    "env": lambda row: row.run.record.env or "",
    "where": lambda row: row.where,
}
