"""A worker in this process: the same collector without a wire."""

import asyncio

from plugrl.errors import ConnectionLostError, ServerStoppedError
from plugrl.protocol.closing import Closing
from plugrl.protocol.messages import Array, Feedback, Infer
from plugrl.server.loop import Loop
from plugrl.server.worker import Worker


class LocalWorker(Worker):
    """Asks for actions and reports feedback by plain calls, on the server's event loop."""

    def __init__(self, loop: Loop, name: str = "local") -> None:
        """Join ``loop``."""
        super().__init__(name, loop.new_place())
        self._loop = loop
        self._actions: asyncio.Future[Array] | None = None
        self._closed: Closing | None = None
        loop.join(self)

    async def act(self, infer: Infer) -> Array:
        """Actions (H, n, *action shape) for the envs of ``infer``.

        Raises:
            InvalidMessageError: the policy can't take the observation.
            ServerStoppedError: the run is finished.
            ConnectionLostError: this worker was closed.
        """
        self._check_open()
        self._loop.algorithm.check_observation(infer.obs)
        self._actions = asyncio.get_running_loop().create_future()
        self._loop.infer(self, infer)
        return await self._actions

    def feedback(self, feedback: Feedback) -> None:
        """Report what came of the actions.

        Raises:
            InvalidMessageError: the policy can't take the observation.
        """
        if feedback.obs is not None:
            self._loop.algorithm.check_observation(feedback.obs)
        self._loop.feedback(self, feedback)

    def leave(self) -> None:
        """Be waited for no longer."""
        self._loop.leave(self)

    def send(self, actions: Array) -> None:
        """Answer the pending ``act``."""
        if self._actions is not None and not self._actions.done():
            self._actions.set_result(actions)

    def close(self, closing: Closing) -> None:
        """Fail the pending ``act``."""
        self._closed = closing
        self.leave()
        if self._actions is not None and not self._actions.done():
            self._actions.set_exception(self._error())

    def _check_open(self) -> None:
        if self._closed is not None:
            raise self._error()

    def _error(self) -> ConnectionLostError:
        kind = ServerStoppedError if self._loop.ended else ConnectionLostError
        return kind(f"closed with {self._closed}")
