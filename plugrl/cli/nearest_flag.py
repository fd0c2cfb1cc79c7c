"""Which flag a person meant who typed one that there is not."""

from argparse import ArgumentParser
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, NoReturn

from plugrl.errors import UsageError

CLOSE = 0.6
"""Flags less alike than this, of 1, are not suggested."""
CLOSE_ELSEWHERE = 0.7
"""The same where the one typed is of a group, and the other is not of that."""
SHORTEST_PART = 3
"""Letters that a part of a name needs to tell it."""

# How alike, of 1, names are that share more than their spelling shows.
INITIALS = 0.9
"""``lr`` and ``learning-rate``."""
WHOLE_WORDS = 0.75
"""``rate`` and ``learning-rate``."""
PART = 0.65
"""``learn`` and ``learning-rate``."""


def require_known(argv: Sequence[str], known: Collection[str], prog: str) -> None:
    """Refuse a flag that there is not, and name the one that was meant.

    Args:
        argv: the arguments.
        known: the flags that there are, without dashes.
        prog: the program's name.

    Raises:
        UsageError: one is not known.
    """
    for argument in argv:
        # Underscores are taken for hyphens by tyro too, whose own flags are for shells.
        name = argument.partition("=")[0].removeprefix("--").replace("_", "-")
        if not argument.startswith("--") or name in {"", "help"} or name.startswith("tyro-"):
            continue
        if not _is_of(name, known):
            raise UsageError(unknown_flag(name, known, prog))


def unknown_flag(name: str, known: Collection[str], prog: str) -> str:
    """The sentence for a flag that there is not.

    Args:
        name: what was typed, without dashes.
        known: the flags that there are, without dashes.
        prog: the program's name.
    """
    nearest = nearest_flag(name, known)
    hint = f"see '{prog} --help' for all" if nearest is None else f"did you mean --{nearest}?"
    return f"expected a known flag, got --{name}; {hint}"


def nearest_flag(name: str, known: Iterable[str]) -> str | None:
    """The known flag most like ``name``: by its spelling, a part of it, or its words' initials.

    All are without dashes.
    """
    likeness = {flag: _likeness(name, flag) for flag in known}
    close = [
        flag
        for flag, (alike, same_group, _) in likeness.items()
        if alike >= (CLOSE if same_group or "." not in name else CLOSE_ELSEWHERE)
    ]
    return max(close, key=lambda flag: likeness[flag], default=None)


class FlagParser(ArgumentParser):
    """A parser of flags in full, which names the one that was meant."""

    def __init__(self, **settings: Any) -> None:
        """Take no part of a flag for the whole."""
        super().__init__(**{"allow_abbrev": False, **settings})

    def flags(self) -> Iterator[tuple[str, str]]:
        """Its own without dashes, and those of the subcommands below it; each with its command."""
        for action in self._actions:
            for flag in action.option_strings:
                if flag.startswith("--"):
                    yield flag.removeprefix("--"), self.prog
            if isinstance(action.choices, Mapping):
                for below in action.choices.values():
                    yield from below.flags()

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the arguments, and exit; for its subcommands too."""
        words = message.removeprefix("unrecognized arguments: ").split(" ")
        flags = [word.partition("=")[0] for word in words if word.startswith("--")]
        if message.startswith("unrecognized") and flags:
            message = self._unrecognized(flags[0].removeprefix("--"))
        super().error(message)

    def _unrecognized(self, name: str) -> str:
        known = list(self.flags())
        owners = dict.fromkeys(owner for flag, owner in known if flag == name)
        if owners:
            return f"expected --{name} right behind {' or '.join(map(repr, owners))}"
        return unknown_flag(name, [flag for flag, _ in known], self.prog)


def _is_of(name: str, known: Collection[str]) -> bool:
    """Whether it is one of them, or a key of one that holds a dictionary."""
    parents = [name[:at] for at, sign in enumerate(name) if sign == "."]
    return name in known or any(parent in known for parent in parents)


def _likeness(name: str, flag: str) -> tuple[float, bool, float]:
    """How alike two flags are, of 1; of those that are equally alike, whether in one group."""
    group, _, typed = name.rpartition(".")
    flag_group, _, last = flag.rpartition(".")
    words = last.split("-")
    if typed == last:
        alike = 1.0
    elif len(words) > 1 and typed == "".join(word[:1] for word in words):
        alike = INITIALS
    else:
        alike = SequenceMatcher(None, typed, last).ratio()
        if len(typed) >= SHORTEST_PART and set(typed.split("-")) <= set(words):
            alike = max(alike, WHOLE_WORDS)
        elif len(typed) >= SHORTEST_PART and typed in last:
            alike = max(alike, PART)
    return alike, group == flag_group, SequenceMatcher(None, name, flag).ratio()
