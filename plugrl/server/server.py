"""The server: assembles the rooms, listens, runs the loop, and shuts down in order."""

import asyncio
import contextlib
import http
import logging
import os
import signal
import ssl
from collections.abc import AsyncIterator, Callable, Iterator

from websockets.asyncio.server import Server as WebSocketServer
from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.http11 import Request, Response

from plugrl import __version__
from plugrl.config.server import LAUNCH_ID_VARIABLE, ServerConfig
from plugrl.errors import UsageError
from plugrl.protocol.closing import INTERNAL_ERROR, SERVER_STOP
from plugrl.protocol.messages import PROTOCOL_VERSION, REUSE_FEEDBACK_OBS, Metadata
from plugrl.server.algorithm import LearnerBackend, RunIdentity, Saver, ServedAlgorithm
from plugrl.server.auth import Gate
from plugrl.server.batcher import Batcher
from plugrl.server.connection import EnvSocket, serve_env_client
from plugrl.server.loop import Loop, StopReason
from plugrl.server.monitor import MAX_COMMAND_BYTES, Monitor
from plugrl.server.monitor import PATH as MONITOR_PATH
from plugrl.server.signals import EchoFilter, stop_signals
from plugrl.server.telemetry import Telemetry
from plugrl.server.watch import Watch

logger = logging.getLogger(__name__)
# Apart from websockets' own logger, which tells of every connection, with a traceback of whoever
# connects and speaks no WebSocket, as a port scan does.
_websocket_log = logging.getLogger("plugrl.server.websockets")
_websocket_log.setLevel(logging.WARNING)

_SECOND_INTERRUPT_EXIT_CODE = 130
_WELCOME = """This is a PlugRL server: env clients connect here by WebSocket.

/healthz  whether it is up, and what it is doing
/metrics  Prometheus metrics
/monitor  WebSocket that streams all there is to see as JSON
"""


