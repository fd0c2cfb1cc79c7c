"""What ``plugrl launch`` supervises: a server and its env clients, as their command lines."""

import logging
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path
from typing import Any
from uuid import uuid4

from plugrl.cli.child_process import ChildCommand
from plugrl.cli.command_lines import invitation, waiting_for_clients
from plugrl.cli.entry import write
from plugrl.cli.env_choice import EnvChoice
from plugrl.cli.env_trial import try_apart
from plugrl.cli.flags import to_flags
from plugrl.cli.parsing import flags_named
from plugrl.cli.run_env_client import with_step_limit
from plugrl.cli.usual_port import choose_port, is_free
from plugrl.config.client import ClientConfig
from plugrl.config.server import (
    API_KEY_VARIABLE,
    LAUNCH_ID_VARIABLE,
    RunConfig,
    ServerConfig,
    TrackConfig,
)
from plugrl.errors import UsageError
from plugrl.registry import ALGORITHMS, POLICIES
from plugrl.runs.files import plain
from plugrl.runs.provenance import Provenance, public
from plugrl.server.auth import Gate
from plugrl.training.run_folder import RunFolder, fresh_name
from plugrl.training.step_folder import step_dirs

logger = logging.getLogger(__name__)

RETRY_MAX_S = 2.0
"""Longest pause between two reconnects of our own clients: their server comes back on its port."""


