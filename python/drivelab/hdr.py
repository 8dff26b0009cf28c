"""The histograms of the record: HdrHistogram in its format V2, deflated, as base64."""

from __future__ import annotations

import base64
import binascii
import math
import struct
import zlib

# The cookies of the format, but for the bits that tell the size of a word.
_V2, _V2_DEFLATED, _COOKIE = 0x1C849303, 0x1C849304, 0xFFFFFF0F
_DIGITS_MAX = 5


def decode(text: str) -> list[tuple[int, int]]:
    """Values in ns and how often each came, of a histogram of the record. Raises ValueError."""
    if not text:
        return []
    try:
        packed = base64.b64decode(text, validate=True)
        cookie, length = struct.unpack(">II", packed[:8])
        body = zlib.decompress(packed[8 : 8 + length]) if cookie & _COOKIE == _V2_DEFLATED else b""
        inner, size, _, digits, _, _, _ = struct.unpack(">IIIIQQd", body[:40])
    except (binascii.Error, struct.error, zlib.error) as error:
        raise ValueError(f"a histogram of the record cannot be read: {error}") from error
    if inner & _COOKIE != _V2 or digits > _DIGITS_MAX:
        raise ValueError("a histogram of the record is not of the format V2")
    half = 2 ** (math.ceil(math.log2(2 * 10**digits)) - 1)
    found: list[tuple[int, int]] = []
    index = 0
    for count in _zigzag(body[40 : 40 + size]):
        if count < 0:
            index -= count
            continue
        if count:
            found.append((_value(index, half), count))
        index += 1
    return found


def _value(index: int, half: int) -> int:
    """The middle of the values that are counted at a place."""
    bucket = max(index // half - 1, 0)
    within = index - bucket * half
    return (within << bucket) + (1 << bucket) // 2


def _zigzag(data: bytes) -> list[int]:
    """Signed numbers in LEB128, as HdrHistogram packs them: the ninth byte has eight bits."""
    numbers, at = [], 0
    while at < len(data):
        value = shift = 0
        while True:
            if at == len(data):
                raise ValueError("a histogram of the record cannot be read: it ends within a number")
            byte = data[at]
            at += 1
            value |= byte << shift if shift == 56 else (byte & 0x7F) << shift
            if byte < 0x80 or shift == 56:
                break
            shift += 7
        numbers.append((value >> 1) ^ -(value & 1))
    return numbers