class Server:
    """Trains one algorithm with whoever connects.

    Shutting down, in order: no more inference; the learn in progress is waited for or rolled
    back; a checkpoint is written; env clients and viewers are told why and closed; the port is
    released.
    """

    def __init__(
        self,
        algorithm: ServedAlgorithm,
        config: ServerConfig,
        *,
        learner: LearnerBackend,
        saver: Saver | None,
        report: Callable[[dict[str, float], int], None],
        identity: RunIdentity | None = None,
    ) -> None:
        """Assemble; ``run`` starts.

        Args:
            algorithm: what infers and takes frames.
            config: where to listen and what to demand of peers.
            learner: what computes a learn.
            saver: what makes checkpoints; None makes none.
            report: takes metrics and the step after each learn; must return at once.
            identity: what viewers are shown of the run.
        """
        self.config = config
        self.gate = Gate(config)
        self.identity = identity or RunIdentity()
        self.loop = Loop(
            algorithm,
            Batcher(min_envs=config.mini_infer_batch_size),
            learner=learner,
            saver=saver,
            report=report,
            stop_timeout_s=config.limits.stop_timeout_s,
        )
        self.telemetry = Telemetry(self.loop, self.identity)
        self.port = config.port
        """The port listened on, once ``run`` has bound it."""
        self._monitor = Monitor(self.loop, self.telemetry.snapshot)
        self._num_connections = 0
        self._echo = EchoFilter()
        self._event_loop: asyncio.AbstractEventLoop | None = None

    @property
    def url(self) -> str:
        """Where env clients connect."""
        scheme = "wss" if self.config.tls_cert else "ws"
        host = f"[{self.config.host}]" if ":" in self.config.host else self.config.host
        return f"{scheme}://{host}:{self.port}"

    def request_stop(self) -> None:
        """Stop gracefully; safe from any thread, and before or after ``run`` too."""
        if self._event_loop is None:
            self.loop.request_stop()
        elif not self._event_loop.is_closed():
            self._event_loop.call_soon_threadsafe(self.loop.request_stop)

    async def run(
        self,
        *,
        handle_signals: bool = True,
        on_listening: Callable[[str], None] | None = None,
    ) -> StopReason:
        """Listen, train until finished or stopped, save, close everybody.

        Args:
            handle_signals: stop on the signals that ask for it; exit at once on the second one.
            on_listening: called with the URL once clients can connect.

        Raises:
            UsageError: the port is taken, the host can't be bound, the certificate can't be read.
            CheckpointError: the last checkpoint could not be written.
            Exception: what the algorithm raised; nothing is saved then.
        """
        self._event_loop = asyncio.get_running_loop()
        package_logger = logging.getLogger("plugrl")
        package_logger.addHandler(self.telemetry)
        try:
            # Signals are heard before anybody knows of the port, and until everybody is closed.
            with self._signals() if handle_signals else contextlib.nullcontext():
                async with self._listening(on_listening):
                    return await self._train()
        finally:
            package_logger.removeHandler(self.telemetry)

    async def _train(self) -> StopReason:
        limits = self.config.limits
        watch = asyncio.create_task(
            Watch(
                self.loop,
                feedback_timeout_s=self.config.feedback_wait_timeout,
                patience_s=limits.infer_wait_timeout_s,
            ).run()
        )
        try:
            return await self.loop.run()
        finally:
            watch.cancel()

    @contextlib.asynccontextmanager
    async def _listening(self, on_listening: Callable[[str], None] | None) -> AsyncIterator[None]:
        listener = await self._bind()
        self.port = next(iter(listener.sockets)).getsockname()[1]
        logger.info("listening on %s", self.url)
        closing = INTERNAL_ERROR
        try:
            if on_listening is not None:
                on_listening(self.url)
            yield
            closing = SERVER_STOP
        finally:
            for worker in list(self.loop.batcher.workers.values()):
                worker.close(closing)
            listener.close(code=closing.code, reason=closing.reason)
            # A peer that never began its handshake would be waited for until that times out.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(2 * self.config.limits.close_timeout_s):
                    await listener.wait_closed()

    async def _bind(self) -> WebSocketServer:
        config = self.config
        try:
            return await serve(
                self._handle,
                config.host,
                config.port,
                process_request=self._process_request,
                create_connection=EnvSocket,
                ssl=_tls(config),
                compression=None,
                max_size=config.limits.max_message_bytes,
                # Liveness is judged by the feedback timeout: a learn may last an hour.
                ping_interval=None,
                close_timeout=config.limits.close_timeout_s,
                logger=_websocket_log,
                server_header=f"plugrl/{__version__}",
            )
        except OSError as error:
            raise UsageError(
                f"can't listen on {config.host}:{config.port}: {error.strerror or error}; "
                "choose another --port, or --port 0 for any free one"
            ) from error

    async def _handle(self, socket: ServerConnection) -> None:
        assert isinstance(socket, EnvSocket)
        assert socket.request is not None
        self._num_connections += 1
        try:
            if _path(socket.request) == MONITOR_PATH:
                socket.protocol.max_message_size = MAX_COMMAND_BYTES
                host = socket.remote_address[0]
                await self._monitor.serve(socket, may_command=self.gate.may_command(host))
            else:
                await serve_env_client(
                    socket, self.loop, self._metadata(), limits=self.config.limits
                )
        finally:
            self._num_connections -= 1

    def _process_request(self, socket: ServerConnection, request: Request) -> Response | None:
        path = _path(request)
        if path == "/healthz":
            return _text(http.HTTPStatus.OK, f"ok {self.loop.phase}\n")
        if path not in {"/", "/metrics", MONITOR_PATH}:
            return _text(http.HTTPStatus.NOT_FOUND, "expected /, /monitor, /metrics or /healthz\n")
        if not self.gate.admits(request.headers.get("Authorization")):
            logger.warning("refused %s: wrong or missing key", socket.remote_address[0])
            return _text(
                http.HTTPStatus.UNAUTHORIZED,
                "expected the header 'Authorization: Api-Key KEY' with this server's key\n",
            )
        if path == "/metrics":
            return _text(http.HTTPStatus.OK, self.telemetry.prometheus())
        if path == MONITOR_PATH and not self._same_origin(request):
            return _text(http.HTTPStatus.FORBIDDEN, "expected no Origin of another site\n")
        if path == "/" and "Upgrade" not in request.headers:
            return _text(http.HTTPStatus.OK, _WELCOME)
        return self._refuse_when_full(path)

    def _refuse_when_full(self, path: str) -> Response | None:
        limits = self.config.limits
        full = self._num_connections >= limits.max_connections
        if path == MONITOR_PATH:
            full |= self._monitor.num_viewers >= limits.max_viewers
        if full:
            logger.warning("refused a connection: the limit of open ones is reached")
            return _text(http.HTTPStatus.SERVICE_UNAVAILABLE, "too many connections\n")
        return None

    def _same_origin(self, request: Request) -> bool:
        # A page of another site, open in a browser on this machine, must not stop the run.
        origin = request.headers.get("Origin")
        return origin is None or origin.partition("://")[2] == request.headers.get("Host")

    def _metadata(self) -> Metadata:
        launch_id = os.environ.get(LAUNCH_ID_VARIABLE)
        return Metadata(
            {
                "protocol_version": PROTOCOL_VERSION,
                "server": "plugrl",
                "server_version": __version__,
                "algorithm": self.identity.algorithm,
                "policy": self.identity.policy,
                "features": [REUSE_FEEDBACK_OBS],
                **self.loop.algorithm.metadata(),
                **({} if launch_id is None else {"launch_id": launch_id}),
            }
        )

    @contextlib.contextmanager
    def _signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        heard = stop_signals()
        for signum in heard:
            loop.add_signal_handler(signum, self._on_signal, signum)
        try:
            yield
        finally:
            for signum in heard:
                loop.remove_signal_handler(signum)

    def _on_signal(self, signum: signal.Signals) -> None:
        if self._echo.is_echo():
            return
        if self.loop.stopping:
            logger.warning("second %s: leaving at once", signum.name)
            self.loop.observer.leaving()
            logging.shutdown()
            os._exit(_SECOND_INTERRUPT_EXIT_CODE)
        logger.info("%s: stopping; once more to leave at once", signum.name)
        self.loop.request_stop()


def _in_one_line(record: logging.LogRecord) -> bool:
    """Tell of a stranger without a traceback; of a mistake of ours there is one."""
    error = record.exc_info[1] if record.exc_info else None
    # ConnectionClosed: gone, or sent what no client sends, before the handshake was answered.
    if isinstance(error, InvalidHandshake | ConnectionClosed):
        record.levelno, record.levelname = logging.WARNING, logging.getLevelName(logging.WARNING)
        record.msg, record.args = "a connection came to nothing: %s", (error,)
        record.exc_info = None
    return True


_websocket_log.addFilter(_in_one_line)


def _tls(config: ServerConfig) -> ssl.SSLContext | None:
    if config.tls_cert is None:
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(config.tls_cert, config.tls_key)
    except (OSError, ssl.SSLError) as error:
        raise UsageError(
            f"can't read the certificate {config.tls_cert} with the key {config.tls_key}: {error}"
        ) from error
    return context


def _path(request: Request) -> str:
    return request.path.partition("?")[0]


def _text(status: http.HTTPStatus, body: str) -> Response:
    data = body.encode()
    headers = Headers(
        {"Content-Type": "text/plain; charset=utf-8", "Content-Length": str(len(data))}
    )
    headers["Connection"] = "close"
    return Response(status.value, status.phrase, headers, data)
