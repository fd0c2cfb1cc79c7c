"""Run envs for a server: one's own in this process, or a registered one in several processes."""

import contextlib
import dataclasses
import logging
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from plugrl.client.backoff import Backoff
from plugrl.client.connection import Connection
from plugrl.client.episodes import RECENT
from plugrl.client.interrupts import StopRequestedError, stop_on_signals
from plugrl.client.processes import run_in_processes
from plugrl.client.rollout import Rollout
from plugrl.config.client import ClientConfig
from plugrl.envs.base import VectorEnv, build_env
from plugrl.envs.video import RecordVideo, to_be_filmed
from plugrl.errors import ConnectionLostError, PlugRLError, ServerStoppedError, UsageError
from plugrl.registry import load_plugins

if TYPE_CHECKING:
    import gymnasium

logger = logging.getLogger(__name__)

LOG_FORMAT = "%(asctime)s %(levelname)s %(processName)s: %(message)s"
LOG_TIME = "%H:%M:%S"


@dataclasses.dataclass(frozen=True, slots=True)
class ClientSummary:
    """What a client did until it left."""

    num_episodes: int
    """Episodes that ended and were reported."""
    num_steps: int
    """Env steps, over all envs."""
    mean_return: float
    """Of the last 100 episodes; NaN before the first has ended."""
    server_stopped: bool
    """Whether the server ended the run, rather than this client its episodes."""

    def __str__(self) -> str:
        """A line for the log."""
        steps = "1 step" if self.num_steps == 1 else f"{self.num_steps} steps"
        if not self.num_episodes:
            return f"{steps}, no episode has ended"
        which = f" of the last {RECENT}:" if self.num_episodes > RECENT else ""
        episodes = "1 episode" if self.num_episodes == 1 else f"{self.num_episodes} episodes"
        return f"{episodes}, {steps}, mean return{which} {self.mean_return:.2f}"


def run_env_client(
    env: "VectorEnv | gymnasium.Env[Any, Any] | Sequence[gymnasium.Env[Any, Any]]",
    config: ClientConfig | None = None,
    *,
    first_seed: int | None = None,
) -> ClientSummary:
    """Run an env for a server until ``config.num_episodes`` or until the server stops.

    Reconnects by itself where a connection is lost. ``num_envs`` and the video fields of
    ``config`` are not read: ``env`` is all there is, and it is left open. ``num_procs`` is the
    number of scripts like this one on this machine: where it leaves a core for the server, waits
    of microseconds are spent awake.

    It logs to the logger ``plugrl.client``: connecting and the end at INFO, lost connections at
    WARNING. A script sees these lines after ``logging.basicConfig(level=logging.INFO)``.

    Args:
        env: one or several Gymnasium envs (without autoreset), or a vector of them.
        config: where the server is and how long to stay; the default is 127.0.0.1:8000 for ever.
        first_seed: seed of env 0, in place of ``config.seed``; env i has i more.

    Raises:
        ConnectionLostError: there was no server, for too many attempts in a row.
        ProtocolError: the server broke the protocol.
        UsageError: the key is refused, or env and server can't work together.
        EnvError: the env broke its own contract.
    """
    config = config or ClientConfig()
    seed = config.seed if first_seed is None else first_seed
    rollout = Rollout(_as_vector(env), config, first_seed=seed)
    stopped = _exchange(rollout, config)
    episodes = rollout.episodes
    summary = ClientSummary(
        episodes.num_finished, episodes.num_steps, episodes.mean_return, server_stopped=stopped
    )
    logger.info("done: %s", summary)
    return summary


def run_processes(
    env_uid: str, env_config: Any, config: ClientConfig, *, imports: Sequence[str] = ()
) -> int:
    """Run ``config.num_procs`` env clients until they are done; call this from the main thread.

    With one process, that is this one. SIGINT and SIGTERM stop all of them, each with a closing
    handshake; where one fails, the others are stopped too. None outlives this process.

    Args:
        env_uid: the env's registered name.
        env_config: the env's config.
        config: what each client does. Env i of process p is seeded with
            ``seed + p * num_envs + i``.
        imports: modules that register more envs, for the processes to import as well.

    Returns:
        The exit code: 0 when done, when the server stopped or when asked to stop; 1 on failure;
        2 when what was asked for can't be done.
    """
    work = _Work(env_uid, env_config, config, tuple(imports))
    if config.num_procs == 1:
        return work.run(0)
    return run_in_processes(work, config.num_procs, name="env-client")


def _exchange(rollout: Rollout, config: ClientConfig) -> bool:
    """Keep the rollout connected until it is finished; whether the server stopped first."""
    backoff = Backoff(config)
    while True:
        actions_before = rollout.num_actions
        try:
            with Connection(config) as connection:
                logger.info("connected to %s", connection.address)
                rollout.run(connection)
            return False
        except ServerStoppedError as error:
            logger.info("%s", error)
            return True
        except ConnectionLostError as error:
            # A second action: it came after a feedback, which the server then has taken. One that
            # accepts and closes is of no use, nor is one that closes at the first feedback.
            if rollout.num_actions >= actions_before + 2:
                backoff.reset()
            pause = backoff.next_pause(error)
            logger.warning("%s; connecting again in %.1f s", error, pause)
            time.sleep(pause)


def _as_vector(
    env: "VectorEnv | gymnasium.Env[Any, Any] | Sequence[gymnasium.Env[Any, Any]]",
) -> VectorEnv:
    if isinstance(env, VectorEnv):
        return env
    from plugrl.envs.gymnasium import GymnasiumVector

    return GymnasiumVector(env if isinstance(env, Sequence) else [env])


@dataclasses.dataclass(frozen=True)
class _Work:
    """What each process is to do."""

    env_uid: str
    env_config: Any
    config: ClientConfig
    imports: tuple[str, ...]

    def __call__(self, index: int) -> int:
        """Do it as the whole of a fresh process; returns the exit code."""
        logging.basicConfig(format=LOG_FORMAT, datefmt=LOG_TIME)
        logging.getLogger("plugrl").setLevel(self.config.log_level.upper())
        return self.run(index)

    def run(self, index: int) -> int:
        """Do it as process ``index``; returns the exit code."""
        try:
            with stop_on_signals(), contextlib.closing(self._build(index)) as env:
                first_seed = self.config.seed + index * self.config.num_envs
                run_env_client(env, self.config, first_seed=first_seed)
        except StopRequestedError as stop:
            logger.info("%s, stopped", stop)
            return 0
        except PlugRLError as error:
            logger.error("%s", error)
            return 2 if isinstance(error, UsageError) else 1
        except Exception:
            # Whatever the env raised ends this process: the log has it all, the parent the code.
            logger.exception("the env client failed")
            return 1
        return 0

    def _build(self, index: int) -> VectorEnv:
        load_plugins(self.imports)
        config, env_config = self.config, self.env_config
        filmed = config.video_every > 0 and index == 0
        if not filmed:
            return build_env(self.env_uid, env_config, config.num_envs)
        env = build_env(self.env_uid, to_be_filmed(env_config), config.num_envs)
        return RecordVideo(env, every=config.video_every, folder=config.video_dir)
