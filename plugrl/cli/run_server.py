"""``plugrl-run-server POLICY VARIANT ALGO VARIANT``: serve a policy and train it."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

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
from plugrl.training.spec import RunSpec

NAMES = ("POLICY", "VARIANT", "ALGO", "VARIANT")
PROG = "plugrl-run-server"
SERVER_PACKAGES = {"torch", "safetensors", "rich", "tensorboard"}

OnListening = Callable[[str], None]


def main() -> NoReturn:
    """The console script."""
    run_and_exit(run, PROG)


def run(argv: Sequence[str], prog: str = PROG, *, on_listening: OnListening | None = None) -> int:
    """Serve until the run is finished or stopped; returns the exit code.

    Args:
        argv: the command's arguments.
        prog: the program's name.
        on_listening: called with the server's URL once clients can connect.

    Raises:
        PlugRLError: see ``plugrl.training.run``.
    """
    load_named_plugins(argv)
    names, flags = take_names(argv, NAMES, POLICIES)
    if wants_help(argv) and len(names) < len(NAMES):
        write(introduction(prog, NAMES))
        return 0
    env_names = peek(argv, "--env")
    env = choose_env(env_names[-1]) if env_names else None
    arguments = server_flags(names, prog, env).parse(flags)
    configure_logging(arguments.run.log_level)
    spec = to_spec(names, arguments, env)
    training_run = _training().build_run(spec)

    def opened(url: str) -> None:
        if training_run.server.gate.made_key:
            write(
                "api key made for this run; clients connect with:\n"
                f"  plugrl-run-env-client ENV --server-host {url} "
                f"--api-key {training_run.server.gate.key}"
            )
        if on_listening is not None:
            on_listening(url)

    asyncio.run(training_run.run(on_listening=opened))
    return 0


def server_flags(names: Sequence[str], prog: str, env: EnvChoice | None) -> Flags:
    """The flags of a server of these POLICY VARIANT ALGO VARIANT, for that env.

    Raises:
        UsageError: names are missing.
        UnknownNameError: one is not registered.
    """
    if names:
        POLICIES.variants(names[0])
    require_names(names, NAMES, f"see '{prog} --help' for what there is")
    policy, algorithm = POLICIES.variant(*names[:2]), ALGORITHMS.variant(*names[2:])
    flags = (
        Flags(f"{prog} {' '.join(names)}", f"Train {' '.join(names[:2])} by {' '.join(names[2:])}.")
        .add("env_name", ENV_FLAG, None)
        .add("imports", IMPORT_FLAG, ())
        .add_config("server", ServerConfig(), prefix="")
        .add_config("run", RunConfig(), prefix="")
        .add_config("track", TrackConfig())
        .add_config("policy", policy)
        .add_config("algo", algorithm)
    )
    return flags if env is None else flags.add_config("env", env.config)


def to_spec(names: Sequence[str], arguments: Any, env: EnvChoice | None) -> RunSpec:
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
        sizes=None if env is None else known_sizes(env.uid, arguments.env),
        server=arguments.server,
        run=arguments.run,
        track=arguments.track,
    )


def introduction(prog: str, names: Sequence[str]) -> str:
    """The help text for somebody who has not chosen a policy and an algorithm yet."""
    usage = f"{prog} {' '.join(names)}"
    return "\n\n".join(
        (
            f"usage: {usage} [OPTIONS]",
            "Serves a policy, and trains it with the envs of every client that connects.",
            describe(POLICIES),
            describe(ALGORITHMS),
            f"All options: {prog} gaussian-policy default ppo default --help",
        )
    )


def _training() -> Any:
    try:
        from plugrl.training import run as training
    except ModuleNotFoundError as error:
        if error.name not in SERVER_PACKAGES:
            raise
        raise UsageError(
            f"the server needs {error.name}, which is not installed: pip install 'plugrl[server]'"
        ) from error
    return training


if __name__ == "__main__":
    main()
