from collections.abc import Callable
from typing import Any

import pytest

from plugrl.training.tracking.sink import TrackedRun


@pytest.fixture
def tracked(tmp_path) -> Callable[..., TrackedRun]:
    def make(**fields: Any) -> TrackedRun:
        return TrackedRun(
            **{"project": "tests", "exp_name": "exp", "run_dir": tmp_path, "mode": "offline"}
            | fields
        )

    return make
