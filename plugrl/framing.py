"""Whole binary WebSocket frames, cut and made without the library that does all the rest.

Nearly every frame between an env client and its server is one binary message (RFC 6455, section
5.2: first byte 0x82). websockets takes any legal stream apart, with a generator, an object and an
event a frame, which for small messages costs more than all that is done with them. A ``Lane``
lets it see only the frames that are something else: control frames, text, fragments, and what is
illegal, which it answers as it always does.
"""

import os
import struct

from plugrl.bundles import bundle

try:
    from websockets.speedups import apply_mask
except ImportError:  # websockets was built without a C compiler
    from websockets.utils import apply_mask

_BINARY = 0x82
"""First byte of a message's only frame: final, no reserved bit, opcode 2."""
_FINAL, _OPCODE = 0x80, 0x0F
_DATA = frozenset({0, 1, 2})
"""Continuation, text and binary."""
_CONTROLS = frozenset({8, 9, 10})
"""Close, ping and pong, with 125 bytes at most."""
_LEGAL = frozenset(final | code for final in (0, _FINAL) for code in (*_DATA, *_CONTROLS))
"""First bytes that need not be refused at sight."""
_MASKED, _LENGTH = 0x80, 0x7F
_SHORT = 125
"""Longest payload whose length is in the second byte itself."""
_HUGE = 127
"""In the second byte: a length of eight bytes follows."""
_LENGTH_BYTES = {126: 2, _HUGE: 8}
_KEY_BYTES = 4
HEAD_END = b"\r\n\r\n"
"""Where the opening handshake's HTTP head ends and frames begin."""


@bundle
class Cut:
    """A part of the stream."""

    is_message: bool
    data: bytes
    """A binary message, unmasked; or else bytes for the library, a whole frame if legal."""


class Lane:
    """Cuts what one peer sends after the opening handshake, from its first byte on."""

    def __init__(self, *, from_client: bool) -> None:
        """Begin between two frames.

        Args:
            from_client: whether the peer is a client, whose frames are masked.
        """
        self._mask_bit = _MASKED if from_client else 0
        self._num_key_bytes = _KEY_BYTES if from_client else 0
        self._in_fragments = False
        self._gave_up = False
        self._held = bytearray()
        self._num_needed = 0

    def cut(self, data: bytes, max_bytes: int) -> list[Cut]:
        """What is whole now, in order; the rest of ``data`` is held until more comes.

        Args:
            data: what came.
            max_bytes: longest message; a longer frame is the library's to refuse.
        """
        if self._held:
            self._held += data
            if len(self._held) < self._num_needed:
                return []
            data, self._held = bytes(self._held), bytearray()
        if self._gave_up:
            return [Cut(is_message=False, data=data)]
        cuts: list[Cut] = []
        at, end = 0, len(data)
        while at < end:
            span = self._span(data, at, max_bytes)
            if span is None:
                self._gave_up = True
                cuts.append(Cut(is_message=False, data=_refusable(data[at:])))
                break
            start, stop = span
            if stop > end:
                self._held += data[at:]
                self._num_needed = stop - at
                break
            if data[at] == _BINARY and not self._in_fragments:
                payload = data[start:stop]
                if self._num_key_bytes:
                    payload = apply_mask(payload, data[start - _KEY_BYTES : start])
                cuts.append(Cut(is_message=True, data=payload))
            else:
                cuts.append(self._other(data[at:stop]))
            at = stop
        return cuts

    def _span(self, data: bytes, at: int, max_bytes: int) -> tuple[int, int] | None:
        """Where the payload of the frame at ``at`` begins and ends; beyond ``data`` if unknown.

        None where the library has to refuse the frame.
        """
        start = at + 2
        if start > len(data):
            return start, start
        # More than the largest length where the mask bit is not what it has to be.
        length = data[at + 1] ^ self._mask_bit
        if length > _LENGTH or data[at] not in _LEGAL:
            return None
        if length > _SHORT:
            if length == _HUGE and data[at] & _OPCODE in _CONTROLS:
                return None
            extended = start
            start += _LENGTH_BYTES[length]
            if start > len(data):
                return start, start
            length = int.from_bytes(data[extended:start], "big")
        start += self._num_key_bytes
        # Of fragments, those that came before count too: the library keeps that account.
        return (start, start + length) if length <= max_bytes else None

    def _other(self, frame: bytes) -> Cut:
        if frame[0] & _OPCODE in _DATA:
            self._in_fragments = not frame[0] & _FINAL
        return Cut(is_message=False, data=frame)


def _refusable(data: bytes) -> bytes:
    """What the library refuses at sight.

    It waits for the payload of a ping, however long, before it refuses that: an opcode that is none
    it does not.
    """
    if data[0] & _OPCODE in _CONTROLS and data[1] & _LENGTH == _HUGE:
        return bytes([data[0] | _OPCODE]) + data[1:]
    return data


def binary_frame(message: bytes, *, from_client: bool) -> bytes:
    """The frame that carries a whole message; a client's are masked with a fresh random key."""
    length, mask_bit = len(message), _MASKED if from_client else 0
    if length <= _SHORT:
        header = struct.pack("!BB", _BINARY, mask_bit | length)
    elif length < 2**16:
        header = struct.pack("!BBH", _BINARY, mask_bit | 126, length)
    else:
        header = struct.pack("!BBQ", _BINARY, mask_bit | 127, length)
    if not from_client:
        return header + message
    key = os.urandom(_KEY_BYTES)
    return b"".join((header, key, apply_mask(message, key)))
