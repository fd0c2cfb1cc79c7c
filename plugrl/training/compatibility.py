"""Choices that can't work together: policy, algorithm, env and checkpoint."""

from dataclasses import asdict

from plugrl.config.base import EnvSizes
from plugrl.errors import CheckpointMismatchError, IncompatibleError
from plugrl.registry import POLICIES
from plugrl.training.spec import RunSpec


def require_compatible(spec: RunSpec) -> None:
    """Refuse an algorithm that asks more of a policy than this one offers.

    Raises:
        IncompatibleError: names what is missing and the policies that have it.
    """
    missing = spec.algorithm_config.requires - spec.policy_config.capabilities
    if missing:
        fitting = [
            uid
            for uid in POLICIES.uids()
            if any(
                spec.algorithm_config.requires <= variant.capabilities
                for variant in POLICIES.variants(uid).values()
            )
        ]
        raise IncompatibleError(
            f"algorithm {spec.algorithm!r} needs a policy with {', '.join(sorted(missing))}, "
            f"which {spec.policy!r} has not; choose one of {', '.join(fitting) or 'none known'}"
        )


def require_kind_of_actions(spec: RunSpec) -> None:
    """Refuse a policy of continuous actions for an env of discrete ones, and the reverse.

    Raises:
        IncompatibleError: names the policies that would do.
    """
    if spec.sizes is None:
        return
    discrete = bool(spec.sizes.num_choices)
    wanted, other = ("num_choices", "action_dim") if discrete else ("action_dim", "num_choices")
    # 0 and () mean: as the env has them.
    if getattr(spec.policy_config, other, None) in (0, ()):
        raise IncompatibleError(
            f"{spec.env or 'the env'} has {'discrete' if discrete else 'continuous'} actions, "
            f"which {spec.policy!r} is not for; choose one of "
            f"{', '.join(_policies_with(wanted)) or 'none known'}"
        )


def require_sizes_of_env(spec: RunSpec) -> None:
    """Refuse sizes of a policy that are others than those of the env.

    Raises:
        IncompatibleError: names the flag and both sizes.
    """
    if spec.sizes is None or not hasattr(spec.policy_config, "obs_dim"):
        return
    for field, size in asdict(spec.sizes).items():
        # 0 and () mean: as the env has them.
        chosen = getattr(spec.policy_config, field, None)
        if chosen and size and chosen != size:
            flag = f"--policy.{field.replace('_', '-')}"
            raise IncompatibleError(
                f"expected {flag} as {spec.env or 'the env'} has it, {size}, got {chosen}; "
                "leave it out: it is taken from the env"
            )


def require_same_sizes(spec: RunSpec, trained: EnvSizes | None) -> None:
    """Refuse a checkpoint of an env of other sizes than this one's.

    Args:
        spec: the run; only a policy that takes its sizes from the env cares.
        trained: the sizes in the checkpoint.

    Raises:
        CheckpointMismatchError: says both.
    """
    if trained is None or spec.sizes is None or not hasattr(spec.policy_config, "obs_dim"):
        return
    if trained != spec.sizes:
        raise CheckpointMismatchError(
            f"the checkpoint was trained with {_in_words(trained)}, "
            f"{spec.env or 'the env'} has {_in_words(spec.sizes)}; give the env of the checkpoint"
        )


def _policies_with(field: str) -> list[str]:
    return [
        uid
        for uid in POLICIES.uids()
        if any(
            getattr(variant, field, None) in (0, ()) for variant in POLICIES.variants(uid).values()
        )
    ]


def _in_words(sizes: EnvSizes) -> str:
    if sizes.num_choices:
        choices = " x ".join(map(str, sizes.num_choices))
        return f"{sizes.obs_dim} observations and {choices} choices"
    return f"{sizes.obs_dim} observations and {sizes.action_dim} actions"
