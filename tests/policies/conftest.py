from collections.abc import Callable

import numpy as np
import pytest

from plugrl.protocol.messages import Observation

MakeObs = Callable[..., Observation]


@pytest.fixture
def make_obs() -> MakeObs:
    """n random observations of one state vector."""

    def make(n: int, width: int, seed: int = 0) -> Observation:
        states = np.random.default_rng(seed).normal(size=(n, width))
        return Observation({}, {"x": states}, np.full(n, ""))

    return make
