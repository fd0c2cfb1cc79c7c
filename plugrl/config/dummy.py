"""Configs of the dummy policy, algorithm and env, made for tests and for measuring load."""

from dataclasses import dataclass

from plugrl.config.base import AlgorithmConfig, EnvConfig, EnvSizes, PolicyConfig, require


@dataclass(frozen=True, kw_only=True)
class DummyPolicyConfig(PolicyConfig):
    """A policy that answers every observation with zeros."""

    action_dim: int = 7
    """Width of an action."""
    action_horizon: int = 1
    """Steps in an action chunk, H."""

    def __post_init__(self) -> None:
        require(self, self.action_dim >= 1, "action_dim", "at least 1")
        require(self, self.action_horizon >= 1, "action_horizon", "at least 1")


@dataclass(frozen=True, kw_only=True)
class DummyConfig(AlgorithmConfig):
    """An algorithm that learns nothing, after as many frames and as slowly as it is told."""

    global_steps: int = 1_000_000
    """Frames to store before the run is finished."""
    fake_inference_duration_sec: float = 0.0
    """How long an inference seems to take."""
    fake_learn_duration_sec: float = 0.0
    """How long a learn seems to take."""
    fake_learn_freq: int = 2048
    """Frames between two learns."""
    save_interval: int = 100
    """Learns between two checkpoints."""

    def __post_init__(self) -> None:
        require(self, self.global_steps >= 1, "global_steps", "at least 1")
        require(
            self,
            0 <= self.fake_inference_duration_sec < float("inf"),
            "fake_inference_duration_sec",
            "finite seconds, at least 0",
        )
        require(
            self,
            0 <= self.fake_learn_duration_sec < float("inf"),
            "fake_learn_duration_sec",
            "finite seconds, at least 0",
        )
        require(self, self.fake_learn_freq >= 1, "fake_learn_freq", "at least 1")
        require(self, self.save_interval >= 1, "save_interval", "at least 1")


@dataclass(frozen=True, kw_only=True)
class DummyEnvConfig(EnvConfig):
    """An env of images, states and text, with episodes of a fixed length and a reward of 1."""

    episode_length: int = 100
    """Steps in an episode; it ends with terminated."""
    state_dim: int = 17
    """Width of the one state vector, 0 for none."""
    num_images: int = 1
    """Images in an observation."""
    image_height: int = 64
    """Pixels."""
    image_width: int = 64
    """Pixels."""
    text: str = "do nothing"
    """The instruction that comes with every observation."""

    def __post_init__(self) -> None:
        require(self, self.episode_length >= 1, "episode_length", "at least 1")
        require(self, self.state_dim >= 0, "state_dim", "at least 0")
        require(self, self.num_images >= 0, "num_images", "at least 0")
        require(self, self.image_height >= 1, "image_height", "at least 1")
        require(self, self.image_width >= 1, "image_width", "at least 1")

    def sizes(self) -> EnvSizes:
        """The state's width; any action does."""
        return EnvSizes(obs_dim=self.state_dim, action_dim=7)


POLICIES = {"default": DummyPolicyConfig()}
ALGORITHMS = {
    "default": DummyConfig(),
    "debug": DummyConfig(global_steps=64, fake_learn_freq=16, save_interval=1),
}
ENVS = {"default": DummyEnvConfig(), "state": DummyEnvConfig(num_images=0, text="")}
