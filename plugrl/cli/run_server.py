"""``plugrl-run-server POLICY VARIANT ALGO VARIANT``: serve a policy and train it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from plugrl.cli.command_lines import invitation, resume_command
from plugrl.cli.entry import configure_logging, run_and_exit, write
from plugrl.cli.env_choice import EnvChoice, choose_env, known_sizes
from plugrl.cli.list_names import describe
from plugrl.cli.parsing import (
    ENV_FLAG,
    IMPORT_FLAG,
    Flags,
    load_named_plugins,
    peek,
    require_names,
    take_names,
    wants_help,
)
from plugrl.config.server import RunConfig, ServerConfig, TrackConfig
from plugrl.errors import UsageError
from plugrl.registry import ALGORITHMS, POLICIES
from plugrl.runs.provenance import Provenance, public
from plugrl.server import event_loop
from plugrl.training.spec import RunSpec

if TYPE_CHECKING:
    from plugrl.server.loop import StopReason
    from plugrl.training.run import TrainingRun

NAMES = ("POLICY", "VARIANT", "ALGO", "VARIANT")
PROG = "plugrl-run-server"
EXAMPLE = "gaussian-policy default ppo default"
SERVER_PACKAGES = {"torch", "safetensors", "rich", "tensorboard", "psutil"}

OnListening: TypeAlias = Callable[[str], None]
OnConcluded: TypeAlias = Callable[["StopReason"], None]
OnStopping: TypeAlias = Callable[[], None]


def main() -> NoReturn:
    """The console script."""
    run_and_exit(run, PROG)


def run(argv: Sequence[str], prog: str = PROG) -> int:
    """Serve until the run is finished or stopped; returns the exit code.

    Raises:
        PlugRLError: see ``plugrl.training.run``.
    """
    order = read_order(argv, prog)
    if order is not None:
        training_run = order.build()
        event_loop.run(order.serve(training_run))
    return 0


@dataclass(frozen=True, kw_only=True)
class Order:
    """The run that a person asked for."""

    spec: RunSpec
    env_arguments: Sequence[str]
    """The env and its flags for env clients; empty where nobody named one."""

    def build(self, **doors: Any) -> "TrainingRun":
        """Make everything ready; ``doors`` are those of ``build_run``.

        Raises:
            UsageError: as ``build_run``; or what this server needs is not installed.
        """
        try:
            # torch is imported on the way, where the policy or the algorithm needs it.
            from plugrl.training import run as training

            return training.build_run(self.spec, **doors)
        except ModuleNotFoundError as error:
            if error.name not in SERVER_PACKAGES:
                raise
            raise UsageError(
                f"the server needs {error.name}, which is not installed: "
                "pip install 'plugrl[server]'"
            ) from error

    async def serve(
        self,
        training_run: "TrainingRun",
        on_listening: OnListening | None = None,
        on_concluded: OnConcluded | None = None,
        on_stopping: OnStopping | None = None,
    ) -> "StopReason":
        """Serve until the run is finished or stopped, and tell the person how it went.

        Args:
            training_run: what ``build`` made.
            on_listening: called with the server's URL once clients can connect.
            on_concluded: called once nothing is left to save; before ``on_listening`` where nothing
                is left to train.
            on_stopping: called once somebody has asked for a stop.
        """
        # A supervisor reads orders and serves none: what that takes stays out of it.
        from plugrl.server.loop import StopReason

        done_before = training_run.algorithm.should_stop()

        def opened(url: str) -> None:
            if done_before:
                write(_nothing_to_train(training_run))
                if on_concluded is not None:
                    # Told first, so that no client is called, which would find nobody.
                    on_concluded(StopReason.FINISHED)
            else:
                self._announce(training_run, url)
            if on_listening is not None:
                on_listening(url)

        reason = await training_run.run(
            on_listening=opened, on_concluded=on_concluded, on_stopping=on_stopping
        )
        self._conclude(training_run, reason)
        return reason

    def _announce(self, training_run: "TrainingRun", url: str) -> None:
        write(f"run folder: {training_run.run_dir}")
        gate = training_run.server.gate
        if gate.made_key:
            assert gate.key is not None
            write(invitation(url, gate.key, self.env_arguments, training_run.server.config))

    def _conclude(self, training_run: "TrainingRun", reason: "StopReason") -> None:
        from plugrl.server.loop import StopReason

        if conclusion := training_run.algorithm.conclusion():
            write(conclusion)
        if reason is StopReason.STOPPED and self.spec.algorithm_config.makes_checkpoints:
            again = resume_command(self.spec.provenance.argv, training_run.run_dir.name)
            write(f"stopped; to go on: {again}")


def read_order(
    argv: Sequence[str], prog: str, provenance: Provenance | None = None
) -> Order | None:
    """What the arguments ask for; None where they ask for help, which they then got.

    Args:
        argv: the command's arguments.
        prog: the program's name.
        provenance: where the run comes from, if not from this very command.

    Raises:
        UsageError: the arguments can't work.
    """
    load_named_plugins(argv)
    names, flags = take_names(argv, NAMES, POLICIES)
    if wants_help(argv) and len(names) < len(NAMES):
        write(introduction(prog, NAMES, f"{prog} {EXAMPLE} --help"))
        return None
    env = named_env(argv)
    opening = Flags(f"{prog} {' '.join(names)}", training(names)).add("env_name", ENV_FLAG, None)
    arguments = add_server_flags(opening, names, prog, env).parse(flags)
    configure_logging(arguments.run.log_level)
    provenance = provenance or Provenance(argv=public((*prog.split(), *argv)))
    return Order(
        spec=to_spec(names, arguments, env, provenance),
        env_arguments=[] if env is None else env.client_arguments(arguments.env),
    )


def named_env(argv: Sequence[str]) -> EnvChoice | None:
    """The env that ``--env`` names, if it is there.

    Raises:
        UnknownNameError: it names none.
    """
    names = peek(argv, "--env")
    return choose_env(names[-1]) if names else None


def training(names: Sequence[str]) -> str:
    """What a command with these names does."""
    return f"Train {' '.join(names[:2])} by {' '.join(names[2:])}."


def add_server_flags(
    opening: Flags, names: Sequence[str], prog: str, env: EnvChoice | None
) -> Flags:
    """Add the flags of a server of these POLICY VARIANT ALGO VARIANT, for that env.

    Raises:
        UsageError: names are missing.
        UnknownNameError: one is not registered.
    """
    if names:
        POLICIES.variants(names[0])
    require_names(names, NAMES, f"see '{prog} --help' for what there is")
    policy, algorithm = POLICIES.variant(*names[:2]), ALGORITHMS.variant(*names[2:])
    flags = (
        opening.add_config("run", RunConfig(), prefix="")
        .add("imports", IMPORT_FLAG, ())
        .add_config("policy", policy)
        .add_config("algo", algorithm)
    )
    if env is not None:
        flags = flags.add_config("env", env.config)
    # Last, so that what few people need stands at the end of the help text.
    return flags.add_config("track", TrackConfig()).add_config("server", ServerConfig(), prefix="")


def to_spec(
    names: Sequence[str], arguments: Any, env: EnvChoice | None, provenance: Provenance
) -> RunSpec:
    """The run that these names and parsed flags mean.

    Raises:
        UsageError: the sizes are those of an env that can't be made.
    """
    policy, policy_variant, algorithm, algorithm_variant = names
    return RunSpec(
        policy=policy,
        policy_variant=policy_variant,
        policy_config=arguments.policy,
        algorithm=algorithm,
        algorithm_variant=algorithm_variant,
        algorithm_config=arguments.algo,
        env=None if env is None else env.name,
        env_config=None if env is None else arguments.env,
        sizes=None if env is None else known_sizes(env.uid, arguments.env),
        server=arguments.server,
        run=arguments.run,
        track=arguments.track,
        provenance=provenance,
    )


def introduction(prog: str, names: Sequence[str], more: str) -> str:
    """The help text for somebody who has not chosen a policy and an algorithm yet.

    Args:
        prog: the program's name.
        names: what it wants first.
        more: the command that shows all options.
    """
    usage = f"{prog} {' '.join(names)}"
    return "\n\n".join(
        (
            f"usage: {usage} [OPTIONS]",
            "Serves a policy, and trains it with the envs of every client that connects.",
            describe(POLICIES),
            describe(ALGORITHMS),
            f"All options: {more}",
        )
    )


def _nothing_to_train(training_run: "TrainingRun") -> str:
    return (
        f"nothing to train: {training_run.run_dir} is done at step "
        f"{training_run.algorithm.global_step}; raise --algo.global-steps to go on"
    )


if __name__ == "__main__":
    main()
