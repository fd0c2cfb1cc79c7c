"""Names that Prefect takes for a deployment and a work pool; imports no Prefect."""

from plugrl.errors import UsageError

BANNED = "/%&<>"


def require_name(name: str, flag: str) -> None:
    """Refuse what Prefect would refuse with a traceback.

    Raises:
        UsageError: the name is blank, or has a sign that Prefect keeps for itself.
    """
    if not name.strip() or not name.isprintable() or set(BANNED) & set(name):
        raise UsageError(
            f"expected a name of printable signs without any of {BANNED}, got {name!r}, at {flag}"
        )
