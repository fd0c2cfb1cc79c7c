import itertools
import logging

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

from plugrl.client import run as run_module
from plugrl.client.run import ClientSummary, run_env_client, run_processes
from plugrl.config.client import ClientConfig
from plugrl.config.dummy import DummyEnvConfig
from plugrl.config.gymnasium import GymnasiumEnvConfig
from plugrl.config.probe import ProbeEnvConfig
from plugrl.envs.base import VectorEnv
from plugrl.envs.dummy import DummyEnv
from plugrl.envs.probe import ProbeEnv
from plugrl.errors import ConnectionLostError, EnvError, IncompatibleError, ProtocolError
from plugrl.framing import binary_frame
from plugrl.protocol import wire
from plugrl.protocol.messages import Action, Metadata

STOP = (1001, "plugrl-server-stop")


class Blind(gym.Env):
    """Sees NaN after its first step."""

    observation_space = spaces.Box(-1, 1, (1,), np.float64)
    action_space = spaces.Box(-1, 1, (7,), np.float32)

    def reset(self, *, seed=None, options=None):
        return np.zeros(1), {}

    def step(self, action):
        return np.full(1, np.nan), 0.0, False, False, {}


class Failing(VectorEnv):
    num_envs = 1

    def __init__(self, *args):
        self.closed = False

    def reset(self, env_indices, seeds):
        raise ZeroDivisionError("a bug of the env")

    def step(self, env_indices, actions):
        raise AssertionError

    def close(self):
        self.closed = True


def probe(num_envs=2):
    return ProbeEnv(ProbeEnvConfig(), num_envs)


def config_of(thread, **fields):
    return ClientConfig(**{"server_port": thread.port, "retry_first_s": 0.01} | fields)


def test_it_leaves_after_the_wanted_episodes_and_says_what_it_did(policy_server):
    server = policy_server()
    summary = server.run(probe(1), num_episodes=2)
    assert (summary.num_episodes, summary.num_steps, summary.mean_return) == (2, 6, 3.0)
    assert not summary.server_stopped
    assert server.thread.wait_for_closes() == [(1000, "")]


def test_it_leaves_when_the_server_stops_and_does_not_come_back(policy_server):
    server = policy_server(endings=[(4, "stop")])
    summary = server.run(probe(1))
    assert summary.server_stopped
    assert summary.num_episodes == 1
    assert len(server.thread.connects) == 1


def test_a_gymnasium_env_or_several_of_them_will_do(policy_server):
    server = policy_server(act=lambda m: np.zeros((1, len(m.obs), 1), np.int64))
    server.run(gym.make("CartPole-v1"), num_episodes=1)
    assert len(server.infers[-1].obs) == 1
    server.run([gym.make("CartPole-v1") for _ in range(3)], num_episodes=1)
    assert len(server.infers[-1].obs) == 3


def test_the_env_stays_open_for_its_owner(policy_server):
    server = policy_server(endings=[(0, "stop")])
    env = Failing()
    with pytest.raises(ZeroDivisionError):
        server.run(env)
    assert not env.closed


def test_the_seed_of_the_config_holds_unless_another_is_given(policy_server):
    server = policy_server(act=lambda m: np.zeros((1, len(m.obs), 1), np.int64))
    for fields, seed in (({}, 5), ({"first_seed": 9}, 9)):
        run_env_client(gym.make("CartPole-v1"), server.config(num_episodes=1, seed=5), **fields)
        expected = gym.make("CartPole-v1").reset(seed=seed)[0]
        first = next(m for m in reversed(server.infers) if m.step_ids[0] == 0)
        assert np.array_equal(first.obs.states["state"][0], expected)


def test_a_stop_on_connect_is_a_stop(serving):
    async def handler(ws):
        await ws.close(*STOP)

    thread = serving(handler)
    assert run_env_client(probe(), config_of(thread)).server_stopped
    assert run_processes("probe-v1", ProbeEnvConfig(), config_of(thread)) == 0
    assert len(thread.connects) == 2


def test_a_server_that_accepts_and_closes_is_met_with_growing_pauses(serving):
    async def handler(ws):
        await ws.close()

    thread = serving(handler)
    config = config_of(thread, retry_first_s=0.05, retry_max_s=0.3, retry_limit=5)
    with pytest.raises(ConnectionLostError, match="gave up after 5 attempts in a row"):
        run_env_client(probe(), config)
    gaps = [after - before for before, after in itertools.pairwise(thread.connects)]
    assert len(gaps) == 4
    assert all(gap >= least for gap, least in zip(gaps, [0.05, 0.1, 0.2, 0.2], strict=True))


