"""Bundles of data that are made several times a message."""

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def bundle(cls: type[T]) -> type[T]:
    """A dataclass with slots that type checkers hold to be frozen.

    It isn't at run time: a frozen dataclass makes a call for each of its fields to set it, which
    is most of what it takes to make one.
    """
    return dataclass(slots=True)(cls)
