from collections.abc import Callable

import numpy as np
import pytest

from plugrl.data.frames import Frames
from plugrl.protocol.messages import Info, Observation

MakeFrames = Callable[..., Frames]


@pytest.fixture
def make_frames() -> MakeFrames:
    """Frames of the named streams, each with a reward and perhaps the end of its episode."""

    def make(
        streams: list[int],
        rewards: list[float],
        done: list[int] | None = None,
        info: Info | None = None,
    ) -> Frames:
        m = len(streams)
        obs = Observation({}, {"x": np.arange(m, dtype=np.float64)[:, None]}, np.full(m, ""))
        return Frames(
            streams=np.array(streams),
            sequence=np.zeros(m, np.int64),
            obs=obs,
            actions=np.zeros((m, 1, 1)),
            step_state={"tag": np.arange(m)},
            rewards=np.array(rewards, dtype=np.float64),
            next_terminated=np.array(done or [0] * m, dtype=bool),
            next_truncated=np.zeros(m, bool),
            next_obs=obs,
            info=info or {},
        )

    return make
