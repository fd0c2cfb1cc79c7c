"""How Prefect is set for us, as environment variables; to be applied before it is imported."""

import os

from plugrl.runs import prefect_api

CLIENT = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    # By default a call to an API that is gone retries for a minute.
    "PREFECT_CLIENT_MAX_RETRIES": "2",
    # Nor should one to an API that hangs hold for a minute.
    "PREFECT_API_REQUEST_TIMEOUT": "20",
    # A supervisor that was killed is seen within a minute.
    "PREFECT_FLOWS_HEARTBEAT_FREQUENCY": "30",
    "PREFECT_LOGGING_TO_API_BATCH_INTERVAL": "0.5",
    # What can't be sent to an API that is away would be shown, each piece with all it holds.
    "PREFECT_INTERNAL_LOGGING_LEVEL": "CRITICAL",
}
"""For every process with flows."""

SERVER = {
    **CLIENT,
    "PREFECT_INTERNAL_LOGGING_LEVEL": "ERROR",
    "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
    # Log lines reach an open page as they are written.
    "PREFECT_SERVER_LOGS_STREAM_OUT_ENABLED": "true",
    "PREFECT_SERVER_LOGS_STREAM_PUBLISHING_ENABLED": "true",
}
"""For the local API, beside where it is."""


def apply() -> None:
    """Set what nobody has set otherwise, for this process and those that it starts."""
    for name, value in CLIENT.items():
        os.environ.setdefault(name, value)


def use_local(url: str) -> None:
    """Have this process, and those that it starts, talk to the local API at ``url``.

    A profile of the user's, with the key of another API, is left out of it.
    """
    os.environ[prefect_api.API_VARIABLE] = url
    os.environ["PREFECT_HOME"] = str(prefect_api.folder())


def server_environment(port: int) -> dict[str, str]:
    """The whole environment of a local API on ``port``."""
    url = prefect_api.local_url(port)
    return {
        **SERVER,
        # What somebody set otherwise stays.
        **os.environ,
        "PREFECT_HOME": str(prefect_api.folder()),
        # The pages ask these, whatever the command line says.
        prefect_api.API_VARIABLE: url,
        "PREFECT_SERVER_UI_API_URL": url,
        "PREFECT_SERVER_API_HOST": prefect_api.LOCAL_HOST,
        "PREFECT_SERVER_API_PORT": str(port),
        "PREFECT_SERVER_EPHEMERAL_ENABLED": "false",
    }
