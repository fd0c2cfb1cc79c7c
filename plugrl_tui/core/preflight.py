"""What can be known before a run is started: each check is a sentence, and says a way on."""

import contextlib
import importlib.util
import re
import shutil
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from plugrl.config.server import ServerConfig
from plugrl.runs.home import home
from plugrl_tui.core import checkpoints, launcher
from plugrl_tui.core.draft import NAMES_KEY, NO_CLIENTS, Draft
from plugrl_tui.core.format import size

FREE_BYTES_NEEDED = 64 * 2**20
FREE_BYTES_WANTED = 2**30
HOME_BYTES_NEEDED = 2**20
_NVIDIA = Path("/dev/nvidiactl")
_DEVICE = re.compile(r"cpu|mps|cuda(:[0-9]+)?")
_MUJOCO_ENVS = re.compile(
    r"(Ant|HalfCheetah|Hopper|Humanoid|HumanoidStandup|InvertedPendulum|InvertedDoublePendulum|"
    r"Pusher|Reacher|Swimmer|Walker2d)-v[45]"
)
_TRACKERS = {"swanlab": "track", "wandb": "track", "tensorboard": "server"}
"""Which extra brings each tracker."""


class Level(Enum):
    """What a finding means for the start."""

    FINE = "fine"
    NOTE = "note"
    ERROR = "error"


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """The outcome of one check."""

    key: str
    """The field it is about, or ``NAMES_KEY``."""
    level: Level
    sentence: str


def findings(draft: Draft) -> list[Finding]:
    """All checks of a draft without errors; reads disks and probes a port, so call it in a thread.

    What is not to be found out before the start, such as an env that can't be made, the run's own
    start says.
    """
    checks: tuple[Callable[[Draft], Iterator[Finding]], ...] = (
        _packages,
        _device,
        _port,
        _name,
        _checkpoint,
        _disk,
        _home,
    )
    return [finding for check in checks for finding in _findings(check, draft)]


def _findings(check: Callable[[Draft], Iterator[Finding]], draft: Draft) -> list[Finding]:
    try:
        return list(check(draft))
    except OSError as error:
        # A path that is too long, or in a folder that is not ours to look into.
        sentence = f"can't look at the run's folder: {error.strerror}; choose another one"
        return [Finding(key="run.checkpoint_base_dir", level=Level.ERROR, sentence=sentence)]


def free_name(draft: Draft, name: str) -> str:
    """``name``, or the first of ``name-2``, ``name-3``, … that no run of this kind has."""
    number, candidate = 1, name
    # What can't be looked at is a finding, later.
    with contextlib.suppress(OSError):
        while launcher.run_dir(draft.with_text("run.exp_name", candidate)).exists():
            number += 1
            candidate = f"{name}-{number}"
    return candidate


def proposed_name(draft: Draft) -> str:
    """A free name that says what the run is, such as ``hopper-ppo-s0``."""
    env = (draft.names.env or draft.names.policy).replace(":", "-").replace("/", "-")
    seed = draft.value("run.seed")
    name = f"{env.lower()}-{draft.names.algorithm}-s{seed}"
    return free_name(draft, name) if "run" in draft.verdict.configs else name


def _packages(draft: Draft) -> Iterator[Finding]:
    needed = {"torch": "server"}
    env = draft.verdict.configs.get("env")
    local = draft.value(NO_CLIENTS) > 0
    if local and _MUJOCO_ENVS.fullmatch(getattr(env, "id", "") or ""):
        needed["mujoco"] = "mujoco"
    if local and draft.value("flow.prefect"):
        needed["prefect"] = "flows"
    track = draft.verdict.configs["track"]
    if track.enabled:
        needed[track.tracker] = _TRACKERS[track.tracker]
    for package, extra in needed.items():
        if importlib.util.find_spec(package) is None:
            sentence = f"{package} is not installed: pip install 'plugrl[{extra}]'"
            yield Finding(key=NAMES_KEY, level=Level.ERROR, sentence=sentence)


