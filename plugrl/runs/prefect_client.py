"""The few calls of Prefect's REST API that need no Prefect here: to read rows, to set a state."""

from types import TracebackType
from typing import Any, Self

from plugrl.errors import HistoryUnavailableError
from plugrl.runs import prefect_api
from plugrl.runs.prefect_profile import setting

MAX_ROWS = 200
"""Most that Prefect gives at once."""


class PrefectClient:
    """A connection to a Prefect API; every call has a time limit."""

    def __init__(self, api_url: str, *, timeout_s: float) -> None:
        """Talk to ``api_url``.

        Raises:
            HistoryUnavailableError: httpx is not installed.
        """
        try:
            import httpx
        except ModuleNotFoundError as error:
            raise HistoryUnavailableError(
                "Prefect's history needs httpx: pip install 'plugrl[flows]'"
            ) from error
        self.api_url = api_url
        self._refusals = (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError)
        local = prefect_api.is_loopback(api_url)
        key = _set("PREFECT_API_KEY")
        user, _, password = _set("PREFECT_API_AUTH_STRING").partition(":")
        self._http = httpx.Client(
            base_url=api_url,
            timeout=timeout_s,
            # A key is of Prefect's cloud; the local API has none.
            headers={"Authorization": f"Bearer {key}"} if key and not local else {},
            auth=(user, password) if user else None,
            **prefect_api.reaching(api_url),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._http.close()

    def rows(self, what: str, **filters: Any) -> list[dict[str, Any]]:
        """Read rows such as ``flow_runs``, at most ``MAX_ROWS``.

        Raises:
            HistoryUnavailableError: the API is away, or refuses.
        """
        answer = self._post(f"/{what}/filter", {"limit": MAX_ROWS, **filters})
        if not isinstance(answer, list):
            raise HistoryUnavailableError(
                f"expected rows of {what}, got {answer!r:.80}, at {self.api_url}"
            )
        return answer

    def count(self, what: str, **filters: Any) -> int:
        """How many rows there are, however many.

        Raises:
            HistoryUnavailableError: the API is away, or refuses.
        """
        answer = self._post(f"/{what}/count", filters)
        if not isinstance(answer, int):
            raise HistoryUnavailableError(
                f"expected a number of {what}, got {answer!r:.80}, at {self.api_url}"
            )
        return answer

    def set_state(self, flow_run_id: str, state: str, message: str) -> None:
        """Give a flow run a state, whatever its own rules say.

        Args:
            flow_run_id: the flow run.
            state: a type of Prefect's, such as ``CRASHED``.
            message: why.

        Raises:
            HistoryUnavailableError: the API is away, or does not know the flow run.
        """
        body = {"type": state, "name": state.capitalize(), "message": message}
        self._post(f"/flow_runs/{flow_run_id}/set_state", {"state": body, "force": True})

    def _post(self, path: str, body: dict[str, Any]) -> Any:
        try:
            answer = self._http.post(path, json=body)
            if answer.is_success:
                return answer.json()
        except self._refusals as error:
            raise HistoryUnavailableError(
                f"expected an answer of Prefect at {self.api_url}, "
                f"got {type(error).__name__}: {error}"
            ) from error
        raise HistoryUnavailableError(
            f"expected an answer of Prefect at {self.api_url}, "
            f"got {answer.status_code} {answer.reason_phrase}, at {path}"
        )


def _set(name: str) -> str:
    found = setting(name)
    return "" if found is None else found.value
