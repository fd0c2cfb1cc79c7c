"""The loop of a client: ask for actions, run them, report what came of them.

Legend: n envs, H action horizon.
"""

import numpy as np
from numpy.typing import NDArray

from plugrl.client.connection import Connection
from plugrl.client.episodes import EVERYONE, EpisodeCounts, Rows
from plugrl.client.greeting import require_same_launch, require_same_sizes
from plugrl.config.client import ClientConfig
from plugrl.envs.base import StepResult, VectorEnv
from plugrl.errors import UnexpectedMessageError
from plugrl.protocol.messages import Action, Array, Feedback, Metadata, Observation
from plugrl.protocol.session import ClientSession


class Rollout:
    """The envs of one process and how their episodes stand; it outlives connections.

    An episode goes on over a reconnect. What the lost connection had not reported is dropped,
    but stays in the episode's return and length.
    """

    def __init__(self, env: VectorEnv, config: ClientConfig, *, first_seed: int) -> None:
        """Reset nothing yet.

        Args:
            env: what to run.
            config: how, and how long.
            first_seed: seed of env 0; env i has ``first_seed + i``.
        """
        n = env.num_envs
        self.episodes = EpisodeCounts(n)
        self.num_actions = 0
        """Action messages received, over all connections."""
        self._env = env
        self._config = config
        self._all = np.arange(n)
        self._seeds: list[int] | None = [first_seed + i for i in range(n)]
        self._obs: Observation | None = None
        self._needs_reset = np.ones(n, np.bool_)
        self._num_to_reset = n
        """How many of ``_needs_reset`` are true."""
        self._all_true = np.ones(n, np.bool_)

    def finished(self) -> bool:
        """Whether as many episodes were reported as were wanted."""
        wanted = self._config.num_episodes
        return wanted is not None and self.episodes.num_finished >= wanted

    def run(self, connection: Connection) -> None:
        """Exchange messages until ``finished``.

        Raises:
            ConnectionLostError: the connection is gone, or the server another launch's; call this
                again with another one.
            ServerStoppedError: the server ended the run.
            ProtocolError: the server broke the protocol.
            IncompatibleError: the server is of another env.
        """
        session = ClientSession(reuse_feedback_obs=self._config.reuse_feedback_obs)
        metadata = session.receive(connection.receive())
        assert isinstance(metadata, Metadata)
        require_same_launch(metadata.data, connection.address)
        self._env.greet(metadata.data)
        if (sizes := self._env.sizes()) is not None:
            require_same_sizes(metadata.data, sizes)
        held: list[bytes] = []
        while not self.finished():
            unchanged = self._reset_ended() if self._num_to_reset else self._all_true
            assert self._obs is not None
            infer = session.infer(self._obs, self._all, self.episodes.chunks, unchanged=unchanged)
            if connection.has_unread:
                raise UnexpectedMessageError(
                    f"expected no message before the next infer, got one, from {connection.address}"
                )
            # The last feedback and this infer go out in one write.
            connection.send(*held, infer)
            action = session.receive(connection.receive())
            assert isinstance(action, Action)
            self.num_actions += 1
            feedback = self._run_chunk(action.action)
            held = [session.feedback(feedback)]
            if self._num_to_reset:
                # Reported before the resets, which may take long.
                connection.send(*held)
                held = []
                self.episodes.num_finished += self._num_to_reset

    def _reset_ended(self) -> NDArray[np.bool_]:
        """Reset the envs that need it; which of all n go on with the observation they had."""
        unchanged = ~self._needs_reset
        index = self._all[self._needs_reset]
        seeds = self._seeds and [self._seeds[i] for i in index]
        obs = self._env.reset(index, seeds)
        self.episodes.start(index)
        self._place(index, obs)
        self._needs_reset, self._num_to_reset = np.zeros_like(unchanged), 0
        # From here on each env goes on with its own random numbers.
        self._seeds = None
        return unchanged

    def _run_chunk(self, actions: Array) -> Feedback:
        """Run a prefix of ``actions`` (H, n, *action shape), in each env until its episode ends."""
        result = self._step(EVERYONE, actions[0])
        rewards, terminated, truncated = result.rewards, result.terminated, result.truncated
        self._needs_reset = terminated | truncated
        if len(actions) > 1 and self._config.replan_steps != 1:
            rewards, terminated, truncated = rewards.copy(), terminated.copy(), truncated.copy()
            for now in actions[1 : self._config.replan_steps]:
                running = self._all[~self._needs_reset]
                if not len(running):
                    break
                result = self._step(running, now[running])
                rewards[running] += result.rewards
                terminated[running], truncated[running] = result.terminated, result.truncated
                self._needs_reset = terminated | truncated
        self._num_to_reset = int(np.count_nonzero(self._needs_reset))
        self.episodes.end_chunk()
        assert self._obs is not None
        return Feedback(
            env_indices=self._all,
            step_ids=self.episodes.chunks,
            obs=self._obs,
            rewards=rewards.astype(np.float32),
            terminated=terminated,
            truncated=truncated,
            info=self.episodes.report(self._needs_reset),
        )

    def _step(self, rows: Rows, actions: Array) -> StepResult:
        """Step some envs, (k, *action shape), and take note of what came of it."""
        result = self._env.step(self._all if rows is EVERYONE else self._all[rows], actions)
        self.episodes.step(rows, result)
        self._place(rows, result.obs)
        return result

    def _place(self, rows: Rows, obs: Observation) -> None:
        if self._obs is None or len(obs) == len(self._all):
            self._obs = obs
        else:
            self._obs = _with_rows(self._obs, rows, obs)


def _with_rows(obs: Observation, index: Rows, rows: Observation) -> Observation:
    """A copy of ``obs`` with some rows replaced."""

    def replaced(old: Array, new: Array) -> Array:
        # The common type, so that a longer text is not cut to the older one's length.
        out = old.astype(np.result_type(old, new), copy=True)
        out[index] = new
        return out

    return Observation(
        {name: replaced(image, rows.images[name]) for name, image in obs.images.items()},
        {name: replaced(state, rows.states[name]) for name, state in obs.states.items()},
        replaced(obs.text, rows.text),
    )