def _device(draft: Draft) -> Iterator[Finding]:
    key = "policy.device"
    if key not in draft.specs:
        return
    device = draft.value(key)
    if not _DEVICE.fullmatch(device):
        sentence = f"expected cpu, mps, cuda or cuda:N, got {device!r}"
        yield Finding(key=key, level=Level.ERROR, sentence=sentence)
    elif device.startswith("cuda") and not _NVIDIA.exists():
        sentence = f"no NVIDIA driver for {device} on this machine; cpu works everywhere"
        yield Finding(key=key, level=Level.ERROR, sentence=sentence)
    else:
        yield Finding(key=key, level=Level.FINE, sentence=f"device {device}")


def _port(draft: Draft) -> Iterator[Finding]:
    server = draft.verdict.configs["server"]
    if server.port == 0:
        yield Finding(key="server.port", level=Level.FINE, sentence="takes a free port")
        return
    reason = _why_not_bound(server)
    if reason is None:
        sentence, level = f"port {server.port} is free", Level.FINE
    elif server.port == ServerConfig().port:
        sentence = f"port {server.port} is taken, the server will take a free one"
        level = Level.NOTE
    else:
        sentence = f"can't listen on {server.host}:{server.port} ({reason}); 0 takes a free port"
        level = Level.ERROR
    yield Finding(key="server.port", level=level, sentence=sentence)


def _why_not_bound(server: ServerConfig) -> str | None:
    try:
        with socket.create_server((server.host, server.port), reuse_port=False):
            return None
    except OSError as error:
        return error.strerror or str(error)


def _name(draft: Draft) -> Iterator[Finding]:
    key = "run.exp_name"
    config = draft.verdict.configs["run"]
    folder = launcher.run_dir(draft)
    there = folder.exists()
    if config.resume:
        step = checkpoints.newest_whole(folder) if there else None
        if step is None:
            sentence = f"no checkpoint to go on from in {folder}; u takes resume back"
            yield Finding(key=key, level=Level.ERROR, sentence=sentence)
        else:
            sentence = f"goes on from step {int(step.name):,}"
            yield Finding(key=key, level=Level.FINE, sentence=sentence)
    elif there and config.overwrite:
        sentence = f"{folder} will be deleted first, with its checkpoints"
        yield Finding(key=key, level=Level.NOTE, sentence=sentence)
    elif there:
        free = free_name(draft, config.exp_name)
        sentence = f"{config.exp_name} is taken; {free} is free"
        yield Finding(key=key, level=Level.ERROR, sentence=sentence)
    else:
        yield Finding(key=key, level=Level.FINE, sentence=f"new folder {folder}")


def _checkpoint(draft: Draft) -> Iterator[Finding]:
    key = checkpoints.WARM_FIELD
    path = draft.value(key) if key in draft.specs else None
    if path is None or draft.verdict.configs["run"].resume:
        return
    refusal = checkpoints.refusal(Path(path), draft)
    level = Level.FINE if refusal is None else Level.ERROR
    yield Finding(key=key, level=level, sentence=refusal or f"starts from {path}")


def _home(draft: Draft) -> Iterator[Finding]:
    del draft
    folder = home()
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    if free < HOME_BYTES_NEEDED:
        sentence = f"only {size(free)} free at {folder}, where the run's log and entry go"
        yield Finding(key=NAMES_KEY, level=Level.ERROR, sentence=sentence)


def _disk(draft: Draft) -> Iterator[Finding]:
    key = "run.checkpoint_base_dir"
    folder = launcher.run_dir(draft)
    while not folder.exists():
        folder = folder.parent
    if not folder.is_dir():
        sentence = f"expected a folder, got the file {folder}"
        yield Finding(key=key, level=Level.ERROR, sentence=sentence)
        return
    free = shutil.disk_usage(folder).free
    if free < FREE_BYTES_NEEDED:
        level, sentence = Level.ERROR, f"only {size(free)} free at {folder}"
    elif free < FREE_BYTES_WANTED:
        level, sentence = Level.NOTE, f"little room: {size(free)} free at {folder}"
    else:
        level, sentence = Level.FINE, f"{size(free)} free"
    yield Finding(key=key, level=level, sentence=sentence)
