"""A run that is being made up: names, the texts typed for fields, and whether they can run."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

from plugrl.cli.restarts import RestartConfig
from plugrl.config.client import ClientConfig, LocalClients
from plugrl.config.server import RunConfig, ServerConfig, TrackConfig
from plugrl.errors import ConfigError, UnknownNameError
from plugrl_tui.core import combinations, plugins
from plugrl_tui.core.combinations import Names
from plugrl_tui.core.fields import FieldSpec, replaced, specs

VERSION = 1
NAMES_KEY = "names"
"""Where an error stands that concerns no field."""
ENV_KEY = "names.env"
SECRETS = frozenset({"server.api_key"})
"""Never written, never shown, never in a command: they reach the run by its environment."""
USUAL = {"clients.num_procs": "2", "clients.num_envs": "4"}
"""What a new run changes of the defaults."""
NO_CLIENTS = "clients.num_procs"
"""0 in this field: a person starts the env clients."""
RECORDED = "flow.prefect"
IMPORTS_KEY = "names.imports"


@dataclass(frozen=True, kw_only=True)
class FlowChoices:
    """How the run is conducted."""

    prefect: bool = True
    """Record the run in Prefect; without, nothing but its history is lost."""


@dataclass(frozen=True, kw_only=True)
class Group:
    """The fields of one config, under a heading."""

    name: str
    prefix: str
    """What its flags start with."""
    config: Any
    """The variant chosen, with its values."""

    @cached_property
    def specs(self) -> Mapping[str, FieldSpec]:
        """By key, such as ``algo.gamma``."""
        return {f"{self.name}.{spec.name}": spec for spec in specs(self.config)}


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """What is to be said of a draft."""

    configs: Mapping[str, Any]
    """The configs that are right, by group."""
    errors: Mapping[str, str]
    """What is wrong, by field, or under ``NAMES_KEY``."""


@dataclass(frozen=True, kw_only=True)
class Draft:
    """What a person has chosen so far; every change makes another draft."""

    names: Names = field(default_factory=Names)
    texts: Mapping[str, str] = field(default_factory=lambda: dict(USUAL))
    """By key, as typed; those of fields that the names don't have wait for other names."""
    imports: tuple[str, ...] = ()
    """Modules that register more names; ``plugrl_tui.core.plugins`` reads them."""

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The groups of these names, in the order of interest; an unknown name has none."""
        found = [
            Group(name="run", prefix="", config=RunConfig()),
            Group(name="clients", prefix="", config=LocalClients()),
            *self._named_groups(),
            Group(name="flow", prefix="", config=FlowChoices()),
            Group(name="restarts", prefix="", config=RestartConfig()),
            Group(name="track", prefix="track.", config=TrackConfig()),
            Group(name="server", prefix="", config=ServerConfig()),
        ]
        return tuple(found)

    @cached_property
    def specs(self) -> Mapping[str, FieldSpec]:
        """Every field by its key."""
        return {key: spec for group in self.groups for key, spec in group.specs.items()}

    @cached_property
    def verdict(self) -> Verdict:
        """The configs, and what is wrong."""
        return _judge(self)

    @cached_property
    def changed(self) -> tuple[str, ...]:
        """The fields that differ from their defaults, in the table's order."""
        return tuple(key for key, spec in self.specs.items() if self._differs(key, spec))

    def text(self, key: str) -> str:
        """What stands in a field."""
        spec = self.specs[key]
        return self.texts.get(key, spec.show(spec.default))

    def value(self, key: str) -> Any:
        """What a field means; its default where its text means nothing."""
        spec = self.specs[key]
        try:
            return spec.parse(self.text(key))
        except ValueError:
            return spec.default

    def with_text(self, key: str, text: str) -> "Draft":
        """Another text for a field."""
        return replace(self, texts={**self.texts, key: text})

    def with_texts(self, texts: Mapping[str, str]) -> "Draft":
        """Other texts for several fields."""
        return replace(self, texts={**self.texts, **texts})

    def without_text(self, key: str) -> "Draft":
        """The field's default again."""
        return replace(self, texts={k: t for k, t in self.texts.items() if k != key})

    def with_names(self, names: Names) -> "Draft":
        """Other names, with the first policy that fits where the chosen one does not."""
        try:
            if combinations.why_unfit(names) is not None and (
                fitting := combinations.policies_for(names)
            ):
                names = replace(names, policy=fitting[0], policy_variant="default")
        except UnknownNameError:
            pass
        return replace(self, names=names)

    def plain(self) -> dict[str, Any]:
        """As it is kept between two starts of the app; without secrets."""
        return {
            "version": VERSION,
            "names": asdict(self.names),
            "texts": {key: text for key, text in self.texts.items() if key not in SECRETS},
            "imports": list(self.imports),
        }

    @classmethod
    def of_plain(cls, body: Mapping[str, Any]) -> "Draft":
        """The draft that ``plain`` told of.

        Raises:
            ValueError: it told of none.
        """
        try:
            if body["version"] != VERSION:
                raise ValueError(f"version {body['version']!r:.20}")
            return cls(
                names=Names(**body["names"]),
                texts={str(key): str(value) for key, value in body["texts"].items()},
                imports=tuple(map(str, body["imports"])),
            )
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ValueError(f"expected a draft of version {VERSION}, got {error}") from error

    def _named_groups(self) -> Iterator[Group]:
        makers: dict[str, Callable[[], Any]] = {
            "algo": lambda: combinations.algorithm_config(self.names),
            "policy": lambda: combinations.policy_config(self.names),
            "env": lambda: combinations.env_config(self.names.env) if self.names.env else None,
        }
        for name, make in makers.items():
            try:
                config = make()
            except UnknownNameError:
                continue
            if config is not None:
                yield Group(name=name, prefix=f"{name}.", config=config)

    def _differs(self, key: str, spec: FieldSpec) -> bool:
        if key not in self.texts:
            return False
        try:
            return bool(spec.parse(self.texts[key]) != spec.default)
        except ValueError:
            return True


