"""``plugrl launch POLICY VARIANT ALGO VARIANT --env NAME``: train on this machine alone."""

import asyncio
import logging
import socket
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from plugrl.cli.entry import configure_logging, write
from plugrl.cli.env_choice import EnvChoice, choose_env, try_env
from plugrl.cli.flags import to_flags
from plugrl.cli.parsing import (
    load_named_plugins,
    peek,
    require_names,
    take_names,
    wants_help,
)
from plugrl.cli.run_env_client import LIMIT_FLAG, with_step_limit
from plugrl.cli.run_server import NAMES, introduction, server_flags
from plugrl.cli.supervision import supervise
from plugrl.config.client import ClientConfig
from plugrl.config.server import API_KEY_VARIABLE, RunConfig, ServerConfig, TrackConfig
from plugrl.errors import UsageError
from plugrl.registry import ALGORITHMS, ENVS, POLICIES
from plugrl.server.auth import Gate

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class LocalClients:
    """The env clients beside the server."""

    num_procs: int = 1
    """Processes that run envs."""
    num_envs: int = 1
    """Envs in each process."""
    replan_steps: int | None = None
    """Steps of an action chunk to run before asking again; none runs the whole chunk."""
    video_every: int = 0
    """Record every N-th episode of the first env; 0: none."""
    video_dir: Path = Path("videos")
    """Folder of the videos."""


def run(argv: Sequence[str], prog: str) -> int:
    """Run a server and its env clients until the server ends; returns its exit code.

    Raises:
        UsageError: the arguments can't work.
    """
    load_named_plugins(argv)
    names, flags = take_names(argv, NAMES, POLICIES)
    env_names = peek(argv, "--env")
    if wants_help(argv) and (len(names) < len(NAMES) or not env_names):
        write(introduction(prog, (*NAMES, "--env NAME")))
        return 0
    require_names(names, NAMES, f"see '{prog} --help' for what there is")
    if not env_names:
        raise UsageError(f"expected --env NAME, one of {', '.join(ENVS.uids())}")
    choice = choose_env(env_names[-1])
    arguments = (
        server_flags(names, prog, choice)
        .add_config("clients", LocalClients(), prefix="")
        .add("max_episode_steps", LIMIT_FLAG, None)
        .parse(flags)
    )
    configure_logging(arguments.run.log_level)
    env = with_step_limit(choice.uid, arguments.env, arguments.max_episode_steps)
    try_env(choice.uid, env)
    clients = _client_config(arguments)

    def client_argv(url: str) -> list[str]:
        config = replace(clients, server_host=url)
        return [
            *(choice.uid, choice.variant, *to_flags(config, ClientConfig())),
            *choice.flags(env),
            *(f"--import={module}" for module in arguments.imports),
        ]

    variables = _key(arguments.server)
    return asyncio.run(supervise(server_argv(names, arguments, choice), client_argv, variables))


def server_argv(names: Sequence[str], arguments: Any, env: EnvChoice) -> list[str]:
    """The arguments of ``run-server`` that mean the same; the key is left out of sight."""
    server = replace(arguments.server, api_key=None, port=_port(arguments.server))
    return [
        *names,
        *to_flags(server, ServerConfig()),
        *to_flags(arguments.run, RunConfig()),
        *to_flags(arguments.track, TrackConfig(), prefix="track."),
        *to_flags(arguments.policy, POLICIES.variant(*names[:2]), prefix="policy."),
        *to_flags(arguments.algo, ALGORITHMS.variant(*names[2:]), prefix="algo."),
        f"--env={env.name}",
        *to_flags(arguments.env, env.config, prefix="env."),
        *(f"--import={module}" for module in arguments.imports),
    ]


def _client_config(arguments: Any) -> ClientConfig:
    return ClientConfig(
        **asdict(arguments.clients),
        seed=arguments.run.seed,
        log_level=arguments.run.log_level,
        tls_ca=arguments.server.tls_cert,
    )


def _port(config: ServerConfig) -> int:
    """The port asked for, or any free one where the usual one is taken."""
    if config.port != ServerConfig().port:
        return config.port
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((config.host, config.port))
        except OSError:
            logger.info("port %d is taken, the server takes a free one", config.port)
            return 0
    return config.port


def _key(config: ServerConfig) -> dict[str, str]:
    # Made here and not by the server where one is needed, so that our clients know it.
    gate = Gate(config)
    if gate.made_key:
        write(f"api key made for this run: {gate.key}")
    return {} if gate.key is None else {API_KEY_VARIABLE: gate.key}
