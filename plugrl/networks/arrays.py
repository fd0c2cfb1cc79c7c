"""A module's tensors as NumPy arrays, and back."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from plugrl.errors import CheckpointMismatchError


def to_arrays(state_dict: Mapping[str, torch.Tensor]) -> dict[str, NDArray[Any]]:
    """Copies of tensors as arrays, by name."""
    return {name: t.detach().cpu().numpy().copy() for name, t in state_dict.items()}


def load_arrays(
    module: nn.Module, arrays: Mapping[str, NDArray[Any]], *, without: str | None = None
) -> None:
    """Copy ``arrays`` into ``module``, whose names and shapes must be the same.

    Args:
        module: what to change; all of it, or on an error nothing.
        arrays: as ``state_dict`` names them.
        without: prefix of the names to leave as they are.

    Raises:
        CheckpointMismatchError: they are not; says which.
    """
    own = module.state_dict()
    wanted = {n for n in own if without is None or not n.startswith(without)}
    given = {n for n in arrays if without is None or not n.startswith(without)}
    if wanted != given:
        raise CheckpointMismatchError(
            f"expected weights {sorted(wanted - given)} and no {sorted(given - wanted)}, at model"
        )
    for name in sorted(wanted):
        if tuple(own[name].shape) != arrays[name].shape:
            raise CheckpointMismatchError(
                f"expected shape {tuple(own[name].shape)}, got {arrays[name].shape}, "
                f"at model.{name}"
            )
    with torch.no_grad():
        for name in wanted:
            own[name].copy_(torch.from_numpy(np.array(arrays[name])))


def generator_state(generator: torch.Generator) -> NDArray[np.uint8]:
    """A copy of a generator's state: (n,) uint8."""
    state: NDArray[np.uint8] = generator.get_state().numpy().copy()
    return state


def load_generator_state(generator: torch.Generator, state: NDArray[np.uint8]) -> None:
    """Have ``generator`` go on from ``state``."""
    generator.set_state(torch.from_numpy(np.array(state)))
