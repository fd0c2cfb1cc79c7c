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
    assert env.render().shape == (33, 64, 3)


def test_without_imageio_the_sentence_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "imageio", None)
    with pytest.raises(UsageError, match=r"can't record videos: .*pip install 'plugrl\[video\]'"):
        film(tmp_path, 0)
