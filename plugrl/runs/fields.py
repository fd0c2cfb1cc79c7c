"""From a JSON object to a dataclass, with every field's type held against its annotation."""

import types
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from plugrl.errors import RunRecordError

T = TypeVar("T")


def from_fields(cls: type[T], data: Mapping[str, Any], where: Path) -> T:
    """Make a ``cls`` of ``data``; fields that a later version added are left out.

    Args:
        cls: a dataclass with a ``version`` whose default is the one read here.
        data: what the file holds.
        where: the file, for complaints.

    Raises:
        RunRecordError: a field is missing or of another type, or the version is another.
    """
    version = next(f.default for f in fields(cls) if f.name == "version")  # type: ignore[arg-type]
    if data.get("version") != version:
        got = data.get("version")
        raise RunRecordError(f"expected version {version}, got {got!r:.40}, at {where}")
    return _build(cls, data, str(where))


def _build(cls: type[T], data: Mapping[str, Any], where: str) -> T:
    hints = get_type_hints(cls)
    values: dict[str, Any] = {}
    for field in fields(cls):  # type: ignore[arg-type]
        if field.name in data:
            values[field.name] = _cast(
                data[field.name], hints[field.name], f"{where}: {field.name}"
            )
        elif field.default is MISSING and field.default_factory is MISSING:
            raise RunRecordError(f"expected the field {field.name!r}, got none, at {where}")
    return cls(**values)


def _cast(value: Any, kind: Any, where: str) -> Any:
    """``value`` as ``kind``, of those that the records use."""
    if kind is Any:
        return value
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        if value is None:
            return None
        return _cast(value, next(k for k in get_args(kind) if k is not type(None)), where)
    if origin is tuple and isinstance(value, list):
        return tuple(_cast(item, get_args(kind)[0], where) for item in value)
    if origin is Mapping and isinstance(value, dict):
        return {name: _cast(item, get_args(kind)[1], where) for name, item in value.items()}
    if isinstance(kind, type):
        return _simple(value, kind, where)
    raise _refused(value, kind, where)


def _simple(value: Any, kind: type, where: str) -> Any:
    if kind is float and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if kind in (int, str) and type(value) is kind:
        return value
    if issubclass(kind, StrEnum) and value in list(kind):
        return kind(value)
    if is_dataclass(kind) and isinstance(value, dict):
        return _build(kind, value, where)
    raise _refused(value, kind, where)


def _refused(value: Any, kind: Any, where: str) -> RunRecordError:
    name = getattr(kind, "__name__", str(kind))
    return RunRecordError(f"expected {name}, got {value!r:.60}, at {where}")
