"""One env, tried in a process of its own before a run begins.

    python -m plugrl.cli.env_trial DESCRIPTOR ENV VARIANT FLAGS...

A supervisor lives as long as its run: what envs import, and what they hold, stays out of it, and an
env that takes its process down ends as a sentence. The answer comes over the pipe ``DESCRIPTOR``:
a JSON object with the ``failure``, if there was one, and whether it is a matter of ``usage``.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from plugrl.cli.env_choice import EnvChoice, choose_env, try_env
from plugrl.cli.parsing import IMPORT_FLAG, Flags, load_named_plugins
from plugrl.errors import EnvError, PlugRLError, UsageError


def try_apart(
    choice: EnvChoice, config: Any, imports: Sequence[str] = (), *, filmed: bool = False
) -> None:
    """Make one env, reset it and close it, elsewhere.

    Args:
        choice: the env that was named.
        config: its config.
        imports: modules that register more names.
        filmed: whether videos are to be made of it.

    Raises:
        UsageError: it can't be made, or not be filmed; says why.
        EnvError: its first observation is none that can be sent, or it ended its process.
    """
    env = (choice.uid, choice.variant, *choice.flags(config))
    command = [*env, *(f"--import={module}" for module in imports), *["--filmed"] * filmed]
    reading, writing = os.pipe()
    with os.fdopen(reading, encoding="utf-8") as answers:
        try:
            trial = subprocess.Popen(  # noqa: S603 -- our own module
                [sys.executable, "-m", "plugrl.cli.env_trial", str(writing), *command],
                stdin=subprocess.DEVNULL,
                pass_fds=[writing],
                # Ctrl-C is for us, who then have nobody else to tell.
                process_group=0,
            )
        finally:
            os.close(writing)
        with trial:
            try:
                answer = answers.read()
            except BaseException:
                # With what its imports have started: glfw asks a process of its own for a version.
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(trial.pid, signal.SIGKILL)
                raise
    if not answer:
        raise EnvError(
            f"expected env {choice.name!r} to be made, reset and closed, it ended its process with "
            f"{_how(trial.returncode)}"
        )
    _judge(**json.loads(answer))


def _judge(*, failure: str | None, usage: bool) -> None:
    if failure is not None:
        raise (UsageError if usage else EnvError)(failure)


def _how(code: int) -> str:
    return f"exit code {code}" if code >= 0 else f"signal {-code}"


def main() -> None:
    """Try the env that the process's arguments name."""
    descriptor, uid, variant, *flags = sys.argv[1:]
    answer: dict[str, Any] = {"failure": None, "usage": False}
    try:
        _try(uid, variant, flags)
    except PlugRLError as error:
        answer = {"failure": str(error), "usage": isinstance(error, UsageError)}
    # Nobody is there to read it where the supervisor was killed.
    with contextlib.suppress(BrokenPipeError), os.fdopen(int(descriptor), "wb", 0) as answers:
        answers.write(json.dumps(answer).encode())


def _try(uid: str, variant: str, flags: Sequence[str]) -> None:
    load_named_plugins(flags)
    choice = choose_env(uid, variant)
    arguments = (
        Flags("env_trial", "")
        .add("imports", IMPORT_FLAG, ())
        .add("filmed", bool, default=False)
        .add_config("env", choice.config)
        .parse(flags)
    )
    try_env(uid, arguments.env, filmed=arguments.filmed)


if __name__ == "__main__":
    main()
