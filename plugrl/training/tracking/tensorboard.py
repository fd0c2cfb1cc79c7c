"""TensorBoard event files in ``tensorboard/`` of the run's folder."""

from collections.abc import Mapping

from plugrl.training.tracking.sink import TrackedRun


class TensorBoardSink:
    """Writes scalars; after a resume, points above the restored step are purged by TensorBoard."""

    def __init__(self, run: TrackedRun) -> None:
        """Open a new event file beside those of earlier processes."""
        from torch.utils.tensorboard import SummaryWriter

        self._writer = SummaryWriter(
            log_dir=str(run.run_dir / "tensorboard"),
            purge_step=run.start_step + 1 if run.resumed else None,
        )

    def write(self, step: int, metrics: Mapping[str, float]) -> None:
        """Write one point a metric."""
        for name, value in metrics.items():
            self._writer.add_scalar(name, value, step)
        self._writer.flush()

    def close(self) -> None:
        """Close the event file."""
        self._writer.close()
