"""Weights & Biases, online or into ``wandb/`` of the run's folder."""

from collections.abc import Mapping

from plugrl.training.tracking.run_id import tracker_run_id
from plugrl.training.tracking.sink import TrackedRun

STEP_METRIC = "global_step"
"""The x axis. W&B's own step can't go back, which a resume from an older checkpoint needs."""


class WandbSink:
    """One W&B run, which a resumed run goes on with."""

    def __init__(self, run: TrackedRun) -> None:
        """Start or go on with the run."""
        import wandb

        online = run.mode == "online"
        self._run = wandb.init(
            project=run.project,
            name=run.exp_name,
            id=tracker_run_id(run.run_dir),
            dir=str(run.run_dir),
            mode=run.mode,
            config=dict(run.config),
            # W&B resumes online only, and warns of it otherwise.
            resume="allow" if online else None,
            settings=wandb.Settings(console="off", silent=not online),
        )
        self._run.define_metric("*", step_metric=STEP_METRIC)

    def write(self, step: int, metrics: Mapping[str, float]) -> None:
        """Log one learn."""
        self._run.log({**metrics, STEP_METRIC: step})

    def close(self) -> None:
        """Finish the run."""
        self._run.finish()
