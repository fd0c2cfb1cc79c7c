"""LAUNCH's table in rows: names to choose, groups that open and close, fields with their texts."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from plugrl.errors import UnknownNameError
from plugrl.registry import ALGORITHMS, POLICIES, Registry
from plugrl_tui.core import combinations
from plugrl_tui.core.draft import ENV_KEY, IMPORTS_KEY, NAMES_KEY, SECRETS, Draft
from plugrl_tui.core.fields import FieldSpec, Kind

NO_ENV = "none"
"""How it is written that the clients decide on the env."""
HEADINGS: Mapping[str, str] = {
    "names": "what to train",
    "run": "run",
    "clients": "local env clients",
    "algo": "algorithm",
    "policy": "policy",
    "env": "env",
    "flow": "flow",
    "restarts": "restarts",
    "track": "tracking",
    "server": "server",
}
CLOSED = frozenset({"policy", "env", "flow", "restarts", "track", "server"})
"""Groups that few people change."""
_BULLETS = "\N{BULLET}" * 8
_WORDS_OF_NAMES: Mapping[str, str] = {
    "algorithm": "The algorithm that learns.",
    "algorithm_variant": "A set of values for the algorithm's fields.",
    "policy": "The policy; those that the algorithm can train in the env.",
    "policy_variant": "A set of values for the policy's fields.",
    "env": "NAME or NAME:VARIANT, any Gymnasium id, module:EnvClass; none: the clients decide.",
}
_WORDS_OF_IMPORTS = "Modules that register names of your own, as --import takes them."
_MODULE = re.compile(r"\w+(\.\w+)*")


@dataclass(frozen=True, kw_only=True, slots=True)
class FormRow:
    """One line of the table."""

    key: str
    """Of a field, such as ``algo.gamma``; ``names.policy``; or a group's name."""
    is_group: bool = False
    label: str
    text: str = ""
    default: str = ""
    """The text to go back to."""
    changed: bool = False
    error: str | None = None
    help: str = ""
    type_words: str = ""
    choices: tuple[str, ...] = ()
    """Where there are few texts to choose from, all of them."""
    suggestions: tuple[str, ...] = ()
    """Where other texts do too."""
    is_path: bool = False
    closed: bool = False

    @property
    def shown(self) -> str:
        """The text, without secrets."""
        return _BULLETS if self.key in SECRETS and self.text != NO_ENV else self.text


@dataclass(frozen=True, kw_only=True)
class View:
    """What of the table is to be seen."""

    closed: frozenset[str] = CLOSED
    only_changed: bool = False
    find: str = ""
    notes: Mapping[str, str] = field(default_factory=dict)
    """Errors that only the machine knows of, such as a port that is taken."""
    hints: Mapping[str, str] = field(default_factory=dict)
    """What is said beside fields that are as usual."""

    def toggled(self, group: str) -> "View":
        """With a group opened or closed."""
        return replace(self, closed=self.closed ^ {group})


def rows(draft: Draft, view: View) -> list[FormRow]:
    """The rows to be seen."""
    seen: list[FormRow] = []
    for name, found in _groups(draft, view):
        inside = [row for row in found if _wanted(row, view)]
        filtered = view.only_changed or bool(view.find)
        if filtered and not inside:
            continue
        closed = name in view.closed and not filtered
        heading = HEADINGS[name]
        seen.append(
            FormRow(
                key=name,
                is_group=True,
                label=heading,
                text=f"{len(found)}" if closed else "",
                closed=closed,
                changed=any(row.changed for row in found),
                error=next((row.error for row in found if row.error), None) if closed else None,
            )
        )
        if not closed:
            seen += inside
    return seen


def with_value(draft: Draft, key: str, text: str) -> Draft:
    """The draft with another text in a row."""
    group, _, name = key.partition(".")
    if group != NAMES_KEY:
        return draft.with_text(key, text)
    if key == IMPORTS_KEY:
        return replace(draft, imports=modules_in(text))
    value = None if name == "env" and text in {NO_ENV, ""} else text
    names = replace(draft.names, **{name: value})  # type: ignore[arg-type]
    if name in {"policy", "algorithm"}:
        names = replace(names, **{f"{name}_variant": "default"})
    return draft.with_names(names)


