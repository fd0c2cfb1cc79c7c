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


NEEDED = {
    "swanlab": {"swanlab": "track"},
    "tensorboard": {"tensorboard": "server", "torch": "server"},
    "wandb": {"wandb": "track"},
}
"""The packages each tracker needs, and the extra of our distribution that brings each."""


def require_tracker(config: TrackConfig) -> None:
    """Refuse a tracker that is not installed.

    Raises:
        UsageError: names what to install.
    """
    if not config.enabled:
        return
    for package, extra in NEEDED[config.tracker].items():
        if importlib.util.find_spec(package) is None:
            raise UsageError(
                f"--track.tracker {config.tracker} needs the package {package}, which is not "
                f"installed: pip install 'plugrl[{extra}]'"
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
