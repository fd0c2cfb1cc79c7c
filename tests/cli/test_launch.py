import os
import random
import signal
import socket
import time

import psutil
import pytest

from plugrl.cli import launch, launch_plan
from plugrl.cli.entry import run_guarded
from plugrl.config.server import LAUNCH_ID_VARIABLE, RunConfig, ServerConfig
from plugrl.errors import UsageError
from plugrl.runs.records import RunState, read_status
from plugrl.training.run_folder import RunFolder
from plugrl.training.step_folder import step_dirs, valid_steps

DUMMY = ("launch", "dummy-policy", "default", "dummy", "debug", "--env", "dummy-v1:state")
ENDLESS = (
    *(*DUMMY, "--algo.global-steps", "1e9", "--algo.fake-learn-freq", "100", "--port", "0"),
    # At a pace that leaves the machine to others.
    *("--algo.fake-inference-duration-sec", "0.002"),
)


def code_of(*argv: str) -> int:
    try:
        return run_guarded(launch.run, argv, "plugrl launch")
    except SystemExit as exit_:
        return int(exit_.code or 0)


def test_the_options_are_pinned(capsys, golden, options_of, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    names = ("gaussian-policy", "default", "ppo", "default")
    assert code_of(*names, "--env", "hopper", "--help") == 0
    golden("launch.txt", options_of(capsys.readouterr().out))


def test_the_hint_of_the_help_text_works_as_it_is_written(capsys):
    assert code_of("--help") == 0
    hint = capsys.readouterr().out.splitlines()[-1].partition("plugrl launch ")[2].split()
    assert code_of(*hint) == 0
    out = capsys.readouterr().out
    assert "--num-procs" in out
    assert "--algo.rollout-steps" in out


@pytest.mark.parametrize(
    ("argv", "sentence"),
    [
        ((), "expected POLICY VARIANT ALGO VARIANT, got nothing"),
        (("dummy-policy", "default", "dummy", "debug"), "expected --env NAME, one of acrobot,"),
        ((*DUMMY[1:5], "--env", "hoper"), "did you mean 'hopper'?"),
        ((*DUMMY[1:5], "--env", "hoper"), "or any Gymnasium id, or module:EnvClass"),
        ((*DUMMY[1:5], "--env", "gym-v1", "--env.id", "Reacher-v6"), "did you mean 'Reacher-v5'"),
        ((*DUMMY[1:5], "--env", "hopper", "--env.kwargs", '{"a": 1}'), "can't make 'Hopper-v5'"),
        ((*DUMMY[1:5], "--env", "no_such_module:MyEnv"), "No module named 'no_such_module'"),
        ((*DUMMY[1:], "--num-procs", "-1"), "expected at least 0, got -1, at --num-procs"),
        (("dummy-policy", "default", "dummy", "debug", "--num-procs", "1"), "expected --env NAME"),
        (
            (*DUMMY[1:5], "--num-procs", "0", "--max-episode-steps", "9"),
            "expected --env NAME beside --max-episode-steps",
        ),
        ((*DUMMY[1:], "--num-prox", "3"), "got --num-prox; did you mean --num-procs?"),
    ],
)
def test_a_mistake_is_one_clear_sentence_exit_2_and_no_folder(
    argv, sentence, capsys, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert code_of(*argv) == 2
    assert sentence in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        ((), "FileExistsError.*--resume to go on"),
        (("--resume",), "another process is training in"),
        (("--overwrite",), "another process is training in"),
    ],
)
def test_a_folder_that_may_not_be_used_is_refused_before_a_process_starts(
    flags, sentence, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    taken = RunFolder(RunConfig(exp_name="x"), algorithm="dummy", policy="dummy-policy")
    taken.open()
    monkeypatch.setattr(launch_plan, "try_apart", None)
    with pytest.raises(UsageError, match=sentence):
        launch.read_plan([*DUMMY[1:], "--exp-name", "x", *flags], "plugrl launch")


def test_a_plan_leaves_its_folder_to_others(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = RunConfig(exp_name="x", overwrite=True)
    for _ in range(2):
        launch.read_plan([*DUMMY[1:], "--exp-name", "x", "--overwrite"], "plugrl launch")
        folder = RunFolder(run, algorithm="dummy", policy="dummy-policy")
        folder.open()
        folder.close()


def test_without_the_extra_for_videos_it_is_a_mistake_too(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # Found before the installed one by the process that tries the env.
    (tmp_path / "imageio.py").write_text("raise ImportError('not installed')")
    assert code_of(*DUMMY[1:], "--video-every", "5") == 2
    assert "not installed; pip install 'plugrl[video]'" in capsys.readouterr().err
    assert not [
        path for path in tmp_path.iterdir() if path.name not in {"imageio.py", "__pycache__"}
    ]


def test_a_port_is_chosen_when_the_first_server_is_about_to_start(tmp_path, monkeypatch):
    chosen: list[int] = []

    def choose(config: ServerConfig) -> int:
        chosen.append(config.port)
        return 1234

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(launch_plan, "choose_port", choose)
    plan = launch.read_plan(DUMMY[1:], "plugrl launch")
    assert plan is not None
    assert chosen == []
    for _ in range(2):
        assert "--port=1234" in plan.server(1, None).argv
    assert "--port=99" in plan.server(2, 99).argv
    assert chosen == [8000]


def test_a_later_server_leaves_its_port_to_others_unless_it_was_asked_for(capsys):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        for asked, taken in (
            ("8000", "--port=0"),
            ("0", "--port=0"),
            (str(port), f"--port={port}"),
        ):
            plan = launch.read_plan([*DUMMY[1:], "--port", asked], "plugrl launch")
            assert plan is not None
            assert taken in plan.server(2, port).argv
    assert f"port {port} is taken meanwhile" in capsys.readouterr().err


def test_env_clients_from_elsewhere_are_told_how_to_join_once(capsys, monkeypatch):
    monkeypatch.delenv("PLUGRL_API_KEY", raising=False)
    plan = launch.read_plan(
        # An env that can't be made on this machine need not be.
        [*DUMMY[1:5], "--env", "hopper", "--env.kwargs", '{"a": 1}', "--num-procs", "0"],
        "plugrl launch",
    )
    assert plan is not None
    assert plan.provenance.clients is not None
    assert plan.provenance.clients["num_procs"] == 0
    assert plan.clients("ws://127.0.0.1:8000") is None
    assert plan.clients("ws://127.0.0.1:8000") is None
    assert capsys.readouterr().out == (
        "env clients are waited for, on this machine; --host 0.0.0.0 lets others in:\n"
        "  plugrl-run-env-client hopper --env.kwargs '{\"a\": 1}' "
        "--server-host ws://127.0.0.1:8000\n"
    )


@pytest.mark.integration
def test_a_launch_without_env_clients_is_trained_by_those_that_come(start):
    run = start(*DUMMY[:5], "--num-procs", "0", "--port", "0", "--exp-name", "x")
    command = run.wait_for(r"plugrl-run-env-client ENV (--server-host ws://127.0.0.1:\d+)")
    client = ("run-env-client", "dummy-v1:state", *command[1].split())
    assert start(*client, "--num-episodes", "9").finish()[0] == 0
    code, output = run.finish()
    assert code == 0, output
    assert "step 64/64" in output


@pytest.mark.integration
def test_a_launch_trains_to_the_end_and_leaves_no_process(start, tmp_path):
    with socket.socket() as taken:
        # The usual port may be taken by anybody; then it is any free one.
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            taken.bind(("127.0.0.1", 8000))
            taken.listen()
        except OSError:
            pass
        run = start(*DUMMY, "--exp-name", "x", "--num-procs", "2", "--num-envs", "2")
        code, output = run.finish()
    assert code == 0, output
    assert "step 64/64" in output
    assert "port 8000 is taken" in output
    assert 64 in valid_steps(tmp_path / "checkpoints" / "dummy" / "dummy-policy" / "x")
    assert run.family() == []


@pytest.mark.integration
def test_env_clients_of_a_launch_do_nothing_for_the_server_of_another(start, tmp_path, monkeypatch):
    server = start("run-server", *DUMMY[1:5], "--port", "0", "--exp-name", "x")
    url = server.wait_for(r"listening on (ws://\S+)")[1]
    monkeypatch.setenv(LAUNCH_ID_VARIABLE, "another launch")
    client = ("run-env-client", "dummy-v1:state", "--server-host", url, "--retry-limit", "1")
    code, output = start(*client).finish()
    assert code == 1
    assert "expected this launch's server, got another's, at " in output
    server.process.send_signal(signal.SIGINT)
    assert server.finish()[0] == 0
    assert valid_steps(tmp_path / "checkpoints" / "dummy" / "dummy-policy" / "x") == [0]


@pytest.mark.integration
def test_an_env_of_a_persons_own_is_trained_by_its_class(start, tmp_path):
    (tmp_path / "my_env.py").write_text(
        "import gymnasium\n"
        "import numpy as np\n"
        "class MyEnv(gymnasium.Env):\n"
        "    observation_space = gymnasium.spaces.Box(-1, 1, (5,))\n"
        "    action_space = gymnasium.spaces.Box(-1, 1, (2,))\n"
        "    def reset(self, *, seed=None, options=None):\n"
        "        return np.zeros(5, np.float32), {}\n"
        "    def step(self, action):\n"
        "        assert action.shape == (2,)\n"
        "        return np.zeros(5, np.float32), 1.0, False, False, {}\n"
    )
    run = start(
        *("launch", "dummy-policy", "default", "dummy", "debug", "--env", "my_env:MyEnv"),
        *("--policy.action-dim", "2", "--max-episode-steps", "9", "--port", "0"),
    )
    code, output = run.finish()
    assert code == 0, output
    assert "step 64/64" in output


@pytest.mark.integration
def test_a_signal_to_the_launcher_saves_and_exits_with_0(start, tmp_path):
    run = start(*ENDLESS, "--num-procs", "2", "--exp-name", "x")
    run.wait_for(r"step \d")
    assert len(run.family()) >= 5
    run.process.send_signal(signal.SIGTERM)
    code, output = run.finish()
    assert code == 0, output
    assert "saved " in output
    assert valid_steps(tmp_path / "checkpoints" / "dummy" / "dummy-policy" / "x")
    assert run.family() == []


@pytest.mark.integration
def test_a_finished_run_that_is_resumed_says_so_and_starts_no_client(start, tmp_path):
    arguments = (*DUMMY, "--port", "0", "--exp-name", "x")
    assert start(*arguments).finish()[0] == 0
    code, output = start(*arguments, "--resume").finish()
    assert code == 0, output
    folder = "checkpoints/dummy/dummy-policy/x"
    assert (
        f"nothing to train: {folder} is done at step 64; raise --algo.global-steps to go on\n"
    ) in output
    assert "connected to" not in output
    assert "no server" not in output
    status = read_status(tmp_path / folder)
    assert (status.state, status.attempt, status.url) == (RunState.DONE, 2, None)


@pytest.mark.integration
@pytest.mark.parametrize(
    ("victim", "code"),
    [
        ("plugrl.cli.main", -signal.SIGKILL),
        ("child", 128 + signal.SIGKILL),
        ("run-env-client", 128 + signal.SIGKILL),
    ],
)
def test_whoever_is_killed_all_of_them_end(start, victim, code, tmp_path):
    run = start(*ENDLESS, "--num-procs", "2", "--exp-name", "x")
    run.wait_for(r"step \d")
    word = "run-server" if victim == "child" else victim
    family = run.family()
    os.kill(run.family(word)[0].pid, signal.SIGKILL)
    assert run.finish()[0] == code
    _, alive = psutil.wait_procs(family, timeout=20)
    assert alive == []
    assert run.family() == []
    status = read_status(tmp_path / "checkpoints" / "dummy" / "dummy-policy" / "x")
    if victim == "child":
        assert status.state is RunState.FAILED
        assert status.reason == "the server was ended by SIGKILL"


@pytest.mark.slow
@pytest.mark.integration
@pytest.mark.timeout(900)
def test_a_server_killed_at_any_moment_resumes_from_a_whole_checkpoint(start, tmp_path):
    moments = random.Random(0)
    folder = tmp_path / "checkpoints" / "ppo" / "gaussian-policy" / "x"
    arguments = (
        *("launch", "gaussian-policy", "default", "ppo", "debug", "--env", "pendulum"),
        *("--algo.global-steps", "1e9", "--port", "0", "--exp-name", "x", "--num-envs", "2"),
    )
    newest = 0
    for attempt in range(30):
        run = start(*arguments, *(("--resume",) if attempt else ()))
        for _ in range(moments.randint(1, 4)):
            run.wait_for(r"step \d")
        (server,) = run.family("run-server")
        # What varies is the moment, within a learn, a save or a rollout.
        time.sleep(moments.uniform(0, 0.3))
        server.kill()
        code, output = run.finish()
        assert code == 128 + signal.SIGKILL, output
        assert "damaged" not in output
        assert [int(p.name) for p in step_dirs(folder)] == valid_steps(folder)
        assert valid_steps(folder)[-1] >= newest
        newest = valid_steps(folder)[-1]
