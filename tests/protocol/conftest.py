"""Messages and frames that the tests of the wire share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from plugrl.protocol.messages import Feedback, Infer, Observation

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture
def golden() -> Callable[[str], bytes]:
    """The bytes of a golden file, whose lines are hex with a comment."""

    def read(name: str) -> bytes:
        lines = (GOLDEN / f"{name}.hex").read_text().splitlines()
        return bytes.fromhex(" ".join(line.partition("#")[0] for line in lines))

    return read


@pytest.fixture
def make_obs() -> Callable[..., Observation]:
    """An observation whose row i holds ``values[i]``."""

    def make(*values: float, images: tuple[str, ...] = ()) -> Observation:
        column = np.array(values, dtype=np.float64).reshape(-1, 1)
        return Observation(
            images={
                name: column.astype(np.uint8).repeat(3).reshape(-1, 1, 1, 3) for name in images
            },
            states={"s": column},
            text=np.array([f"row {value}" for value in values], dtype=np.str_),
        )

    return make


@pytest.fixture
def make_infer(make_obs: Callable[..., Observation]) -> Callable[..., Infer]:
    """An infer for some envs; ``values`` are its observation rows."""

    def make(envs: list[int], values: list[float], reuse: list[bool] | None = None) -> Infer:
        return Infer(
            obs=make_obs(*values),
            env_indices=np.array(envs, dtype=np.int64),
            step_ids=np.zeros(len(envs), dtype=np.int64),
            reuse=None if reuse is None else np.array(reuse),
        )

    return make


@pytest.fixture
def make_feedback(make_obs: Callable[..., Observation]) -> Callable[..., Feedback]:
    """A feedback for some envs; ``values`` are its observation rows."""

    def make(
        envs: list[int], values: list[float], done: tuple[int, ...] = (), **changes: Any
    ) -> Feedback:
        m = len(envs)
        fields: dict[str, Any] = {
            "env_indices": np.array(envs, dtype=np.int64),
            "step_ids": np.zeros(m, dtype=np.int64),
            "obs": make_obs(*values),
            "rewards": np.ones(m, dtype=np.float32),
            "terminated": np.isin(envs, done),
            "truncated": np.zeros(m, dtype=np.bool_),
            "info": {},
        }
        return Feedback(**(fields | changes))

    return make
