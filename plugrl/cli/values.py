"""How values are written on a command line, and what tyro makes of a config."""

import json
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any, get_args, get_origin, get_type_hints

from tyro.constructors import (
    ConstructorRegistry,
    PrimitiveConstructorSpec,
    PrimitiveTypeInfo,
    StructConstructorSpec,
    StructFieldSpec,
    StructTypeInfo,
)

from plugrl.cli.help_text import field_help
from plugrl.errors import ConfigError

REGISTRY = ConstructorRegistry()
"""The rules below."""


@REGISTRY.struct_rule
def _configs(info: StructTypeInfo) -> StructConstructorSpec | None:
    """Configs with their help texts in one flow: tyro would keep the docstrings' line breaks."""
    if not is_dataclass(info.default) or isinstance(info.default, type):
        return None
    hints = get_type_hints(info.type, include_extras=True)
    return StructConstructorSpec(
        instantiate=partial(_create, info.type),
        fields=tuple(
            StructFieldSpec(
                name=item.name,
                type=hints[item.name],
                default=getattr(info.default, item.name),
                # Looked up only where a help text is printed, but for configs within configs.
                helptext=partial(_help, info.type, item.name),
            )
            for item in fields(info.default)
        ),
    )


def _help(cls: type, name: str) -> str | None:
    return field_help(cls).get(name)


@REGISTRY.primitive_rule
def _whole_numbers(info: PrimitiveTypeInfo) -> PrimitiveConstructorSpec[int] | None:
    """Whole numbers may be written 1e6 and 8_192."""
    if info.type is not int:
        return None
    return PrimitiveConstructorSpec(
        nargs=1,
        metavar="INT",
        instance_from_str=lambda arguments: _whole_number(arguments[0]),
        is_instance=lambda value: isinstance(value, int) and not isinstance(value, bool),
        str_from_instance=lambda value: [str(value)],
    )


@REGISTRY.primitive_rule
def _nothing(info: PrimitiveTypeInfo) -> PrimitiveConstructorSpec[None] | None:
    """Nothing is written none, as the help texts say, or None."""
    if info.type is not type(None):
        return None
    return PrimitiveConstructorSpec(
        nargs=1,
        metavar="none",
        choices=("none", "None"),
        instance_from_str=lambda arguments: None,
        is_instance=lambda value: value is None,
        str_from_instance=lambda value: ["none"],
    )


@REGISTRY.primitive_rule
def _json_objects(info: PrimitiveTypeInfo) -> PrimitiveConstructorSpec[dict[str, Any]] | None:
    """Open dictionaries are written as one JSON object."""
    if get_origin(info.type) is not dict or get_args(info.type) != (str, Any):
        return None
    return PrimitiveConstructorSpec(
        nargs=1,
        metavar="JSON",
        instance_from_str=lambda arguments: _json_object(arguments[0]),
        is_instance=lambda value: isinstance(value, dict),
        str_from_instance=lambda value: [json.dumps(value)],
    )


class RefusedValueError(Exception):
    """Carries a config's complaint past tyro, which has words of its own for a ValueError."""

    def __init__(self, complaint: ConfigError) -> None:
        """Carry ``complaint``."""
        super().__init__(complaint)
        self.complaint = complaint


def _create(cls: Callable[..., Any], **values: Any) -> Any:
    try:
        return cls(**values)
    except ConfigError as complaint:
        raise RefusedValueError(complaint) from complaint


def _whole_number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        number = float(text)
    if not number.is_integer():
        raise ValueError(f"expected a whole number, got {text!r}")
    return int(number)


def _json_object(text: str) -> dict[str, Any]:
    value = json.loads(text)
    if not isinstance(value, dict):
        raise ValueError(f"expected a JSON object, got {text!r}")
    return value
