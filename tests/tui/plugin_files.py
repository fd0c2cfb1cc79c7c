"""Plug-ins as people write them, which import what the app must not."""

from pathlib import Path

POLICY = '''
import heavy_as_torch
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

from plugrl.config.base import PolicyConfig, require
from plugrl.registry import register_policy_config

print("a plug-in that talks")


@dataclass(frozen=True, kw_only=True)
class Trunk:
    """A part of its own."""

    depth: int = 2
    """Layers of the trunk."""


@register_policy_config("shared-trunk")
@dataclass(frozen=True, kw_only=True)
class SharedTrunk(PolicyConfig):
    """Ours."""

    capabilities: ClassVar[frozenset[str]] = frozenset({"log_prob", "value"})
    width: int = 128
    """Width of the trunk."""
    slope: float | None = None
    activation: Literal["tanh", "relu"] = "relu"
    sizes_of_heads: tuple[int, ...] = (64, 32)
    more: dict[str, Any] = field(default_factory=lambda: {"a": 1})
    folder: Path = Path("some/where")
    trunk: Trunk = field(default_factory=Trunk)

    def __post_init__(self) -> None:
        require(self, self.width >= 1, "width", "at least 1")


@register_policy_config("shared-trunk", "small")
def small() -> SharedTrunk:
    return SharedTrunk(width=32, trunk=Trunk(depth=1))
'''
ENV = '''
from dataclasses import dataclass

from plugrl.config.base import EnvConfig, EnvSizes
from plugrl.registry import register_env_config


@register_env_config("corridor")
@dataclass(frozen=True, kw_only=True)
class Corridor(EnvConfig):
    length: int = 9
    """Cells from one end to the other."""

    def sizes(self) -> EnvSizes:
        return EnvSizes(obs_dim=self.length, action_dim=1)
'''


def write_plugins(folder: Path) -> None:
    """Modules ``trunk_plugin``, ``corridor_plugin`` and ``broken_plugin``."""
    (folder / "heavy_as_torch.py").write_text("")
    (folder / "trunk_plugin.py").write_text(POLICY)
    (folder / "corridor_plugin.py").write_text(ENV)
    (folder / "broken_plugin.py").write_text("import heavy_as_torch\n1 / 0\n")


def install(folder: Path, module: str = "corridor_plugin") -> None:
    """Have ``module`` found as an installed package's."""
    about = folder / "corridor-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: corridor\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[plugrl.plugins]\nmine = {module}\n")
