"""The command that starts a draft's run, and the draft that a command means."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from plugrl.cli.flags import to_flags
from plugrl.cli.nearest_flag import nearest_flag
from plugrl.config.client import ClientConfig
from plugrl.errors import UsageError
from plugrl.registry import ENVS, POLICIES
from plugrl_tui.core import plugins
from plugrl_tui.core.combinations import Names
from plugrl_tui.core.draft import NO_CLIENTS, RECORDED, SECRETS, Draft, Group
from plugrl_tui.core.fields import FieldSpec, Kind

TRAIN = ("plugrl-flow", "train")
"""The command that runs a server and local env clients, if any, supervised."""
CLIENT = ("plugrl-run-env-client",)
NUM_NAMES = 4
_NOT_KEPT = frozenset({"env", "import", "detach", "no-detach"})
"""Flags that are no field's: the names tell of the first two, and we start detached anyway."""
_SERVERS = frozenset({"plugrl-run-server", "run-server"})
"""Commands without local clients."""
_UNRECORDED = frozenset({"launch"})
"""Commands that Prefect does not hear of."""
_PROGRAMS = _SERVERS | _UNRECORDED | {"train"}
_MEASURING = frozenset({"eval", "evaluate"})
"""Commands that train nothing, and so are none that the form can make."""
_STEP_LIMIT = "env.max_episode_steps"


class CommandError(UsageError):
    """A command, pasted or of a run, that this app does not understand; says why."""


def command(draft: Draft) -> list[str]:
    """The command of a draft without errors, as a person can type it; a key is left out."""
    configs = draft.verdict.configs
    names = draft.names
    words = [*TRAIN, names.policy, names.policy_variant]
    words += [names.algorithm, names.algorithm_variant]
    if names.env is not None:
        words.append(f"--env={names.env}")
    for group in draft.groups:
        config = _without_secrets(group, configs[group.name])
        words += to_flags(config, group.config, prefix=group.prefix)
    return [*words, *_import_flags(draft)]


def imports_in(words: Sequence[str]) -> tuple[str, ...]:
    """The modules that a command imports, without understanding the rest of it."""
    found = []
    for place, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name == "--import" and (equals or place + 1 < len(words)):
            found.append(value if equals else words[place + 1])
    return tuple(found)


