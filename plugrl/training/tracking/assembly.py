"""Which sinks a run has."""

import importlib.util
import logging

from plugrl.config.server import TrackConfig
from plugrl.errors import UsageError
from plugrl.training.tracking.console import ConsoleSink
from plugrl.training.tracking.jsonl import JsonlSink
from plugrl.training.tracking.sink import Sink, TrackedRun
from plugrl.training.tracking.swanlab import SwanLabSink
from plugrl.training.tracking.tensorboard import TensorBoardSink
from plugrl.training.tracking.tracker import OpenSink, Tracker
from plugrl.training.tracking.wandb import WandbSink

logger = logging.getLogger(__name__)

TRACKERS: dict[str, type[SwanLabSink | TensorBoardSink | WandbSink]] = {
    "swanlab": SwanLabSink,
    "tensorboard": TensorBoardSink,
    "wandb": WandbSink,
}


EXTRAS = {"swanlab": "track", "tensorboard": "server", "wandb": "track"}
"""The extra of our distribution that brings each tracker's package, which has the same name."""


def require_tracker(config: TrackConfig) -> None:
    """Refuse a tracker that is not installed.

    Raises:
        UsageError: names what to install.
    """
    if config.enabled and importlib.util.find_spec(config.tracker) is None:
        raise UsageError(
            f"--track.tracker {config.tracker} needs the package {config.tracker}, which is not "
            f"installed: pip install 'plugrl[{EXTRAS[config.tracker]}]'"
        )


def start_tracking(config: TrackConfig, run: TrackedRun) -> Tracker:
    """The console, ``metrics.jsonl`` and, where it is enabled, the tracker; all opened aside."""
    sinks: dict[str, OpenSink] = {
        "console": lambda: ConsoleSink(run),
        "metrics.jsonl": lambda: JsonlSink(run),
    }
    if config.enabled:

        def open_tracker() -> Sink:
            return TRACKERS[config.tracker](run)

        sinks[config.tracker] = open_tracker
    elif config != TrackConfig():
        logger.warning("ignored the other --track options: they want --track.enabled too")
    return Tracker(sinks)
