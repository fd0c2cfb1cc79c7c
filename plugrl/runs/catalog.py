"""Which runs there are: one small file for each in the user's home, that names its folder."""

import hashlib
import time
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from plugrl.errors import RunRecordError, UnknownNameError, UsageError
from plugrl.runs.files import clear_away, read_json, write_json
from plugrl.runs.home import home, typed_path
from plugrl.runs.records import RUN_FILE, RunRecord, RunStatus, read_run, read_status

VERSION = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundRun:
    """A run whose folder can be read."""

    path: Path
    record: RunRecord
    status: RunStatus | None
    """None where it was killed before it wrote one, or where it is damaged."""


class SkippedRun(NamedTuple):
    """A run that was left out."""

    path: Path
    """Its folder, or its file in the catalogue where that can't be read."""
    reason: str
    gone: bool = False
    """Whether the folder is not there at all."""


class Runs(NamedTuple):
    """What is in the catalogue."""

    found: list[FoundRun]
    """The newest first."""
    skipped: list[SkippedRun]
    """Damaged and vanished ones."""


def register(run_dir: Path) -> None:
    """Add a run's folder; twice is once.

    Raises:
        OSError: the catalogue can't be written.
    """
    folder = run_dir.resolve()
    _catalogue().mkdir(parents=True, exist_ok=True)
    clear_away(_catalogue())
    entry = {"version": VERSION, "path": str(folder), "registered_at": time.time()}
    write_json(_entry(folder), entry)


def forget(run_dir: Path) -> None:
    """Take a run's folder out; the folder itself stays as it is.

    Raises:
        OSError: the catalogue can't be written.
    """
    _entry(run_dir.resolve()).unlink(missing_ok=True)


def find_runs() -> Runs:
    """Read the catalogue and the records of every run in it."""
    found: list[FoundRun] = []
    skipped: list[SkippedRun] = []
    for entry in sorted(_catalogue().glob("*.json")):
        try:
            path = _path_in(entry)
        except (FileNotFoundError, RunRecordError) as error:
            skipped.append(SkippedRun(entry, str(error)))
            continue
        run = _read(path)
        if isinstance(run, FoundRun):
            found.append(run)
        else:
            skipped.append(run)
    return Runs(sorted(found, key=lambda run: -run.record.created_at), skipped)


def find_run(name_or_path: str) -> FoundRun:
    """The run of that folder or name; ``ALGO/POLICY/NAME`` tells equal names apart.

    Raises:
        UnknownNameError: there is none.
        UsageError: there are several, or its record can't be read.
    """
    folder = typed_path(name_or_path)
    # What is too long for a path, or not ours to look into, may be a name still.
    try:
        is_folder = (folder / RUN_FILE).exists()
    except OSError:
        is_folder = False
    if is_folder:
        run = _read(folder.resolve())
        if isinstance(run, SkippedRun):
            raise UsageError(run.reason)
        return run
    runs = find_runs()
    wanted = Path(name_or_path).parts
    matching = [r for r in runs.found if wanted and r.path.parts[-len(wanted) :] == wanted]
    if len(matching) == 1:
        return matching[0]
    if not matching:
        names = {run.record.exp_name for run in runs.found}
        raise UnknownNameError("run", name_or_path, names, beside="the folder of a run")
    folders = "".join(f"\n  {run.path}" for run in matching)
    raise UsageError(
        f"expected the name of one run, got {name_or_path!r}, which {len(matching)} have; "
        f"name one by its folder:{folders}"
    )


def _read(path: Path) -> FoundRun | SkippedRun:
    try:
        record = read_run(path)
    except FileNotFoundError:
        gone = not path.exists()
        what = "the folder is gone" if gone else f"no {RUN_FILE} in it"
        return SkippedRun(path, f"{what}, at {path}", gone)
    except RunRecordError as error:
        return SkippedRun(path, str(error))
    try:
        status = read_status(path)
    except (FileNotFoundError, RunRecordError):
        status = None
    return FoundRun(path=path, record=record, status=status)


def _path_in(entry: Path) -> Path:
    data = read_json(entry)
    path = data.get("path")
    if data.get("version") != VERSION or not isinstance(path, str):
        raise RunRecordError(f"expected version {VERSION} and a path, got {data!r:.80}, at {entry}")
    return Path(path)


def _catalogue() -> Path:
    return home() / "runs"


def _entry(folder: Path) -> Path:
    return _catalogue() / f"{hashlib.sha256(str(folder).encode()).hexdigest()[:20]}.json"
