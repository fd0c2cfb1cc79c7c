import ctypes.util
import os
import subprocess
import sys

import imageio_ffmpeg
import numpy as np
import pytest

from plugrl.config.dummy import DummyEnvConfig
from plugrl.envs.dummy import DummyEnv
from plugrl.envs.video import RecordVideo
from plugrl.errors import UsageError


def num_pictures(video):
    return imageio_ffmpeg.count_frames_and_secs(video)[0]


def film(tmp_path, episodes, *, every=2):
    inner = DummyEnv(DummyEnvConfig(episode_length=3, image_height=33, image_width=64), 2)
    env = RecordVideo(inner, every=every, folder=tmp_path / "videos")
    everyone = np.arange(2)
    for _ in range(episodes):
        env.reset(everyone, None)
        for _ in range(3):
            env.step(everyone, np.zeros((2, 1)))
    return env


def test_every_nth_episode_of_env_0_becomes_a_file(tmp_path):
    film(tmp_path, 4).close()
    videos = sorted((tmp_path / "videos").iterdir())
    assert [video.name for video in videos] == ["episode-0.mp4", "episode-2.mp4"]


def test_a_video_has_the_first_picture_and_one_per_step(tmp_path):
    film(tmp_path, 1).close()
    assert num_pictures(tmp_path / "videos" / "episode-0.mp4") == 4


def test_other_envs_are_not_filmed(tmp_path):
    env = film(tmp_path, 0)
    env.reset(np.array([1]), None)
    env.step(np.array([1]), np.zeros((1, 1)))
    env.close()
    assert not (tmp_path / "videos").exists()


def test_closing_ends_the_video_in_progress(tmp_path):
    env = film(tmp_path, 0)
    env.reset(np.arange(2), None)
    env.step(np.arange(2), np.zeros((2, 1)))
    env.close()
    assert num_pictures(tmp_path / "videos" / "episode-0.mp4") == 2


def test_greeting_and_picture_are_those_of_the_env(tmp_path):
    env = film(tmp_path, 0)
    env.greet({})
    assert env.sizes() == DummyEnv(DummyEnvConfig(), 1).sizes()
    assert env.render().shape == (33, 64, 3)


def test_without_imageio_the_sentence_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "imageio", None)
    with pytest.raises(UsageError, match=r"can't record videos: .*pip install 'plugrl\[video\]'"):
        film(tmp_path, 0)


@pytest.mark.skipif(sys.platform != "linux", reason="EGL draws without a display on Linux")
@pytest.mark.skipif(
    ctypes.util.find_library("EGL") is None, reason="libegl1 is not installed (make system)"
)
def test_mujoco_is_filmed_without_a_display(tmp_path):
    code = """
import sys
from pathlib import Path
import numpy as np
from plugrl.config.gymnasium import GymnasiumEnvConfig
from plugrl.envs.base import build_env
from plugrl.envs.video import RecordVideo, prepare_to_draw
prepare_to_draw()
config = GymnasiumEnvConfig(
    id="InvertedPendulum-v5", render_mode="rgb_array", kwargs={"width": 64, "height": 48}
)
env = RecordVideo(build_env("gym-v1", config, 1), every=1, folder=Path(sys.argv[1]))
env.reset(np.arange(1), [0])
for _ in range(2):
    env.step(np.arange(1), np.zeros((1, 1)))
env.close()
"""
    without_display = {
        name: value
        for name, value in os.environ.items()
        if name not in {"DISPLAY", "WAYLAND_DISPLAY", "MUJOCO_GL"}
    }
    subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], env=without_display, check=True, timeout=50
    )
    assert num_pictures(tmp_path / "episode-0.mp4") == 3
