"""``plugrl launch POLICY VARIANT ALGO VARIANT --env NAME``: train on this machine alone."""

import asyncio
import logging
import socket
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from plugrl.cli.command_lines import invitation
from plugrl.cli.entry import configure_logging, write
from plugrl.cli.env_choice import OTHER_NAMES, EnvChoice, try_env
from plugrl.cli.flags import to_flags
from plugrl.cli.parsing import (
    REQUIRED_ENV_FLAG,
    Flags,
    flags_named,
    load_named_plugins,
    take_names,
    wants_help,
)
from plugrl.cli.run_env_client import LIMIT_FLAG, with_step_limit
from plugrl.cli.run_server import (
    EXAMPLE,
    NAMES,
    add_server_flags,
    introduction,
    named_env,
    training,
)
from plugrl.cli.supervision import supervise
from plugrl.config.client import ClientConfig, LocalClients
from plugrl.config.server import API_KEY_VARIABLE, RunConfig, ServerConfig, TrackConfig
from plugrl.errors import UsageError
from plugrl.registry import ALGORITHMS, ENVS, POLICIES
from plugrl.server.auth import Gate

logger = logging.getLogger(__name__)


def run(argv: Sequence[str], prog: str) -> int:
    """Run a server and its env clients until the server ends; returns its exit code.

    Raises:
        UsageError: the arguments can't work.
    """
    load_named_plugins(argv)
    names, flags = take_names(argv, NAMES, POLICIES)
    if wants_help(argv) and len(names) < len(NAMES):
        write(introduction(prog, (*NAMES, "--env NAME"), f"{prog} {EXAMPLE} --help"))
        return 0
    opening = opening_flags(f"{prog} {' '.join(names)}", training(names))
    return launch(names, flags, opening, [*prog.split(), *argv])


def opening_flags(prog: str, description: str) -> Flags:
    """The flags that are more than a server's."""
    return (
        Flags(prog, description)
        .add("env_name", REQUIRED_ENV_FLAG, None)
        .add_config("clients", LocalClients(), prefix="")
        .add("max_episode_steps", LIMIT_FLAG, None)
    )


def launch(names: Sequence[str], flags: Sequence[str], opening: Flags, typed: Sequence[str]) -> int:
    """Run a server and its env clients; returns the server's exit code.

    Args:
        names: POLICY VARIANT ALGO VARIANT.
        flags: the arguments after them.
        opening: ``opening_flags``.
        typed: the whole command, as a person typed it; its first two words are the program.

    Raises:
        UsageError: the arguments can't work.
    """
    prog = " ".join(typed[:2])
    choice = named_env(flags)
    parser = add_server_flags(opening, names, prog, choice)
    if choice is None and not wants_help(flags):
        raise UsageError(f"expected --env NAME, one of {', '.join(ENVS.uids())}; or {OTHER_NAMES}")
    arguments = parser.parse(flags)
    assert choice is not None, "help has ended the command"
    configure_logging(arguments.run.log_level)
    env = with_step_limit(choice.uid, arguments.env, arguments.max_episode_steps)
    clients = _client_config(arguments)
    try_env(choice.uid, env)
    gate = Gate(arguments.server)

    def client_argv(url: str) -> list[str]:
        if gate.made_key:
            assert gate.key is not None
            write(invitation(url, gate.key, choice.client_arguments(env)))
        config = replace(clients, server_host=url)
        return [
            *(choice.uid, choice.variant, *to_flags(config, ClientConfig())),
            *choice.flags(env),
            *(f"--import={module}" for module in arguments.imports),
        ]

    # Made here and not by the server where one is needed, so that our clients know it.
    variables = {} if gate.key is None else {API_KEY_VARIABLE: gate.key}
    server = server_argv(names, arguments, choice)
    return asyncio.run(supervise(server, client_argv, variables, typed))


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
    with flags_named({ClientConfig.__name__: ""}):
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
