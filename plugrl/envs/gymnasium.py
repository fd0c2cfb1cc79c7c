"""Gymnasium envs, by id or ``module:EnvClass``, stepped one after another."""

import difflib
import importlib
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias

import gymnasium as gym  # noqa: TID253 -- this module is imported when such an env is built
import numpy as np
from gymnasium.envs.registration import parse_env_id  # noqa: TID253
from numpy.typing import NDArray

from plugrl.config.base import EnvSizes
from plugrl.config.gymnasium import GymnasiumEnvConfig
from plugrl.envs.base import StepResult, VectorEnv
from plugrl.envs.spaces import ObservationLayout, action_decoder, action_sizes
from plugrl.errors import EnvError, UsageError
from plugrl.protocol.messages import Array, Observation
from plugrl.protocol.numbers import in_range

AnyEnv: TypeAlias = gym.Env[Any, Any]


class GymnasiumVector(VectorEnv):
    """A vector of ready-made Gymnasium envs of the same spaces."""

    def __init__(
        self,
        envs: Sequence[AnyEnv],
        *,
        action_bounds: Literal["clip", "rescale"] = "clip",
        max_episode_steps: int | None = None,
    ) -> None:
        """Take over ``envs``, which ``close`` closes.

        Args:
            envs: at least one.
            action_bounds: what happens to Box actions outside the bounds.
            max_episode_steps: truncate episodes after as many steps; None leaves that to the envs.

        Raises:
            UsageError: something else than Gymnasium envs, or one that resets by itself.
            IncompatibleError: a space that has no form on the wire.
        """
        for env in envs:
            _require_plain_env(env)
        self.num_envs = len(envs)
        self._envs = list(envs)
        self._layout = ObservationLayout(envs[0].observation_space)
        self._decode = action_decoder(envs[0].action_space, action_bounds)
        self._max_steps = max_episode_steps
        self._steps = [0] * self.num_envs

    def reset(self, env_indices: NDArray[np.int64], seeds: Sequence[int] | None) -> Observation:
        """Reset k envs, with seeds or going on with their own random numbers."""
        given = [None] * len(env_indices) if seeds is None else seeds
        raw = []
        for i, seed in zip(env_indices.tolist(), given, strict=True):
            self._steps[i] = 0
            raw.append(self._envs[i].reset(seed=seed)[0])
        return self._layout.encode(raw)

    def step(self, env_indices: NDArray[np.int64], actions: Array) -> StepResult:
        """Step k envs in order."""
        indices = env_indices.tolist()
        pairs = zip(indices, self._decode(actions), strict=True)
        columns = zip(*[self._envs[i].step(action) for i, action in pairs], strict=True)
        raw, paid, terminated, cut, infos = columns
        rewards = np.array(paid, np.float64).reshape(len(indices))
        if not in_range(rewards):
            raise EnvError(f"expected finite float32 rewards, got {rewards.tolist()}")
        truncated = self._limited(indices, cut)
        ended = any(terminated) or any(truncated)
        return StepResult(
            obs=self._layout.encode(raw),
            rewards=rewards,
            terminated=np.array(terminated, np.bool_),
            truncated=np.array(truncated, np.bool_),
            info={"success": np.array([_success(info) for info in infos])} if ended else {},
        )

    def sizes(self) -> EnvSizes:
        """The width of all states, and the size of an action."""
        action_dim, num_choices = action_sizes(self._envs[0].action_space)
        return EnvSizes(
            obs_dim=self._layout.state_width, action_dim=action_dim, num_choices=num_choices
        )

    def render(self) -> NDArray[np.uint8]:
        """The picture of env 0.

        Raises:
            UsageError: it draws none; says what to install or set.
        """
        try:
            picture = self._envs[0].render()
        except Exception as error:
            # Renderers fail in many ways of their own: no display, no OpenGL, no pygame.
            raise UsageError(
                f"can't draw {self._envs[0]}: {type(error).__name__}: {error} (without a display, "
                "MuJoCo wants MUJOCO_GL=egl or MUJOCO_GL=osmesa)"
            ) from error
        if not isinstance(picture, np.ndarray):
            raise UsageError(
                f"expected a picture from {self._envs[0]}, got {type(picture).__name__}; make it "
                "with render_mode='rgb_array'"
            )
        return picture

    def close(self) -> None:
        """Close all envs."""
        for env in self._envs:
            env.close()

    def _limited(self, indices: list[int], truncated: Sequence[bool]) -> Sequence[bool]:
        """``truncated`` of k envs that made a step, by our own limit too."""
        if self._max_steps is None:
            return truncated
        for i in indices:
            self._steps[i] += 1
        return [
            cut or self._steps[i] >= self._max_steps
            for i, cut in zip(indices, truncated, strict=True)
        ]


