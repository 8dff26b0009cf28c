"""Histograms of the record: HdrHistogram in its format V2, deflated, as base64; what their quantiles are worth."""

from __future__ import annotations

import base64
import binascii
import math
import struct
import zlib
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

# The cookies of the format, but for the bits that tell the size of a word.
_V2, _V2_DEFLATED, _COOKIE = 0x1C849303, 0x1C849304, 0xFFFFFF0F
_DIGITS_MAX = 5
Z_95 = 1.96
_BATCHES = 20


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


def latency_interval(point: Mapping[str, Any], share: float | None) -> tuple[float, float] | None:
    """The 95 % confidence interval in ns of a quantile of all response times, or of their mean where `share` is None.

    Response times that follow each other are alike: their number counts for as much less as the means of
    batches spread more than those of independent ones would (P. Welch, 1983). None below 100 I/Os.
    """
    times = sorted(pair for name in ("read", "write") for pair in decode(point[name]["histogram"]))
    count = sum(often for _, often in times)
    if count < 100:
        return None
    mean = point["latency_ns"]["mean"]
    variance = sum(often * (ns - mean) ** 2 for ns, often in times) / count
    effective = count / _inflation(point["series"], mean, variance)
    if share is None:
        half = Z_95 * math.sqrt(variance / effective)
        return max(mean - half, 0.0), mean + half
    half = Z_95 * math.sqrt(share * (1 - share) / effective)
    ranks = list(accumulate(often for _, often in times))
    low, high = (_at_rank(times, ranks, end * count) for end in (share - half, min(share + half, 1.0)))
    return low, high


def _at_rank(times: Sequence[tuple[int, int]], ranks: Sequence[int], rank: float) -> float:
    return float(next((ns for (ns, _), upto in zip(times, ranks, strict=True) if upto >= rank), times[-1][0]))


def _inflation(series: Sequence[Mapping[str, Any]], mean: float, variance: float) -> float:
    """By how much the means of batches spread more than those of independent response times; 1 at least."""
    pieces = [(piece["ios"], piece["mean_latency_ns"]) for piece in series if piece["ios"]]
    size = max(len(pieces) // _BATCHES, 1)
    batches = [pieces[at : at + size] for at in range(0, len(pieces), size)]
    if len(batches) < 4 or not variance:
        return 1.0
    sums = [(sum(ios for ios, _ in batch), sum(ios * ns for ios, ns in batch)) for batch in batches]
    # Each batch's mean, weighed with its I/Os, has the variance of one response time where these are independent.
    spread = sum(ios * (total / ios - mean) ** 2 for ios, total in sums) / (len(sums) - 1)
    return float(max(spread / variance, 1.0))