def flags_in(words: Sequence[str], *, without: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """The flags of any command with their values, as written.

    Args:
        words: the command.
        without: names that are left out.
    """
    flags: list[str] = []
    for word in words:
        if word.startswith("--"):
            flags.append(word)
        elif flags:
            flags[-1] += f" {word}"
    names = (flag[2:].partition(" ")[0].partition("=")[0] for flag in flags)
    return tuple(flag for flag, name in zip(flags, names, strict=True) if name not in without)


def command_text(draft: Draft) -> str:
    """The command for a shell."""
    return shlex.join(command(draft))


def client_command(draft: Draft, url: str) -> list[str]:
    """The command that starts env clients for the draft's run by hand."""
    names, configs = draft.names, draft.verdict.configs
    env = next((group for group in draft.groups if group.name == "env"), None)
    words = [*CLIENT, names.env or "ENV"]
    if env is not None:
        words += to_flags(configs["env"], env.config, prefix=env.prefix)
    config = ClientConfig(num_envs=configs["clients"].num_envs, server_host=url)
    words += to_flags(config, ClientConfig())
    module = plugins.needed("env", _uid(names.env or ""))
    return [*words, *([f"--import={module}"] if module else [])]


def client_text(draft: Draft) -> str:
    """The env clients' command for a shell, with the address that the server will have."""
    server = draft.verdict.configs["server"]
    scheme = "wss" if server.tls_cert else "ws"
    return shlex.join(client_command(draft, f"{scheme}://{server.host}:{server.port}"))


def read(text: str, draft: Draft) -> Draft:
    """The draft with all that a command, or flags alone, say.

    Args:
        text: what a person pasted.
        draft: what it is laid upon; a whole command starts from the defaults.

    Raises:
        CommandError: it can't be understood; says where.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise CommandError(f"expected a command, got {text!r:.60} ({error})") from error
    return read_words(words, draft)


def read_words(words: Sequence[str], draft: Draft) -> Draft:
    """As ``read``, for a command that is split into words already.

    Raises:
        CommandError: it can't be understood; says where.
    """
    names, flags = _split(words)
    imports = tuple(_values_of(flags, "import"))
    env = _values_of(flags, "env")
    if names:
        if len(names) != NUM_NAMES:
            raise CommandError(f"expected POLICY VARIANT ALGO VARIANT, got {' '.join(names)}")
        chosen = Names(
            policy=names[0],
            policy_variant=names[1],
            algorithm=names[2],
            algorithm_variant=names[3],
            env=env[-1] if env else None,
        )
        draft = Draft(names=chosen, texts=_manner(_program(words)), imports=imports)
    elif env:
        draft = draft.with_names(replace(draft.names, env=env[-1]))
    draft = replace(draft, imports=imports or draft.imports)
    return draft.with_texts(_texts(flags, draft))


def _import_flags(draft: Draft) -> list[str]:
    """``--import`` for what the person named, and for names of other plug-ins that are chosen."""
    names = draft.names
    chosen = (("policy", names.policy), ("algorithm", names.algorithm), ("env", names.env or ""))
    needed = (plugins.needed(kind, _uid(name)) for kind, name in chosen)
    modules = dict.fromkeys([*draft.imports, *(module for module in needed if module)])
    return [f"--import={module}" for module in modules]


def _uid(name: str) -> str:
    return name.partition(":")[0]


def _without_secrets(group: Group, config: Any) -> Any:
    secrets = SECRETS & group.specs.keys()
    return replace(config, **{key.rpartition(".")[2]: None for key in secrets})


def _manner(program: str | None) -> dict[str, str]:
    """How a program conducts a run, in texts of fields."""
    if program in _SERVERS:
        return {NO_CLIENTS: "0", RECORDED: "false"}
    return {RECORDED: "false"} if program in _UNRECORDED else {}


def _program(words: Sequence[str]) -> str | None:
    """Which of our commands it is, where it says so."""
    bare = map(_bare, words[:2])
    return next((word for word in bare if word in _PROGRAMS | _MEASURING), None)


def _bare(word: str) -> str:
    return word.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class _Flag:
    name: str
    values: tuple[str, ...]


def _split(words: Sequence[str]) -> tuple[list[str], list[_Flag]]:
    """The positional names, without the program's own, and the flags with their values."""
    uids = set(POLICIES.uids())
    program = _program(words)
    if program in _MEASURING:
        what = "measures a checkpoint, which is no training"
        raise CommandError(f"{shlex.join(words[:2])} {what}; it is typed by hand")
    begin = next((i for i, w in enumerate(words) if w in uids or w.startswith("-")), None)
    if program:
        # A policy that no plug-in has registered yet is a name all the same.
        begin = next(i for i, w in enumerate(words) if _bare(w) == program) + 1
    if begin is None or not words[begin:]:
        raise CommandError(f"expected flags, such as --seed 3, got {shlex.join(words)!r:.60}")
    words = words[begin:]
    start = next((i for i, word in enumerate(words) if word in uids), len(words))
    start = 0 if program and not words[0].startswith("-") else start
    end = start
    while end < min(len(words), start + NUM_NAMES) and not words[end].startswith("-"):
        end += 1
    flags: list[_Flag] = []
    for word in (*words[:start], *words[end:]):
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            flags.append(_Flag(name.replace("_", "-"), (value,) if equals else ()))
        elif flags:
            flags[-1] = _Flag(flags[-1].name, (*flags[-1].values, word))
        else:
            raise CommandError(f"expected a flag, got {word!r}")
    return list(words[start:end]), flags


def _values_of(flags: Sequence[_Flag], name: str) -> list[str]:
    return [flag.values[0] for flag in flags if flag.name == name and flag.values]


def _texts(flags: Sequence[_Flag], draft: Draft) -> Mapping[str, str]:
    known = _known_flags(draft)
    texts: dict[str, str] = {}
    for flag in flags:
        if flag.name in _NOT_KEPT:
            continue
        key, fixed = known.get(flag.name, (None, None))
        if key is None:
            raise CommandError(_unknown(flag.name, known, draft))
        texts[key] = fixed if fixed is not None else _text(flag, draft.specs[key])
    return texts


def _known_flags(draft: Draft) -> dict[str, tuple[str, str | None]]:
    """From a flag to its field, and to the text that it stands for where it has no value."""
    known: dict[str, tuple[str, str | None]] = {}
    for group in draft.groups:
        for key, spec in group.specs.items():
            if spec.kind is Kind.BOOL:
                known[f"{group.prefix}{spec.flag}"] = (key, spec.show(value=True))
                known[f"{group.prefix}no-{spec.flag}"] = (key, spec.show(value=False))
            else:
                known[f"{group.prefix}{spec.flag}"] = (key, None)
    if _STEP_LIMIT in draft.specs:
        known["max-episode-steps"] = (_STEP_LIMIT, None)
    return known


def _text(flag: _Flag, spec: FieldSpec) -> str:
    if not flag.values and spec.kind is not Kind.NUMBERS:
        raise CommandError(f"expected a value ({spec.type_words}), got none, at --{flag.name}")
    return " ".join(flag.values)


def _unknown(name: str, known: Mapping[str, object], draft: Draft) -> str:
    if name.startswith("env.") and draft.names.env is None:
        return f"expected --env NAME beside --{name}; known: {', '.join(ENVS.uids())}"
    nearest = nearest_flag(name, known)
    return f"unknown flag --{name}" + (f", did you mean --{nearest}?" if nearest else "")
