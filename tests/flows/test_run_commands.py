"""``plugrl-flow list``, ``show`` and ``cancel``, and ``plugrl ui``."""

import json
import shutil
import signal
import subprocess
import sys
import time

import pytest

from flows import cancel_run, list_runs, show_run, ui
from plugrl.errors import UnknownNameError, UsageError
from plugrl.runs import catalog, liveness, records
from plugrl.runs.prefect_api import API_VARIABLE, ui_url
from plugrl.runs.records import Event, RunState
from tests.flows.runs_by_hand import GONE, begin, make_run


@pytest.fixture(autouse=True)
def own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("PLUGRL_HOME", str(tmp_path / "home"))
    monkeypatch.delenv(API_VARIABLE, raising=False)


@pytest.mark.parametrize(
    ("command", "prog"),
    [
        (list_runs, "plugrl-flow list"),
        (show_run, "plugrl-flow show"),
        (cancel_run, "plugrl-flow cancel"),
        (ui, "plugrl ui"),
    ],
)
def test_the_help_text_is_this(command, prog, capsys, monkeypatch, golden):
    monkeypatch.setenv("COLUMNS", "100")
    with pytest.raises(SystemExit):
        command.run(["--help"], prog)
    golden(f"{prog.split()[-1]}.txt", capsys.readouterr().out)


def test_the_list_says_how_each_run_is_and_why(tmp_path, capsys):
    make_run(tmp_path, "lost", RunState.RUNNING, **GONE)
    make_run(tmp_path, "failed", RunState.FAILED, reason="the loss is nan")
    assert list_runs.run([], "plugrl-flow list") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == [
        *("RUN", "STATE", "STEP", "ALGORITHM", "POLICY", "ENV", "STARTED", "WHY")
    ]
    by_name = {line.split()[0]: line for line in lines[1:]}
    assert "4,096 / 1,000,000" in by_name["lost"]
    assert by_name["lost"].split()[1] == "LOST"
    assert by_name["lost"].endswith(f"(pid {GONE['pid']}) is gone without a last word")
    assert by_name["failed"].endswith("the loss is nan")


def test_a_run_that_left_no_last_word_on_a_full_disk_is_told_with_it(tmp_path, capsys, monkeypatch):
    make_run(tmp_path, "lost", RunState.RUNNING, **GONE)
    full = shutil.disk_usage(tmp_path)._replace(free=0)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: full)
    assert list_runs.run([], "plugrl-flow list") == 0
    out = capsys.readouterr().out
    assert out.endswith("is gone without a last word; the disk of its folder is full\n")


def test_a_run_without_a_status_is_lost_and_a_damaged_one_is_named(tmp_path, capsys):
    (make_run(tmp_path, "bare", RunState.DONE) / "status.json").unlink()
    damaged = make_run(tmp_path, "damaged", RunState.DONE)
    (damaged / "run.json").write_text("{")
    list_runs.run([], "plugrl-flow list")
    out = capsys.readouterr().out
    assert "LOST" in out
    assert "its status.json is missing or damaged" in out
    assert "1 left out:\n  expected a JSON object" in out
    assert str(damaged) in out


def test_the_first_list_says_how_to_begin(capsys):
    list_runs.run([], "plugrl-flow list")
    assert (
        capsys.readouterr().out == "no runs yet; plugrl-flow train --help says how to start one\n"
    )


def test_runs_whose_folder_is_gone_are_named_until_they_are_forgotten(tmp_path, capsys):
    make_run(tmp_path, "kept", RunState.DONE)
    for number in range(7):
        shutil.rmtree(make_run(tmp_path, f"gone-{number}", RunState.DONE))
    list_runs.run([], "plugrl-flow list")
    out = capsys.readouterr().out
    assert "7 left out; --forget-gone forgets those:\n  the folder is gone, at " in out
    assert out.endswith("  and 2 more\n")
    list_runs.run(["--forget-gone"], "plugrl-flow list")
    assert "left out" not in capsys.readouterr().out
    assert [run.record.exp_name for run in catalog.find_runs().found] == ["kept"]