def test_a_server_that_greets_and_closes_is_backed_off_too(serving):
    async def handler(ws):
        await ws.send(wire.encode(Metadata({})))
        await ws.recv()
        await ws.close(1001, "plugrl-server-resync")

    thread = serving(handler)
    with pytest.raises(ConnectionLostError, match=r"gave up after 3 .*plugrl-server-resync"):
        run_env_client(probe(), config_of(thread, retry_limit=3))
    assert len(thread.connects) == 3


def test_a_server_that_refuses_every_infer_is_left_after_five(serving, caplog):
    async def handler(ws):
        await ws.send(wire.encode(Metadata({})))
        await ws.recv()
        await ws.close(1001, "plugrl-server-resync")

    thread = serving(handler)
    config = config_of(thread, retry_max_s=0.01)
    assert run_processes("probe-v1", ProbeEnvConfig(), config) == 2
    assert "the server keeps refusing what this client sends" in caplog.text
    assert len(thread.connects) == 5


def test_a_server_of_another_env_is_left_at_its_greeting(policy_server, caplog):
    server = policy_server(metadata={"obs_dim": 11, "action_dim": 3, "num_choices": []})
    walker = GymnasiumEnvConfig(id="Walker2d-v5")
    assert run_processes("gym-v1", walker, server.config()) == 2
    assert "this server wants states 11 wide in all, the env has 17" in caplog.text
    assert len(server.thread.connects) == 1
    assert server.infers == []


def test_after_a_connection_that_was_of_use_the_count_of_failures_begins_anew(policy_server):
    server = policy_server(endings=[(2, "abort")] * 4)
    summary = server.run(probe(1), num_episodes=3, retry_limit=2)
    assert summary.num_episodes == 3
    assert len(server.thread.connects) == 5


def test_a_server_that_takes_no_feedback_is_of_no_use(policy_server):
    server = policy_server(endings=[(1, "resync")] * 9)
    with pytest.raises(ConnectionLostError, match=r"gave up after 3 .*plugrl-server-resync"):
        server.run(probe(1), retry_limit=3)
    assert [kind for _, kind in server.order].count("feedback") == 3


def test_a_silent_server_is_left_after_the_receive_timeout(serving):
    async def handler(ws):
        await ws.wait_closed()

    thread = serving(handler)
    config = config_of(thread, receive_timeout_s=0.05, retry_limit=2)
    with pytest.raises(ConnectionLostError, match=r"gave up .* nothing came for 0.05 s"):
        run_env_client(probe(), config)
    assert len(thread.connects) == 2


@pytest.mark.parametrize(
    "frame",
    [
        "text",
        b"\xc1 garbage",
        wire.encode(Action(None, np.zeros((1, 2, 7)))),
    ],
)
def test_a_server_that_breaks_the_protocol_is_left_for_good(serving, frame):
    received = []

    async def handler(ws):
        await ws.send(frame)
        received.extend([message async for message in ws])

    thread = serving(handler)
    with pytest.raises(ProtocolError):
        run_env_client(probe(), config_of(thread))
    assert thread.wait_for_closes()[0][0] == 1002
    assert (len(thread.connects), received) == (1, [])


def test_actions_for_another_number_of_envs_break_the_protocol(serving):
    async def handler(ws):
        await ws.send(wire.encode(Metadata({})))
        await ws.recv()
        await ws.send(wire.encode(Action(None, np.zeros((1, 3, 7)))))
        await ws.wait_closed()

    with pytest.raises(ProtocolError, match=r"expected shape \(H, 2, ...\), got \(1, 3, 7\)"):
        run_env_client(probe(2), config_of(serving(handler)))


def test_an_action_before_its_infer_breaks_the_protocol(serving):
    action = wire.encode(Action(None, np.zeros((1, 2, 7), np.float32)))

    async def handler(ws):
        await ws.send(wire.encode(Metadata({})))
        await ws.recv()
        # In one segment, so that the client has both when it has the first.
        ws.transport.write(2 * binary_frame(action, from_client=False))
        await ws.wait_closed()

    with pytest.raises(ProtocolError, match="expected no message before the next infer"):
        run_env_client(probe(2), config_of(serving(handler)))


def test_a_server_without_env_ids_will_do(serving):
    async def handler(ws):
        await ws.send(wire.encode(Metadata({})))
        async for data in ws:
            if b"rewards" not in data:
                await ws.send(wire.encode(Action(None, np.zeros((1, 2, 7), np.float32))))

    summary = run_env_client(probe(2), config_of(serving(handler), num_episodes=4))
    assert summary.num_episodes == 4


