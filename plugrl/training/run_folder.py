"""The folder of a run: its name, whose it is, and when it comes into being."""

import fcntl
import os
import secrets
import shutil
from datetime import datetime

from plugrl.config.server import RunConfig
from plugrl.errors import CheckpointNotFoundError, RunExistsError, UsageError
from plugrl.training import step_folder


class RunFolder:
    """``<checkpoint-base-dir>/<algo_uid>/<policy_uid>/<exp-name>``, owned by one process."""

    def __init__(self, config: RunConfig, *, algorithm: str, policy: str) -> None:
        """Choose the folder and make sure that it may be used; nothing is written yet.

        Raises:
            RunExistsError: it exists, and neither resume nor overwrite was asked for.
            CheckpointNotFoundError: it does not exist, and resume was asked for.
            UsageError: another process is using it.
        """
        self.name = config.exp_name or fresh_name()
        self.path = config.checkpoint_base_dir / algorithm / policy / self.name
        self._overwrite = config.overwrite
        self._lock: int | None = None
        if not self._exists():
            if config.resume:
                raise CheckpointNotFoundError(
                    f"nothing to resume, there is no folder {self.path} (FileNotFoundError); "
                    "start without --resume, or check --checkpoint-base-dir and --exp-name"
                )
        elif config.resume or config.overwrite:
            self._acquire()
        else:
            raise RunExistsError(
                f"the run's folder {self.path} exists (FileExistsError); "
                "use --resume to go on, --overwrite to delete it, or another --exp-name"
            )

    def open(self) -> None:
        """Make the folder, empty it if it is to be overwritten, and clear away dead writes.

        Raises:
            UsageError: it can't be made.
        """
        if self._overwrite and self.path.exists():
            self.close()
            shutil.rmtree(self.path)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._unusable(error) from error
        if self._lock is None:
            self._acquire()
        step_folder.clean(self.path)

    def close(self) -> None:
        """Let other processes use the folder."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _exists(self) -> bool:
        try:
            return self.path.exists()
        except OSError as error:
            raise self._unusable(error) from error

    def _unusable(self, error: OSError) -> UsageError:
        return UsageError(
            f"can't make the run's folder {self.path}: {error.strerror}; choose another "
            "--checkpoint-base-dir or --exp-name"
        )

    def _acquire(self) -> None:
        descriptor = os.open(self.path, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(descriptor)
            raise UsageError(
                f"another process is training in {self.path}; "
                "wait until it has ended, or choose another --exp-name"
            ) from error
        self._lock = descriptor


def fresh_name() -> str:
    """A name for a run that nobody named, told by the time."""
    # The random end keeps two runs apart that start in the same second.
    return f"{datetime.now():%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"  # noqa: DTZ005