def test_a_long_list_ends_with_how_to_see_the_rest(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(list_runs, "DEFAULT_LIMIT", 1)
    for name in ("one", "two"):
        make_run(tmp_path, name, RunState.DONE)
    list_runs.run([], "plugrl-flow list")
    assert capsys.readouterr().out.endswith("and 1 older; --all shows them\n")
    list_runs.run(["--all"], "plugrl-flow list")
    assert len(capsys.readouterr().out.splitlines()) == 3


def test_the_list_as_json_has_the_records(tmp_path, capsys):
    folder = make_run(tmp_path, "one", RunState.RUNNING, **GONE)
    list_runs.run(["--json"], "plugrl-flow list")
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert (run["path"], run["state"]) == (str(folder), "LOST")
    assert run["record"]["exp_name"] == "one"
    assert run["status"]["state"] == "RUNNING"


def test_a_run_is_shown_with_its_facts_and_what_happened(tmp_path, capsys):
    folder = make_run(tmp_path, "one", RunState.FAILED, reason="the loss is nan", attempt=2)
    for event in (
        *(Event(event="learn", attempt=1, step=step) for step in range(100)),
        Event(
            event="crashed",
            attempt=1,
            step=99,
            details={"why": "killed by signal 9", "pause_s": 1.1971723574571291},
        ),
    ):
        records.append_event(folder, event)
    assert show_run.run(["one"], "plugrl-flow show") == 0
    out = capsys.readouterr().out
    facts = {line.split()[0]: line for line in out.splitlines() if line}
    assert facts["state"].endswith("FAILED: the loss is nan")
    assert facts["folder"].endswith(str(folder))
    assert facts["last"].endswith(str(folder / "2048"))
    assert "crashed  why killed by signal 9, pause_s 1.2" in out
    assert "events, 2 of 102 (--json: all):" in out
    assert "learn" not in out
    show_run.run(["one", "--json"], "plugrl-flow show")
    assert len(json.loads(capsys.readouterr().out)["events"]) == 102


def test_a_run_whose_history_cannot_be_had_says_why(tmp_path, capsys, monkeypatch, free_port):
    make_run(tmp_path, "one", RunState.DONE, flow_run_id="f")
    show_run.run(["one"], "plugrl-flow show")
    assert "in Prefect: its API is not up; plugrl ui starts it" in capsys.readouterr().out
    monkeypatch.setenv(API_VARIABLE, f"http://127.0.0.1:{free_port()}/api")
    show_run.run(["one"], "plugrl-flow show")
    assert "in Prefect: expected an answer of Prefect at" in capsys.readouterr().out


def test_what_prefect_remembers_is_shown_below(prefect_api, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv(API_VARIABLE, prefect_api)
    flow_run_id, _ = begin()
    page = f"{ui_url(prefect_api)}/runs/flow-run/{flow_run_id}"
    make_run(
        tmp_path,
        "one",
        RunState.RUNNING,
        **GONE,
        flow_run_id=flow_run_id,
        flow_run_url=page,
        url="ws://127.0.0.1:1",
    )
    show_run.run(["one"], "plugrl-flow show")
    out = capsys.readouterr().out
    assert "listens at       ws://127.0.0.1:1\n" in out
    history = out.partition(f"\n\nin Prefect, {page}\n")[2].splitlines()
    assert history[1].split()[1] == "Running"
    assert len(history) == 3
    assert history[2].startswith("    ")
    show_run.run(["one", "--json"], "plugrl-flow show")
    (told,) = json.loads(capsys.readouterr().out)["prefect"]
    assert told["id"] == flow_run_id
    assert [attempt["state"] for attempt in told["attempts"]] == ["Running"]


def test_an_unknown_run_is_no_run():
    for command in (show_run, cancel_run):
        with pytest.raises(UnknownNameError, match="unknown run 'nobody'"):
            command.run(["nobody"], "plugrl-flow")


# Takes SIGTERM as a supervisor does: the final record comes first, then the end.
SUPERVISOR = """
import signal, sys
from pathlib import Path
from plugrl.runs import records
from plugrl.runs.records import RunState

def stop(*_):
    records.update_status(Path(sys.argv[1]), state=RunState[sys.argv[2]], reason="so it ended")
    sys.exit(0)

signal.signal(signal.SIGTERM, stop)
print("ready", flush=True)
signal.pause()
"""


@pytest.mark.parametrize(("end", "code"), [("STOPPED", 0), ("DONE", 0), ("FAILED", 1)])
def test_a_run_is_cancelled_by_its_process_and_waited_for(tmp_path, capsys, end, code):
    folder = make_run(tmp_path, "one", RunState.RUNNING)
    command = [sys.executable, "-c", SUPERVISOR, str(folder), end]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as supervisor:
        assert supervisor.stdout is not None
        assert supervisor.stdout.readline() == "ready\n"
        started = liveness.started_at(supervisor.pid)
        records.update_status(folder, pid=supervisor.pid, pid_started=started)
        assert cancel_run.run(["one"], "plugrl-flow cancel") == code
        assert supervisor.wait(60) == 0
    why = ": so it ended" if code else ""
    assert capsys.readouterr().out == (
        "one was asked to stop; waiting until it has saved ...\n"
        f"one is {end} at step 4,096 / 1,000,000{why}; its checkpoint is {folder / '2048'}\n"
    )


def test_a_run_that_does_not_end_in_time_is_a_failure_with_where_to_look(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr(cancel_run, "TIMEOUT_S", 0.0)
    folder = make_run(tmp_path, "one", RunState.RUNNING)
    deaf = "import signal; signal.signal(15, signal.SIG_IGN); print('ready', flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", deaf], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        started = liveness.started_at(process.pid)
        records.update_status(folder, pid=process.pid, pid_started=started)
        assert cancel_run.run(["one", "--no-wait"], "plugrl-flow cancel") == 0
        assert cancel_run.run(["one"], "plugrl-flow cancel") == 1
        assert process.poll() is None
        process.send_signal(signal.SIGKILL)
    assert "one goes on after 0 s: RUNNING; see its log.txt" in capsys.readouterr().out


def test_a_run_of_another_user_is_refused_with_the_reason(tmp_path, monkeypatch):
    def refuse(pid: int, number: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    make_run(tmp_path, "one", RunState.RUNNING)
    monkeypatch.setattr(cancel_run, "_process_of", lambda run: 12)
    monkeypatch.setattr("os.kill", refuse)
    with pytest.raises(UsageError, match="stop one, whose process is 12, got Operation not"):
        cancel_run.run(["one"], "plugrl-flow cancel")


@pytest.mark.parametrize(
    ("state", "status", "complaint"),
    [
        (RunState.DONE, {}, "expected a run that goes on, got one, which is DONE"),
        (RunState.RUNNING, GONE, "got one, whose process is gone"),
        (RunState.RUNNING, {"host": "elsewhere"}, "one runs on elsewhere; cancel it there"),
    ],
)
def test_a_run_that_cannot_be_cancelled_is_refused(tmp_path, state, status, complaint):
    make_run(tmp_path, "one", state, **status)
    with pytest.raises(UsageError, match=complaint):
        cancel_run.run(["one"], "plugrl-flow cancel")


def test_the_ui_prints_its_page_and_that_of_a_run(prefect_api, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv(API_VARIABLE, prefect_api)
    make_run(tmp_path, "known", RunState.DONE, flow_run_id="f")
    make_run(tmp_path, "unknown", RunState.DONE)
    assert ui.run(["--no-open"], "plugrl ui") == 0
    assert ui.run(["known"], "plugrl ui") == 0
    home = ui_url(prefect_api)
    assert capsys.readouterr().out == f"{home}\n{home}/runs/flow-run/f\n"
    with pytest.raises(UsageError, match="expected a run that Prefect knows, got 'unknown'"):
        ui.run(["unknown"], "plugrl ui")


def test_the_ui_says_whether_there_is_one(prefect_api, capsys, monkeypatch, free_port):
    assert ui.run(["--status"], "plugrl ui") == 1
    assert "no local Prefect API is up" in capsys.readouterr().out
    assert ui.run(["--stop"], "plugrl ui") == 0
    assert capsys.readouterr().out == "no local Prefect API was up\n"
    monkeypatch.setenv(API_VARIABLE, prefect_api)
    assert ui.run(["--status"], "plugrl ui") == 0
    assert capsys.readouterr().out == f"{prefect_api} is up\n"
    with pytest.raises(UsageError, match="not ours to stop"):
        ui.run(["--stop"], "plugrl ui")
    away = f"http://127.0.0.1:{free_port()}/api"
    monkeypatch.setenv(API_VARIABLE, away)
    assert ui.run(["--status"], "plugrl ui") == 1
    assert capsys.readouterr().out == f"{away} does not answer\n"


def test_a_run_that_was_begun_long_ago_is_told_in_words(tmp_path, capsys):
    folder = make_run(tmp_path, "one", RunState.DONE, updated_at=time.time() - 90_000)
    assert catalog.find_run("one").path == folder
    show_run.run(["one"], "plugrl-flow show")
    assert "1 d 1 h ago" in capsys.readouterr().out
