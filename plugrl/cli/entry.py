"""What every command shares: errors become one sentence and an exit code, logs go to stderr."""

import io
import logging
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn, TypeAlias

from plugrl.cli.table import harmless
from plugrl.errors import PlugRLError, UsageError

EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_STOPPED = 10
"""Of a server under a supervisor that was asked to stop and has saved what there was."""
EXIT_INTERRUPTED = 130
EXIT_BROKEN_PIPE = 141
"""What a shell shows of a program that SIGPIPE ended."""

Command: TypeAlias = Callable[[Sequence[str], str], int]
"""Takes the arguments and the program's name, returns the exit code."""

logger = logging.getLogger(__name__)


def run_and_exit(command: Command, prog: str) -> NoReturn:
    """Run ``command`` on the process's arguments and exit."""
    find_modules_here()
    sys.exit(run_guarded(command, sys.argv[1:], prog))


def find_modules_here() -> None:
    """Have a person's own modules, such as an env, found in the working directory.

    Python puts the folder of the console script on the path, not the one it is started in.
    """
    if str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))


def run_guarded(command: Command, argv: Sequence[str], prog: str) -> int:
    """Run ``command``; what it raises becomes a sentence on stderr and an exit code.

    Returns:
        The command's own code; 2 for a person's mistake, 1 for any other failure.
    """
    mend_streams()
    try:
        return command([_with_dashes(argument) for argument in argv], prog)
    except UsageError as error:
        _complain(prog, error)
        return EXIT_USAGE
    except BrokenPipeError:
        return broken_pipe()
    except (PlugRLError, OSError) as error:
        _complain(prog, error)
        return EXIT_FAILED
    except MemoryError as error:
        reason = str(error) or "there is none left"
        _complain(prog, f"expected enough memory, got a refusal: {reason}; choose smaller sizes")
        return EXIT_FAILED
    except KeyboardInterrupt:
        sys.stderr.write(f"{prog}: interrupted\n")
        return EXIT_INTERRUPTED
    except Exception:  # the last resort of the process: the log gets the traceback
        logger.exception("%s failed", prog)
        return EXIT_FAILED


def mend_streams() -> None:
    """Have standard streams that take any text, whatever this process was started with.

    A closed one leads nowhere; a sign that standard output's encoding lacks is escaped.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            # It takes the closed number, which no file of ours must get.
            stream = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115 -- stays open
            setattr(sys, name, stream)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def broken_pipe() -> int:
    """The exit code where whoever read our output, such as head, has had enough."""
    # Python would complain once more when it flushes stdout at the end.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return EXIT_BROKEN_PIPE


def configure_logging(level: str) -> None:
    """Log ours at ``level`` and others' warnings to stderr."""
    logging.basicConfig(
        format="%(asctime)s %(levelname)s %(message)s", datefmt="%H:%M:%S", force=True
    )
    logging.getLogger("plugrl").setLevel(level.upper())


def write(text: str) -> None:
    """Write a command's result to standard output."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _with_dashes(argument: str) -> str:
    """A flag as it is documented: tyro takes ``--api_key`` too, which must be hidden as well."""
    if not argument.startswith("--"):
        return argument
    name, equals, value = argument.partition("=")
    return f"{name.replace('_', '-')}{equals}{value}"


def _complain(prog: str, error: Exception | str) -> None:
    # A sentence may have lines of its own; what it quotes comes from anywhere.
    text = "\n".join(map(harmless, str(error).split("\n")))
    sys.stderr.write(f"{prog}: error: {text}\n")