def modules_in(text: str) -> tuple[str, ...]:
    """The modules that a person names, with spaces or commas between them.

    Raises:
        ValueError: one can't be the name of a module.
    """
    names = [] if text.strip() == NO_ENV else text.replace(",", " ").split()
    for name in names:
        if not _MODULE.fullmatch(name):
            raise ValueError(f"expected modules such as my_package.plugin, got {name!r:.60}")
    return tuple(dict.fromkeys(names))


def without_value(draft: Draft, key: str) -> Draft:
    """The draft with a row's default."""
    if key == IMPORTS_KEY:
        return replace(draft, imports=())
    if key.startswith(f"{NAMES_KEY}."):
        return draft
    return draft.without_text(key)


def next_choice(row: FormRow, by: int) -> str | None:
    """The choice after the row's text, or before it; None where there are none."""
    if not row.choices:
        return None
    place = row.choices.index(row.text) if row.text in row.choices else -1
    return row.choices[(place + by) % len(row.choices)]


def _wanted(row: FormRow, view: View) -> bool:
    if view.find:
        words = f"{row.key} {row.label} {row.help}".lower()
        return all(word in words for word in view.find.lower().split())
    return not view.only_changed or row.changed or row.error is not None


def _groups(draft: Draft, view: View) -> Iterator[tuple[str, list[FormRow]]]:
    errors = {**view.notes, **draft.verdict.errors}
    names = _names(draft, errors.get(NAMES_KEY), errors.get(ENV_KEY))
    yield NAMES_KEY, [*names, _imports_row(draft, errors.get(IMPORTS_KEY))]
    changed = frozenset(draft.changed)
    for group in draft.groups:
        yield (
            group.name,
            [
                _field_row(draft, key, spec, changed=key in changed, error=errors.get(key))
                for key, spec in group.specs.items()
            ],
        )


def _field_row(
    draft: Draft, key: str, spec: FieldSpec, *, changed: bool, error: str | None
) -> FormRow:
    choices = spec.choices
    if spec.kind is Kind.BOOL:
        choices = (spec.show(value=True), spec.show(value=False))
    elif spec.kind is Kind.CHOICE and spec.optional:
        choices = (*choices, spec.show(None))
    return FormRow(
        key=key,
        label=spec.name,
        text=draft.text(key),
        default=spec.show(spec.default),
        changed=changed,
        error=error,
        help=spec.help,
        type_words=spec.type_words,
        choices=choices,
        is_path=spec.kind is Kind.PATH,
    )


def _names(draft: Draft, error: str | None, env_error: str | None) -> Iterator[FormRow]:
    names = draft.names
    choices: dict[str, tuple[str, ...]] = {
        "algorithm": tuple(ALGORITHMS.uids()),
        "algorithm_variant": _variants(ALGORITHMS, names.algorithm),
        "policy": _fitting_policies(draft),
        "policy_variant": _variants(POLICIES, names.policy),
    }
    texts = {name: getattr(names, name) or NO_ENV for name in _WORDS_OF_NAMES}
    for name, words in _WORDS_OF_NAMES.items():
        blamed = name == ("env" if error is not None and "unknown env" in error else "policy")
        yield FormRow(
            key=f"{NAMES_KEY}.{name}",
            label=name.replace("_", " "),
            text=texts[name],
            error=error if blamed else env_error if name == "env" else None,
            help=words,
            type_words="name",
            choices=choices.get(name, ()),
            suggestions=(*combinations.env_names(), NO_ENV) if name == "env" else (),
        )


def _imports_row(draft: Draft, error: str | None) -> FormRow:
    return FormRow(
        key=IMPORTS_KEY,
        label="plug-ins",
        text=" ".join(draft.imports) or NO_ENV,
        default=NO_ENV,
        changed=bool(draft.imports),
        error=error,
        help=_WORDS_OF_IMPORTS,
        type_words="names of modules",
    )


def _variants(registry: Registry, uid: str) -> tuple[str, ...]:
    try:
        return tuple(registry.variants(uid))
    except UnknownNameError:
        return ()


def _fitting_policies(draft: Draft) -> tuple[str, ...]:
    try:
        return tuple(combinations.policies_for(draft.names))
    except UnknownNameError:
        return tuple(POLICIES.uids())