class GymnasiumEnv(GymnasiumVector):
    """The envs of a config."""

    def __init__(self, config: GymnasiumEnvConfig, num_envs: int) -> None:
        """Make ``num_envs`` envs.

        Raises:
            UsageError: there is no such env, or something is not installed; says the remedy.
        """
        envs = [_make(config) for _ in range(num_envs)]
        super().__init__(
            envs,
            action_bounds=config.action_bounds,
            max_episode_steps=config.max_episode_steps or _registered_limit(envs[0]),
        )


def is_registered(env_id: str) -> bool:
    """Whether Gymnasium knows an env by this id."""
    return env_id in gym.registry


def is_env_class(module: str, name: str) -> bool:
    """Whether that module can be imported and has a Gymnasium env of this name."""
    try:
        return name in _env_classes(module)
    except Exception:  # noqa: BLE001 -- a module of somebody else may fail in any way
        return False


def _require_plain_env(env: Any) -> None:
    if not isinstance(env, gym.Env):
        raise UsageError(
            f"expected a gymnasium.Env, got {type(env).__name__}; of a gymnasium vector env, pass "
            "the single envs as a list (it resets inside its own step)"
        )
    layer: Any = env
    while isinstance(layer, gym.Wrapper):
        if isinstance(layer, gym.wrappers.Autoreset):
            raise UsageError(
                f"expected an env without autoreset, got {env}; leave that wrapper out"
            )
        layer = layer.env


def _make(config: GymnasiumEnvConfig) -> AnyEnv:
    kwargs = dict(config.kwargs)
    if config.render_mode is not None:
        kwargs["render_mode"] = config.render_mode
    module, colon, name = config.id.partition(":")
    try:
        if colon and callable(factory := _attribute(module, name)):
            return _construct(factory, config.id, kwargs)
        # -1: no TimeLimit, so that our own limit can be higher than the id's; and no checker,
        # whose work per step is done by the layout.
        env = gym.make(config.id, max_episode_steps=-1, disable_env_checker=True, **kwargs)
    except (gym.error.UnregisteredEnv, gym.error.DeprecatedEnv) as error:
        raise _unknown(config.id) from error
    except gym.error.DependencyNotInstalled as error:
        remedy = "; pip install 'plugrl[mujoco]'" if "mujoco" in str(error).lower() else ""
        raise UsageError(f"can't make {config.id!r}: {error}{remedy}") from error
    except (gym.error.Error, ImportError, TypeError, ValueError) as error:
        raise UsageError(f"can't make {config.id!r} with {kwargs}: {error}") from error
    # Clients reset before they step.
    return env.env if isinstance(env, gym.wrappers.OrderEnforcing) else env


def _construct(factory: Callable[..., Any], env_id: str, kwargs: dict[str, Any]) -> AnyEnv:
    env = factory(**kwargs)
    if not isinstance(env, gym.Env):
        raise UsageError(f"expected a gymnasium.Env, got {type(env).__name__}, at {env_id}")
    return env


def _attribute(module: str, name: str) -> Any:
    return getattr(importlib.import_module(module), name, None)


def _env_classes(module: str) -> list[str]:
    """What a module offers as ``module:EnvClass``."""
    known = vars(importlib.import_module(module))
    return sorted(
        name
        for name, value in known.items()
        if isinstance(value, type) and issubclass(value, gym.Env) and value is not gym.Env
    )


def _registered_limit(env: AnyEnv) -> int | None:
    spec = gym.registry.get(env.spec.id) if env.spec else None
    return spec.max_episode_steps if spec else None


def _unknown(env_id: str) -> UsageError:
    module, colon, name = env_id.partition(":")
    if colon and parse_env_id(env_id)[2] is None:
        return _not_in(module, name)
    return UsageError(
        f"unknown gymnasium id {env_id!r}{_hint(env_id, _newest_ids())} "
        "(gymnasium.pprint_registry() lists all; an env of your own goes by module:EnvClass)"
    )


def _not_in(module: str, name: str) -> UsageError:
    classes = _env_classes(module)
    return UsageError(
        f"module {module!r} has no env class {name!r}{_hint(name, classes)} "
        f"(it has: {', '.join(classes) or 'none'})"
    )


def _hint(wrong: str, known: Sequence[str]) -> str:
    nearest = difflib.get_close_matches(wrong, known, n=1, cutoff=0.5)
    return f", did you mean {nearest[0]!r}?" if nearest else ""


def _newest_ids() -> list[str]:
    newest: dict[tuple[str | None, str], tuple[int, str]] = {}
    for env_id in gym.registry:
        namespace, name, version = parse_env_id(env_id)
        key, entry = (namespace, name), (version or 0, env_id)
        newest[key] = max(newest.get(key, entry), entry)
    return [env_id for _, env_id in newest.values()]


def _success(info: dict[str, Any]) -> bool:
    return bool(info.get("is_success", info.get("success", False)))
