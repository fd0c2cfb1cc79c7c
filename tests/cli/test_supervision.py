import asyncio
import os
import signal

import pytest

from plugrl.cli.supervision import supervise

SERVER = ("dummy-policy", "default", "dummy", "debug", "--port=0")

TYPED = ("plugrl", "launch")

pytestmark = pytest.mark.integration


async def test_a_server_that_never_listens_gives_its_code_and_no_client_is_started(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)

    def never(url: str) -> list[str]:
        raise AssertionError(url)

    assert await supervise([*SERVER, "--policy.device=nowhere"], never, {}, TYPED) == 2
    assert list(tmp_path.iterdir()) == []


async def test_clients_that_fail_stop_the_server_and_give_their_code(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    urls: list[str] = []

    def wrong(url: str) -> list[str]:
        urls.append(url)
        return ["no-such-env"]

    assert await supervise([*SERVER, "--exp-name=x"], wrong, {}, TYPED) == 2
    assert urls[0].startswith("ws://127.0.0.1:")
    assert (tmp_path / "checkpoints" / "dummy" / "dummy-policy" / "x" / "0").is_dir()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_that_comes_twice_at_once_is_one(tmp_path, monkeypatch, capfd, number):
    monkeypatch.chdir(tmp_path)
    endless = [*SERVER, "--exp-name=x", "--algo.global-steps=1e9"]

    def interrupted(url: str) -> list[str]:
        os.kill(os.getpid(), number)
        asyncio.get_running_loop().call_later(0.1, os.kill, os.getpid(), number)
        return ["dummy-v1", "state", f"--server-host={url}"]

    assert await supervise(endless, interrupted, {}, TYPED) == 0
    assert (tmp_path / "checkpoints" / "dummy" / "dummy-policy" / "x").is_dir()
    out, err = capfd.readouterr()
    assert f"{number.name}: stopping" in err
    assert "second" not in err
    assert out.endswith("stopped; to go on: plugrl launch --exp-name x --resume\n")
