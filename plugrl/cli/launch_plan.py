"""What ``plugrl launch`` supervises: a server and its env clients, as their command lines."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from plugrl.cli.child_process import ChildCommand
from plugrl.cli.command_lines import invitation
from plugrl.cli.entry import write
from plugrl.cli.env_choice import EnvChoice
from plugrl.cli.env_trial import try_apart
from plugrl.cli.flags import to_flags
from plugrl.cli.parsing import flags_named
from plugrl.cli.run_env_client import with_step_limit
from plugrl.cli.usual_port import choose_port
from plugrl.config.client import ClientConfig
from plugrl.config.server import API_KEY_VARIABLE, RunConfig, ServerConfig, TrackConfig
from plugrl.registry import ALGORITHMS, POLICIES
from plugrl.runs.files import plain
from plugrl.runs.provenance import Provenance, public
from plugrl.server.auth import Gate
from plugrl.training.run_folder import fresh_name
from plugrl.training.step_folder import step_dirs

RETRY_MAX_S = 2.0
"""Longest pause between two reconnects of our own clients: their server comes back on its port."""


class LaunchPlan:
    """A server and its env clients on this machine, for ``plugrl.cli.supervision``."""

    def __init__(
        self, names: Sequence[str], arguments: Any, choice: EnvChoice, typed: Sequence[str]
    ) -> None:
        """Check what can be checked before a process is started.

        Args:
            names: POLICY VARIANT ALGO VARIANT.
            arguments: the parsed flags.
            choice: the env that was named.
            typed: the whole command, as a person typed it; its first two words are the program.

        Raises:
            UsageError: the env can't be made, or the values don't go together.
            EnvError: the env broke its own contract, or ended its process.
        """
        self.names = tuple(names)
        self.arguments = arguments
        self.choice = choice
        self.typed = tuple(typed)
        self.env = with_step_limit(choice.uid, arguments.env, arguments.max_episode_steps)
        self.run_config: RunConfig = replace(
            arguments.run, exp_name=arguments.run.exp_name or fresh_name()
        )
        self._client_config = _client_config(arguments)
        try_apart(choice, self.env, arguments.imports)
        self._gate = Gate(arguments.server)
        self._invited = False

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
        return Provenance(argv=public(self.typed), clients=plain(asdict(self._client_config)))

    def server(self, attempt: int, port: int | None) -> ChildCommand:
        """``run-server`` with the arguments that mean the same; the key is left out of sight."""
        policy, policy_variant, algorithm, algorithm_variant = self.names
        arguments = self.arguments
        server = replace(arguments.server, api_key=None, port=port or self._port)
        argv = [
            *self.names,
            *to_flags(server, ServerConfig()),
            *to_flags(self._beginning(attempt), RunConfig()),
            *to_flags(arguments.track, TrackConfig(), prefix="track."),
            *to_flags(arguments.policy, POLICIES.variant(policy, policy_variant), prefix="policy."),
            *to_flags(
                arguments.algo, ALGORITHMS.variant(algorithm, algorithm_variant), prefix="algo."
            ),
            f"--env={self.choice.name}",
            *to_flags(arguments.env, self.choice.config, prefix="env."),
            *self._imports(),
        ]
        return self._child("run-server", argv)

    def clients(self, url: str) -> ChildCommand:
        """``run-env-client`` for a server at ``url``."""
        if self._gate.made_key and not self._invited:
            assert self._gate.key is not None
            write(invitation(url, self._gate.key, self.choice.client_arguments(self.env)))
            self._invited = True
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

    def _beginning(self, attempt: int) -> RunConfig:
        """As asked for at first; later attempts go on in the folder that the first one made."""
        if attempt == 1 or not self.run_dir.exists():
            return self.run_config
        return replace(self.run_config, resume=True, overwrite=False)

    def _child(self, name: str, argv: Sequence[str]) -> ChildCommand:
        # The key is made here where one is needed, so that our clients know it.
        variables = {} if self._gate.key is None else {API_KEY_VARIABLE: self._gate.key}
        return ChildCommand(name=name, argv=argv, provenance=self.provenance, variables=variables)

    def _imports(self) -> list[str]:
        return [f"--import={module}" for module in self.arguments.imports]


def _client_config(arguments: Any) -> ClientConfig:
    with flags_named({ClientConfig.__name__: ""}):
        return ClientConfig(
            **asdict(arguments.clients),
            seed=arguments.run.seed,
            log_level=arguments.run.log_level,
            tls_ca=arguments.server.tls_cert,
            retry_max_s=RETRY_MAX_S,
        )