@pytest.mark.parametrize(
    "metadata",
    [
        {},
        {"features": "none"},
        {"action_dim": None, "protocol_version": 99},
        {"from_the_future": {"blob": b"\0" * 3_000_000, "list": list(range(10_000))}},
    ],
)
def test_whatever_the_metadata_says_it_goes_on(policy_server, metadata):
    server = policy_server(metadata=metadata, options={"max_size": None})
    assert server.run(probe(1), num_episodes=1).num_episodes == 1


def test_an_env_that_sees_nan_is_an_error_and_the_server_is_told(policy_server):
    server = policy_server()
    with pytest.raises(EnvError, match="expected finite float32 observations"):
        server.run(Blind())
    assert server.thread.wait_for_closes()[0][0] == 1011


def test_actions_of_another_width_are_an_error_that_names_both(policy_server):
    server = policy_server()
    with pytest.raises(IncompatibleError, match=r"expected actions 3 wide .* got 7"):
        server.run(gym.make("Hopper-v5"))


def test_one_process_is_this_one_and_its_exit_code_is_zero_when_done(policy_server, caplog):
    caplog.set_level(logging.INFO)
    server = policy_server()
    config = server.config(num_envs=3, num_episodes=2)
    assert run_processes("probe-v1", ProbeEnvConfig(), config) == 0
    assert "done: 2 episodes, 15 steps, mean return 4.00" in caplog.text
    assert len(server.infers[0].obs) == 3


def test_a_mean_of_the_latest_episodes_only_says_so():
    few = ClientSummary(100, 300, 3.0, server_stopped=False)
    assert str(few) == "100 episodes, 300 steps, mean return 3.00"
    many = ClientSummary(101, 303, 3.0, server_stopped=False)
    assert str(many) == "101 episodes, 303 steps, mean return of the last 100: 3.00"


def test_a_person_s_script_hears_of_the_connection_and_of_the_end(policy_server, caplog):
    caplog.set_level(logging.INFO, "plugrl.client")
    server = policy_server(endings=[(1, "stop")])
    server.run(probe(1))
    assert caplog.messages == [
        f"connected to 127.0.0.1:{server.port}",
        f"the server at 127.0.0.1:{server.port} has ended the run",
        "done: 1 step, no episode has ended",
    ]


def test_the_exit_code_is_two_where_the_wish_cannot_be_granted(policy_server, caplog):
    server = policy_server()
    assert run_processes("prob-v1", ProbeEnvConfig(), server.config()) == 2
    assert "unknown env 'prob-v1', did you mean 'probe-v1'" in caplog.text
    wrong_width = GymnasiumEnvConfig(id="Hopper-v5")
    assert run_processes("gym-v1", wrong_width, server.config()) == 2
    assert "expected actions 3 wide" in caplog.text
    assert run_processes("probe-v1", ProbeEnvConfig(), server.config(), imports=["no_such"]) == 2
    assert "can't import --import no_such" in caplog.text


def test_the_exit_code_is_one_where_the_server_is_gone(serving, caplog):
    async def handler(ws):
        await ws.close()

    config = config_of(serving(handler), retry_limit=2)
    assert run_processes("probe-v1", ProbeEnvConfig(), config) == 1
    assert "gave up after 2 attempts" in caplog.text


def test_the_exit_code_is_one_where_the_env_fails_and_it_is_closed(
    policy_server, monkeypatch, caplog
):
    env = Failing()
    monkeypatch.setattr(run_module, "build_env", lambda *args: env)
    assert run_processes("any", None, policy_server().config()) == 1
    assert "ZeroDivisionError: a bug of the env" in caplog.text
    assert env.closed


@pytest.mark.parametrize("uid", ["dummy-v1", "gym-v1"])
def test_videos_are_recorded_where_they_are_asked_for(policy_server, tmp_path, monkeypatch, uid):
    config: DummyEnvConfig | GymnasiumEnvConfig = DummyEnvConfig(episode_length=2)
    if uid == "gym-v1":
        config = GymnasiumEnvConfig(id="CartPole-v1", max_episode_steps=2)
        picture = np.zeros((32, 32, 3), np.uint8)
        monkeypatch.setattr(
            "gymnasium.envs.classic_control.cartpole.CartPoleEnv.render",
            lambda env: picture if env.render_mode == "rgb_array" else None,
        )
    server = policy_server(act=lambda m: np.zeros((1, len(m.obs), 1), np.int64))
    wanted = server.config(num_episodes=3, video_every=2, video_dir=tmp_path)
    assert run_processes(uid, config, wanted) == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == ["episode-0.mp4", "episode-2.mp4"]


def test_a_vector_env_is_taken_as_it_is(policy_server):
    server = policy_server()
    server.run(DummyEnv(DummyEnvConfig(episode_length=1), 5), num_episodes=5)
    assert server.infers[0].env_indices.tolist() == [0, 1, 2, 3, 4]
