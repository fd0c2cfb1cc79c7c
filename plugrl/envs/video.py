"""Videos of env 0: every N-th episode, as an mp4 file."""

import dataclasses
import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plugrl.config.base import EnvSizes
from plugrl.envs.base import StepResult, VectorEnv
from plugrl.errors import UsageError
from plugrl.protocol.messages import Array, Observation

FRAMES_PER_SECOND = 30


def prepare_to_draw() -> None:
    """Let MuJoCo draw without a display; to be called before the first env is made.

    MuJoCo looks for an X server unless MUJOCO_GL says otherwise, and reads it once, on import.
    """
    without_display = not {"DISPLAY", "WAYLAND_DISPLAY"} & os.environ.keys()
    if sys.platform == "linux" and without_display:
        os.environ.setdefault("MUJOCO_GL", "egl")


def to_be_filmed(env_config: Any) -> Any:
    """The config of an env that draws pictures; to be called before the first env is made.

    Raises:
        UsageError: imageio is not installed.
    """
    _require_imageio()
    prepare_to_draw()
    if hasattr(env_config, "render_mode"):
        env_config = dataclasses.replace(env_config, render_mode="rgb_array")
    return env_config


class RecordVideo(VectorEnv):
    """Another env, whose env 0 is filmed; ``episode-K.mp4`` is its K-th episode, from 0."""

    def __init__(self, env: VectorEnv, *, every: int, folder: Path) -> None:
        """Film episodes 0, ``every``, 2 * ``every``, ... of ``env`` into ``folder``.

        Args:
            env: of a config that ``to_be_filmed`` made.
            every: how many episodes of env 0 from one video to the next.
            folder: where the files go; made if missing.

        Raises:
            UsageError: imageio is not installed.
        """
        _require_imageio()
        self.num_envs = env.num_envs
        self._env = env
        self._every = every
        self._folder = folder
        self._episode = -1
        self._writer: Any = None

    def reset(self, env_indices: NDArray[np.int64], seeds: Sequence[int] | None) -> Observation:
        """Reset; begin a video where it is env 0's turn."""
        obs = self._env.reset(env_indices, seeds)
        if 0 in env_indices:
            self._finish()
            self._episode += 1
            if self._episode % self._every == 0:
                self._begin()
        return obs

    def step(self, env_indices: NDArray[np.int64], actions: Array) -> StepResult:
        """Step; add a picture, and end the video with the episode."""
        result = self._env.step(env_indices, actions)
        if self._writer is not None and env_indices[0] == 0:
            self._writer.append_data(self._env.render())
            if result.terminated[0] or result.truncated[0]:
                self._finish()
        return result

    def greet(self, metadata: Mapping[str, Any]) -> None:
        """Pass on what the server said."""
        self._env.greet(metadata)

    def sizes(self) -> EnvSizes | None:
        """Those of the env that is filmed."""
        return self._env.sizes()

    def render(self) -> NDArray[np.uint8]:
        """The picture of env 0."""
        return self._env.render()

    def close(self) -> None:
        """End the video in progress and close the env."""
        self._finish()
        self._env.close()

    def _begin(self) -> None:
        import imageio

        picture = self._env.render()
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / f"episode-{self._episode}.mp4"
        # Codecs want even sides; a block of 2 changes the picture least.
        self._writer = imageio.get_writer(path, fps=FRAMES_PER_SECOND, macro_block_size=2)
        self._writer.append_data(picture)

    def _finish(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None


def _require_imageio() -> None:
    try:
        importlib.import_module("imageio")
        importlib.import_module("imageio_ffmpeg")
    except ImportError as error:
        raise UsageError(f"can't record videos: {error}; pip install 'plugrl[video]'") from error
