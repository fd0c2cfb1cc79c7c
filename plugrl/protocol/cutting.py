"""Large frames without their large binaries, so that these are viewed where they lie, not copied.

msgpack copies every binary that it decodes. A frame of images is little else: what is left when
the binaries are cut out is small, and is decoded by msgpack as ever, with placeholders in it.
"""

from typing import NamedTuple

MIN_BIN_BYTES = 2**16
"""Smaller binaries are copied: that costs less than cutting them out."""
MAX_TOKENS = 2**12
"""Tokens that are looked at; a frame with more of them is decoded with copies."""
PLACEHOLDER_EXT_LEN = 5
"""What a placeholder counts as an extension for msgpack: a type and an index of 4 bytes."""

_FIXEXT_4 = b"\xd6\x01"

_LENGTH_WIDTHS = {0xC4: 1, 0xC5: 2, 0xC6: 4, 0xD9: 1, 0xDA: 2, 0xDB: 4}
_BIN_CODES = frozenset({0xC4, 0xC5, 0xC6})


class Cut(NamedTuple):
    """A frame in two parts."""

    skeleton: bytes
    """The frame with extensions in place of large binaries: the index of one in ``binaries``."""
    binaries: list[memoryview]


def cut_large_binaries(frame: memoryview) -> Cut | None:
    """The frame without its large binaries; None where it is not worth it or not legal.

    Tokens of msgpack stand one behind the other whatever the nesting, so that walking over them
    needs no more than their sizes. Extensions are illegal on the wire and never walked over: all
    those in a skeleton are placeholders.
    """
    pieces: list[bytes | memoryview] = []
    binaries: list[memoryview] = []
    position = kept_from = 0
    for _ in range(MAX_TOKENS):
        if position >= len(frame):
            break
        code = frame[position]
        if _SIZES[code]:
            position += _SIZES[code]
            continue
        if code not in _LENGTH_WIDTHS:
            return None
        start = position + 1 + _LENGTH_WIDTHS[code]
        stop = start + int.from_bytes(frame[position + 1 : start], "big")
        if code in _BIN_CODES and stop - start >= MIN_BIN_BYTES and stop <= len(frame):
            pieces += (frame[kept_from:position], _FIXEXT_4, len(binaries).to_bytes(4, "big"))
            binaries.append(frame[start:stop])
            kept_from = stop
        position = stop
    if position != len(frame) or not binaries:
        return None
    return Cut(b"".join((*pieces, frame[kept_from:])), binaries)


def _token_size(code: int) -> int:
    """Bytes of a token of a fixed size, by its first byte; a container's is its header's alone.

    0 where a length follows, or where the token is none that the wire carries.
    """
    if 0xA0 <= code <= 0xBF:
        return 1 + (code & 0x1F)
    if code < 0xC0 or code >= 0xE0 or code in (0xC0, 0xC2, 0xC3):
        return 1
    return _NUMBER_AND_HEADER_SIZES.get(code, 0)


_NUMBER_AND_HEADER_SIZES = {
    0xCA: 5,
    0xCB: 9,  # floats
    0xCC: 2,
    0xCD: 3,
    0xCE: 5,
    0xCF: 9,  # unsigned integers
    0xD0: 2,
    0xD1: 3,
    0xD2: 5,
    0xD3: 9,  # signed integers
    0xDC: 3,
    0xDD: 5,
    0xDE: 3,
    0xDF: 5,  # lists and maps
}
_SIZES = tuple(_token_size(code) for code in range(256))
