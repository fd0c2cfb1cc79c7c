"""SwanLab, online or into ``swanlog/`` of the run's folder."""

import math
from collections.abc import Mapping

from plugrl.training.tracking.run_id import tracker_run_id
from plugrl.training.tracking.sink import TrackedRun


class SwanLabSink:
    """One SwanLab run; a resumed run goes on in it when online."""

    def __init__(self, run: TrackedRun) -> None:
        """Start or go on with the run."""
        import swanlab

        online = run.mode == "online"
        self._run = swanlab.init(
            project=run.project,
            name=run.exp_name,
            log_dir=str(run.run_dir / "swanlog"),
            mode=run.mode,
            config=dict(run.config),
            # SwanLab knows ids online only.
            id=tracker_run_id(run.run_dir) if online else None,
            resume="allow" if online else None,
        )

    def write(self, step: int, metrics: Mapping[str, float]) -> None:
        """Log one learn; numbers that are not finite are left out, as SwanLab refuses them."""
        self._run.log({n: v for n, v in metrics.items() if math.isfinite(v)}, step=step)

    def close(self) -> None:
        """Finish the run."""
        self._run.finish()
