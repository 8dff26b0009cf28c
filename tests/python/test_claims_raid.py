"""The programs that check what two studies found with arrays, on made-up figures, as in test_claims.py."""

from __future__ import annotations

import pytest
from made_up_figures import SIZES, Change, Fields, failing, failing_with, scaled

# Of each system the rates of requests of 512 MiB in MiB/s, and the time of a small one in ms.
RATES = {
    "single": {"read": 78.0, "write": 84.6},
    "raid1": {"read": 144.0, "write": 85.1},
    "raid1+": {"read": 80.0, "write": 85.0},
    "raid10": {"read": 237.0, "write": 152.0},
    "raid10+": {"read": 175.0, "write": 161.5},
    "raid5": {"read": 235.0, "write": 40.0},
    "raid5+": {"read": 232.0, "write": 164.2},
}
SMALL = {
    "single": {"read_time": 12.9, "on": 12.9, "off": 17.5},
    "raid1": {"read_time": 13.2, "on": 7.35, "off": 18.1},
    "raid1+": {"read_time": 13.2, "on": 7.3},
    "raid10": {"read_time": 15.9, "on": 4.3, "off": 18.9},
    "raid10+": {"read_time": 14.3, "on": 4.1},
    "raid5": {"read_time": 14.3, "on": 40.0, "off": 62.5},
    "raid5+": {"read_time": 14.34, "on": 9.65},
}
MIB = 2**20
# Writes of copies at 1 MiB take so much longer than the model of first order says.
MISS = 1.3


def ich9r(fields: Fields, _variant: str | None) -> float:
    """The arrays as the findings have them."""
    system, figure, size = fields["system"], fields["figure"], SIZES[fields["size"]]
    if figure in ("read", "write"):
        return RATES[system][figure]
    read = figure == "read_time"
    small = SMALL[system]["read_time" if read else fields["cache"]]
    time = small + size / MIB / RATES[system]["read" if read else "write"] * 1e3
    match system, figure:
        case "raid1" | "raid1+", "read_time":
            # From 64 MiB on both drives read, without the driver's cache.
            alone = 1.02 * ich9r({**fields, "system": "single"}, None)
            return alone * 0.55 if system == "raid1" and size >= 64 * MIB else alone
        case "raid5+", "read_time":
            return time * 0.85 if MIB <= size <= 64 * MIB else time
        case "raid5+", "write_time":
            return time + 97.85 if size >= MIB else time
        case "raid1" | "raid1+" | "raid10" | "raid10+", "write_time":
            return time * MISS if size == MIB else time
    return time


def of(system: str, cache: str, figure: str, factor: float, size: str | None = None) -> Change:
    """A change of one system's figures: of one size, or of all."""
    wanted = {"system": system, "cache": cache, "figure": figure}
    return scaled(factor, **wanted, **({"size": size} if size else {}))


@pytest.mark.parametrize(
    ("change", "fails"),
    [
        (None, set()),
        # Shared too late, too early, and with the driver's cache.
        (of("raid1", "on", "read_time", 1.5, "64MiB"), {"raid1_reads_split"}),
        (of("raid1", "on", "read_time", 0.6, "16MiB"), {"raid1_reads_split"}),
        (of("raid1+", "on", "read_time", 0.6, "512MiB"), {"raid1_reads_split"}),
        (of("raid1", "on", "read_time", 0.94, "4KiB"), {"raid1_read_no_gain"}),
        (of("raid1", "off", "write_time", 1 / MISS, "1MiB"), {"raid1_write_model"}),
        (of("raid1", "on", "write_time", 1 / MISS, "1MiB"), {"raid1_write_model"}),
        (of("raid1+", "on", "write_time", 1.5, "64MiB"), {"raid1_write_model"}),
        (of("raid1", "on", "read", 0.5), {"raid1_best"}),
        (of("raid1", "off", "write_time", 0.4), {"raid1_best"}),
        (of("raid1+", "on", "write_time", 0.9), {"raid1_best"}),
        # Reads that lose too little, writes that lose, small writes that lose.
        (of("raid10+", "on", "read", 1.3), {"raid10_best"}),
        (of("raid10", "on", "write", 1.08), {"raid10_best"}),
        (of("raid10+", "on", "write_time", 1.1), {"raid10_best"}),
        (of("raid10", "on", "write", 0.95), {"raid10_write_rate"}),
        (of("raid10+", "on", "write", 1.06), {"raid10_write_rate"}),
        (of("raid10", "on", "write_time", 3.1), {"raid10_small_writes"}),
        (of("raid10", "on", "write_time", 1 / MISS, "1MiB"), {"raid10_write_model"}),
        (of("raid10+", "on", "write_time", 0.4, "4KiB"), {"raid10_write_model"}),
        (of("raid5+", "on", "write", 0.8), {"raid5_write_rate"}),
        (of("raid5+", "on", "write", 1.5), {"raid5_write_rate"}),
        (of("raid5+", "on", "read_time", 0.88), {"raid5_read_latency"}),
        (of("raid5+", "on", "read_time", 1.1), {"raid5_read_latency"}),
        (of("raid5+", "on", "read_time", 1.3, "16MiB"), {"raid5_read_model"}),
        (of("raid5+", "on", "read_time", 1.3, "256MiB"), {"raid5_read_model"}),
        (of("raid5", "off", "write_time", 1.3, "1MiB"), {"raid5_write_model_uncached"}),
        (of("raid5", "on", "write_time", 0.7, "16MiB"), {"raid5_write_model_uncached"}),
        (of("raid5+", "on", "write_time", 1.12, "1MiB"), {"raid5_write_model_cached"}),
        (of("raid5+", "on", "write_time", 0.88, "512MiB"), {"raid5_write_model_cached"}),
        (of("raid5", "off", "write_time", 0.8), {"raid5_without_caches_unfit"}),
    ],
)
def test_ich9r_2008_raid(change: Change | None, fails: set[str]) -> None:
    assert failing("ich9r-2008-raid", ich9r, change) == fails


