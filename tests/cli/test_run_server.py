import signal
import socket
import subprocess
import sys

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from plugrl.cli import run_server
from plugrl.cli.entry import run_guarded
from plugrl.runs.records import RunState, read_status
from plugrl.training.step_folder import valid_steps

DUMMY = ("dummy-policy", "default", "dummy", "debug")
PPO = ("gaussian-policy", "default", "ppo", "debug")


def code_of(*argv: str) -> int:
    try:
        return run_guarded(run_server.run, argv, "plugrl-run-server")
    except SystemExit as exit_:
        return int(exit_.code or 0)


def test_the_options_are_pinned(capsys, golden, options_of, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    assert code_of(*PPO, "--help") == 0
    golden("run-server.txt", options_of(capsys.readouterr().out))


def test_help_without_names_says_what_there_is(capsys):
    assert code_of("--help") == 0
    out = capsys.readouterr().out
    assert out.startswith("usage: plugrl-run-server POLICY VARIANT ALGO VARIANT [OPTIONS]")
    for word in ("gaussian-policy", "categorical-policy", "ppo", "eval", "debug"):
        assert word in out


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        ((), "expected POLICY VARIANT ALGO VARIANT, got nothing; see 'plugrl-run-server --help'"),
        (("dummy-policy",), "expected POLICY VARIANT ALGO VARIANT, got dummy-policy"),
        (("gausian-policy",), "unknown policy 'gausian-policy', did you mean 'gaussian-policy'?"),
        (("dummy-policy", "defalt", "dummy", "default"), "did you mean 'default'?"),
        (("dummy-policy", "default", "pppo", "default"), "unknown algorithm 'pppo'"),
        ((*PPO, "--env", "hoper"), "unknown env 'hoper', did you mean 'hopper'?"),
        ((*PPO, "--env", "gym-v1", "--env.id", "Hoper-v5"), "did you mean 'Hopper-v5'"),
        ((*PPO, "--env", "no_such_module:MyEnv"), "No module named 'no_such_module'"),
        ((*PPO, "--import", "no_such_module"), "can't import --import no_such_module"),
        (PPO, "give --env NAME"),
        (
            ("dummy-policy", "default", "ppo", "default"),
            "which 'dummy-policy' has not; choose one of categorical-policy, gaussian-policy",
        ),
        ((*PPO, "--env", "hopper", "--policy.device", "nowhere"), "at --policy.device"),
        ((*DUMMY, "--port", "70000"), "expected 0 to 65535, got 70000, at --port"),
        ((*DUMMY, "--host", ""), "expected an address"),
        ((*DUMMY, "--num-threads", "1e12"), "expected 1 to 65536"),
        ((*DUMMY, "--policy.device", "meta"), "at --policy.device"),
        ((*DUMMY, "--resume"), "error: expected --exp-name NAME beside --resume, got none\n"),
        ((*DUMMY, "--resume", "--exp-name", "x"), "FileNotFoundError"),
        ((*DUMMY, "--algo.save-interval", "0"), "got 0, at --algo.save-interval"),
        ((*DUMMY, "--algo.fake-learn-freq", "0"), "expected at least 1, got 0"),
        ((*DUMMY, "--resume", "true"), "Unrecognized options: true"),
        ((*DUMMY, "--track.enabled", "true"), "Unrecognized options: true"),
        ((*DUMMY, "--track.tracker", "comet"), "invalid choice"),
        ((*DUMMY, "--log-level", "loud"), "invalid choice"),
        ((*DUMMY, "--algo.fake-lern-freq", "3"), "--algo.fake-learn-freq"),
        (
            (
                *("gaussian-policy", "default", "eval", "default", "--env", "hopper"),
                *("--algo.policy-checkpoint-path", "/nowhere"),
            ),
            "no checkpoint at /nowhere",
        ),
    ],
)
def test_a_mistake_is_one_clear_sentence_exit_2_and_no_folder(
    argv, sentence, capsys, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "300")
    assert code_of(*argv) == 2
    error = capsys.readouterr().err
    assert sentence.lower() in error.lower()
    assert "Traceback" not in error
    assert list(tmp_path.iterdir()) == []


def test_a_taken_port_is_a_mistake_too(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert code_of(*DUMMY, "--port", str(taken.getsockname()[1])) == 2
    assert "choose another --port" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_without_the_server_packages_it_says_what_to_install(tmp_path):
    code = (
        "import sys\n"
        "class NoTorch:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'torch':\n"
        "            raise ModuleNotFoundError(name, name=name)\n"
        "sys.meta_path.insert(0, NoTorch())\n"
        f"sys.argv = ['plugrl-run-server', *{PPO}]\n"
        "from plugrl.cli.run_server import main\n"
        "main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.returncode == 2
    assert done.stderr == (
        "plugrl-run-server: error: the server needs torch, which is not installed: "
        "pip install 'plugrl[server]'\n"
    )


@pytest.mark.integration
def test_a_key_that_had_to_be_made_is_written_with_the_clients_command(start):
    server = start("run-server", *DUMMY, "--host", "0.0.0.0", "--port", "0")
    found = server.wait_for(r"plugrl-run-env-client ENV --server-host ws://(\S+) --api-key (\S+)")
    port, key = found[1].rpartition(":")[2], found[2]
    arguments = ("run-env-client", "dummy-v1", "--server-port", port)
    code, output = start(*arguments, "--api-key", "wrong").finish()
    assert code == 2, output
    code, output = start(*arguments, "--api-key", key).finish()
    assert code == 0, output
    assert server.finish()[0] == 0


@pytest.mark.integration
def test_a_server_and_a_client_meet_train_and_end_well(start, tmp_path):
    server = start("run-server", *DUMMY, "--port", "0", "--exp-name", "x")
    port = server.wait_for(r"listening on ws://127.0.0.1:(\d+)")[1]
    client = start("run-env-client", "dummy-v1", "--server-port", port)
    assert client.finish()[0] == 0
    code, output = server.finish()
    assert code == 0
    assert "step 64/64 (100%)" in output
    folder = tmp_path / "checkpoints" / "dummy" / "dummy-policy" / "x"
    assert 64 in valid_steps(folder)
    assert (folder / "metrics.jsonl").exists()


@pytest.mark.integration
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_saves_and_exits_with_0(start, tmp_path, number):
    server = start("run-server", *DUMMY, "--port", "0", "--exp-name", "x")
    url = server.wait_for(r"listening on (ws://\S+)")[1]
    with connect(url, compression=None) as client:
        client.recv()
        server.process.send_signal(number)
        with pytest.raises(ConnectionClosed, match="plugrl-server-stop"):
            client.recv()
    assert server.finish()[0] == 0
    folder = tmp_path / "checkpoints" / "dummy" / "dummy-policy" / "x"
    assert [p.name for p in folder.iterdir() if p.is_dir()] == ["0"]
    assert read_status(folder).state is RunState.STOPPED