def _judge(draft: Draft) -> Verdict:
    configs: dict[str, Any] = {}
    errors: dict[str, str] = {}
    for group in draft.groups:
        values: dict[tuple[str, ...], Any] = {}
        for key, spec in group.specs.items():
            try:
                values[spec.path] = spec.parse(draft.text(key))
            except ValueError as error:
                errors[key] = str(error)
        try:
            configs[group.name] = replaced(group.config, values)
        except ConfigError as error:
            errors.setdefault(_key_of(group, error), error.reason)
    try:
        reason = combinations.why_unfit(draft.names)
    except UnknownNameError as error:
        reason = str(error)
    if reason is not None:
        errors[NAMES_KEY] = reason
    if (reason := plugins.refusal(draft.imports)) is not None:
        errors[IMPORTS_KEY] = reason
    if draft.names.env is None and draft.value(NO_CLIENTS) != 0:
        errors[ENV_KEY] = "expected an env for the local env clients; or set their num_procs to 0"
    if "clients" in configs and "run" in configs:
        errors.update(_complaint_of_clients(configs["clients"]))
    return Verdict(configs=configs, errors=errors)


def _key_of(group: Group, error: ConfigError) -> str:
    """The field that a complaint is about, which may be of a config within the group's."""
    return next(
        (key for key, spec in group.specs.items() if spec.path[-1] == error.field), NAMES_KEY
    )


def _complaint_of_clients(clients: LocalClients) -> dict[str, str]:
    values = asdict(clients)
    if clients.num_procs == 0:
        values["num_procs"] = 1
    try:
        ClientConfig(**values)
    except ConfigError as error:
        return {f"clients.{error.field}": error.reason}
    return {}