@pytest.mark.parametrize(
    ("key", "name", "value", "fails"),
    [
        ("annual_failure_percent", "raid10_4", "0.500", "annual_failure"),
        ("annual_failure_percent", "raid5_4", "1.41", "annual_failure"),
        # The study's slip: printed right, there would be nothing to except.
        ("annual_failure_percent", "raid5_6", "3.3", "annual_failure"),
        ("cents_per_gb", "raid5_4", 17.8, "cost"),
        ("cents_per_gb", "single_1", 13.4, "cost"),
    ],
)
def test_the_arithmetic_of_ich9r_2008_raid(key: str, name: str, value: object, fails: str) -> None:
    assert failing_with("ich9r-2008-raid", ich9r, key, name, value) == {fails}


# I/O per second at 1, 4, 16 and 64 outstanding.
IOPS = {
    "raid0x1": {"S": (118, 120, 121, 122), "T": (112, 118, 190, 250), "C": (120, 145, 200, 260)},
    "raid0x2": {"S": (120, 180, 230, 240), "T": (117, 190, 300, 385), "C": (116, 190, 280, 360)},
    "raid0x3": {"S": (121, 230, 310, 330), "T": (118, 240, 400, 530), "C": (115, 240, 380, 480)},
    "raid0x4": {"S": (122, 260, 380, 420), "T": (119, 270, 480, 678), "C": (116, 270, 460, 600)},
    "raid1x2": {"S": (120, 170, 210, 215), "T": (115, 180, 240, 225), "C": (116, 180, 230, 260)},
    "raid10x4": {"S": (130, 280, 400, 410), "T": (120, 260, 410, 450), "C": (118, 250, 395, 440)},
}
LEVELS_OUT, LARGER, CLOSE, LIGHT = (
    "striped-levels-out",
    "striped-larger-array",
    "two-members-close",
    "light-load-3-4",
)
HEAVY, DROP, ORDER, GAIN = "heavy-load-1-to-4", "raid1-drop", "raid10-order", "sata-like-scsi"


def storagereview(fields: Fields, _variant: str | None) -> float:
    """The arrays as the findings have them."""
    depth = ("1", "4", "16", "64").index(fields["outstanding"])
    return float(IOPS[fields["array"]][fields["system"]][depth])


def at(system: str, array: str, outstanding: str, factor: float, pattern: str = "published") -> Change:
    """A change of one cell, under one reading of the study's 22 KB."""
    return scaled(factor, system=system, array=array, outstanding=outstanding, pattern=pattern)


@pytest.mark.parametrize(
    ("change", "fails"),
    [
        (None, set()),
        # S gains from 16 to 64, or is overtaken by none; and T gains nothing.
        (at("S", "raid0x2", "16", 0.75), {LEVELS_OUT}),
        (at("S", "raid0x2", "64", 1.55, "doubled"), {LEVELS_OUT}),
        (at("T", "raid0x2", "16", 1.3), {LEVELS_OUT}),
        (at("C", "raid0x2", "64", 0.65), {LEVELS_OUT}),
        (at("S", "raid0x4", "16", 1.3), {LARGER}),
        (at("T", "raid0x4", "16", 0.75, "doubled"), {LARGER}),
        (at("S", "raid0x4", "64", 1.5), {LARGER}),
        (at("T", "raid0x4", "64", 0.87), {LARGER, HEAVY}),
        (at("C", "raid0x2", "1", 1.06), {CLOSE}),
        (at("C", "raid0x2", "1", 0.9, "doubled"), {CLOSE}),
        (at("T", "raid0x3", "1", 1.04), {LIGHT}),
        (at("T", "raid0x4", "1", 0.96), {LIGHT}),
        (at("C", "raid0x4", "1", 0.9, "doubled"), {LIGHT}),
        (at("T", "raid0x1", "64", 1.1), {HEAVY}),
        (at("C", "raid0x4", "64", 1.06), {HEAVY}),
        (at("C", "raid0x4", "64", 0.94, "doubled"), {HEAVY}),
        (at("T", "raid1x2", "64", 1.1), {DROP}),
        (at("T", "raid10x4", "64", 0.91, "doubled"), {DROP, ORDER}),
        (at("T", "raid10x4", "16", 1.1), {DROP, ORDER}),
        (at("C", "raid1x2", "4", 1.5), {"raid10-over-raid1"}),
        (at("S", "raid10x4", "1", 0.9, "doubled"), {"raid10-over-raid1"}),
        (at("S", "raid10x4", "4", 0.9), {ORDER}),
        (at("C", "raid10x4", "16", 0.9, "doubled"), {ORDER}),
        (at("S", "raid10x4", "64", 1.12), {ORDER}),
        (at("T", "raid0x1", "1", 1.3), {GAIN}),
        (at("C", "raid0x1", "1", 0.8, "doubled"), {CLOSE, GAIN}),
    ],
)
def test_storagereview_2004_raid(change: Change | None, fails: set[str]) -> None:
    assert failing("storagereview-2004-raid", storagereview, change) == fails


@pytest.mark.parametrize(
    ("key", "name", "value"),
    [
        ("price_usd", "Cheetah 10K.6", 338),
        ("price_usd", "S150 TX4", 169),
        ("system_usd", "T", [378, 597, 816, 1036]),
    ],
)
def test_the_arithmetic_of_storagereview_2004_raid(key: str, name: str, value: object) -> None:
    assert failing_with("storagereview-2004-raid", storagereview, key, name, value) == {"system-price"}