class LaunchPlan:
    """A server and its env clients on this machine, for ``plugrl.cli.supervision``.

    With no processes for envs it is a server alone, whose clients are started elsewhere.
    """

    def __init__(
        self, names: Sequence[str], arguments: Any, choice: EnvChoice | None, typed: Sequence[str]
    ) -> None:
        """Check what can be checked before a process is started.

        Args:
            names: POLICY VARIANT ALGO VARIANT.
            arguments: the parsed flags.
            choice: the env that was named; None only where no env is run here.
            typed: the whole command, as a person typed it; its first two words are the program.

        Raises:
            UsageError: the run's folder can't be used so, the env can't be made, or the values
                don't go together.
            EnvError: the env broke its own contract, or ended its process.
        """
        self.names = tuple(names)
        self.arguments = arguments
        self.choice = choice
        self.typed = tuple(typed)
        self.env = _env(arguments, choice)
        self.run_config: RunConfig = replace(
            arguments.run, exp_name=arguments.run.exp_name or fresh_name()
        )
        self._require_folder()
        self._client_config = _client_config(arguments)
        self._alone = arguments.clients.num_procs == 0
        if choice is not None and not self._alone:
            filmed = self._client_config.video_every > 0
            try_apart(choice, self.env, arguments.imports, filmed=filmed)
        self._gate = Gate(arguments.server)
        self._launch_id = uuid4().hex
        self._invited: str | None = None
        """The server that people were told how to join."""

    @cached_property
    def _port(self) -> int:
        # Not before a server is about to start: who only looks at a plan must not keep the port.
        return choose_port(self.arguments.server)

    @property
    def exp_name(self) -> str:
        """The run's name."""
        assert self.run_config.exp_name is not None
        return self.run_config.exp_name

    @property
    def run_dir(self) -> Path:
        """The run's folder."""
        return self.run_config.checkpoint_base_dir / self.names[2] / self.names[0] / self.exp_name

    @property
    def provenance(self) -> Provenance:
        """Where the run comes from."""
        clients = {**asdict(self._client_config), "num_procs": self.arguments.clients.num_procs}
        return Provenance(argv=public(self.typed), clients=plain(clients))

    def server(self, attempt: int, port: int | None) -> ChildCommand:
        """``run-server`` with the arguments that mean the same; the key is left out of sight."""
        policy, policy_variant, algorithm, algorithm_variant = self.names
        arguments = self.arguments
        server = replace(arguments.server, api_key=None, port=self._port_of(port))
        argv = [
            *self.names,
            *to_flags(server, ServerConfig()),
            *to_flags(self._beginning(attempt), RunConfig()),
            *to_flags(arguments.track, TrackConfig(), prefix="track."),
            *to_flags(arguments.policy, POLICIES.variant(policy, policy_variant), prefix="policy."),
            *to_flags(
                arguments.algo, ALGORITHMS.variant(algorithm, algorithm_variant), prefix="algo."
            ),
            *self._env_flags(),
            *self._imports(),
        ]
        return self._child("run-server", argv)

    def clients(self, url: str) -> ChildCommand | None:
        """``run-env-client`` for a server at ``url``; None where that is done elsewhere."""
        self._invite(url)
        if self._alone:
            return None
        assert self.choice is not None, "who runs envs has named one"
        config = replace(self._client_config, server_host=url)
        argv = [
            *(self.choice.uid, self.choice.variant, *to_flags(config, ClientConfig())),
            *self.choice.flags(self.env),
            *self._imports(),
        ]
        return self._child("run-env-client", argv)

    def newest_step(self) -> int | None:
        """The step of the newest checkpoint, if there is one."""
        steps = step_dirs(self.run_dir)
        return int(steps[-1].name) if steps else None

    def _require_folder(self) -> None:
        """Refuse now what the server would refuse after seconds; the folder is left as it is."""
        RunFolder(self.run_config, algorithm=self.names[2], policy=self.names[0]).close()

    def _beginning(self, attempt: int) -> RunConfig:
        """As asked for at first; later attempts go on in the folder that the first one made."""
        if attempt == 1 or not self.run_dir.exists():
            return self.run_config
        return replace(self.run_config, resume=True, overwrite=False)

    def _port_of(self, before: int | None) -> int:
        """The port that was asked for; of later servers the one of the first, where clients look.

        Where nobody asked for that one, and another program has it meanwhile, it is any free one.
        """
        asked = self.arguments.server
        if before is None:
            return self._port
        if asked.port in {0, ServerConfig().port} and not is_free(replace(asked, port=before)):
            logger.warning("port %d is taken meanwhile, the server takes a free one", before)
            return 0
        return before

    def _env_flags(self) -> list[str]:
        if self.choice is None:
            return []
        flags = to_flags(self.arguments.env, self.choice.config, prefix="env.")
        return [f"--env={self.choice.name}", *flags]

    def _invite(self, url: str) -> None:
        """Tell a person how env clients join, where they can't know it or it is up to them."""
        if url == self._invited or not (self._alone or self._gate.made_key):
            return
        self._invited = url
        env = [] if self.choice is None else self.choice.client_arguments(self.env)
        if self._gate.made_key:
            assert self._gate.key is not None
            write(invitation(url, self._gate.key, env, self.arguments.server))
        else:
            has_key = self._gate.key is not None
            write(waiting_for_clients(url, env, self.arguments.server, has_key=has_key))

    def _child(self, name: str, argv: Sequence[str]) -> ChildCommand:
        # The key is made here where one is needed, so that our clients know it.
        variables = {} if self._gate.key is None else {API_KEY_VARIABLE: self._gate.key}
        variables[LAUNCH_ID_VARIABLE] = self._launch_id
        return ChildCommand(name=name, argv=argv, provenance=self.provenance, variables=variables)

    def _imports(self) -> list[str]:
        return [f"--import={module}" for module in self.arguments.imports]


def _env(arguments: Any, choice: EnvChoice | None) -> Any:
    """The config of the env that clients run; None where nobody named one."""
    if choice is not None:
        return with_step_limit(choice.uid, arguments.env, arguments.max_episode_steps)
    if arguments.max_episode_steps is not None:
        raise UsageError("expected --env NAME beside --max-episode-steps, got none")
    return None


def _client_config(arguments: Any) -> ClientConfig:
    clients = {**asdict(arguments.clients), "num_procs": max(arguments.clients.num_procs, 1)}
    with flags_named({ClientConfig.__name__: ""}):
        return ClientConfig(
            **clients,
            seed=arguments.run.seed,
            log_level=arguments.run.log_level,
            tls_ca=arguments.server.tls_cert,
            retry_max_s=RETRY_MAX_S,
        )
