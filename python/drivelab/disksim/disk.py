"""A block `disksim_disk` as the sections firmware, link, queue and cache of a drive file.

docs/how-to/validate.md lists the meaning of each parameter, and those without effect while only one request is
outstanding.
Parameters that would change something that is not modelled are refused by name.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from typing import Any

from drivelab.disksim.parameters import Parameters

SECTOR_BYTES = 512
_READ_AHEAD = {0: "none", 1: "track", 2: "cylinder", 3: "limit", 4: "next-track"}
_BY_NEXT_TRACK = 4
_NO_TIME = "1000GB/s"
_FIRST = {
    "value": "10 sectors",
    "mark": "inferred",
    "source": "DiskSim's number for a write in two connections; measured writes of two drives show 7 and 20",
}
"""What a write to the media waits for on a drive with a segment for writes alone; elsewhere for one sector."""

# With one request outstanding at a time these have no effect, or only change what is printed.
_WITHOUT_EFFECT = (
    "Model",
    "Print stats",
    "Avg sectors per cylinder",
    "Calc sector by sector",
    "Max queue length",
    "Scheduler",
    # For a write that is larger than its segment.
    "Hold bus entire write xfer",
    # A write stops a prefetch anyway.
    "Write hit stop prefetch",
    # With one request outstanding these matter only during a flush, and there no more than the model's own
    # way.
    "Allow sneaky partial read hits",
    "Allow sneaky intermediate read hits",
)
# The one value that means what the model does, and why another one cannot be imported.
_ONLY = (
    ("Per-request overhead time", 0, "the model has no delay before a request is looked at"),
    ("Disconnect write if seek", 0, "the model stops a prefetch in its seek as well"),
    ("Read directly to buffer", 1, "the model reads into the buffer as a sector passes"),
    ("Immed transfer partial hit", 1, "the model sends what it has of a partial hit at once"),
    ("Combine seq writes", 1, "the model appends a write that goes on where unwritten data end"),
)


@dataclass(frozen=True)
class Bus:
    """Milliseconds per sector on the bus to which the disk is attached."""

    read: Decimal
    write: Decimal


@dataclass(frozen=True)
class Disk:
    """A disk in the terms of a drive file."""

    on_arrival: dict[str, bool | str]
    """Keys of the section settle."""
    firmware: dict[str, Any]
    link: dict[str, str]
    sector: Bus
    """Milliseconds per sector on the link."""
    disconnect: dict[str, Any]
    queue: dict[str, str]
    cache: dict[str, Any] | None
    write_cache: bool


def disk(parameters: Parameters, bus: Bus) -> Disk:
    """Everything that a block `disksim_disk` says except its model."""
    parameters.ignore(*_WITHOUT_EFFECT)
    for key, value, why in _ONLY:
        parameters.only(key, value, why)
    fast = parameters.one_of("Fast write level", (0, 1, 2)) > 0
    # Preseeking matters only with a queue: the bus, which is held until the completion, delays the next seek.
    held = parameters.one_of("Preseeking level", (0, 1, 2)) < 2
    sector = _sector(parameters, bus)
    found = Disk(
        on_arrival={
            # A drive that keeps the bus sends each sector as it passes, in order.
            "read_on_arrival": parameters.flag("Immediate buffer read")
            and not parameters.flag("Never disconnect"),
            "write_on_arrival": parameters.flag("Immediate buffer write"),
            **_least(parameters),
        },
        firmware=_firmware(parameters, fast=fast),
        link=_link(sector),
        sector=sector,
        disconnect=_disconnect(parameters, fast=fast),
        queue={"chooses": "at-completion"} if held else {},
        cache=_cache(parameters, fast=fast),
        write_cache=fast,
    )
    parameters.check_all_known()
    return found


def ms(time: Decimal) -> str:
    """Milliseconds as a drive file writes them, to the nanosecond."""
    text = f"{time:.6f}".rstrip("0").rstrip(".")
    return ("0" if text in ("-0", "") else text) + "ms"


def _firmware(parameters: Parameters, *, fast: bool) -> dict[str, Any]:
    scale = parameters.time("Time scale for overheads")

    def overhead(name: str) -> dict[str, str]:
        return {
            f"after_{before}": ms(scale * parameters.time(f"{name} over. after {before}"))
            for before in ("read", "write")
        }

    times: dict[str, Any] = {
        "read_hit": overhead("Read hit"),
        "read_miss": overhead("Read miss"),
        "write": overhead("Write miss"),
    }
    # A drive that does not answer writes from its buffer does not use the other one.
    write_hit = overhead("Write hit")
    if fast:
        times["write_hit"] = write_hit
    for access in ("read", "write"):
        times[f"{access}_completion"] = ms(
            scale * parameters.time(f"{access.capitalize()} completion overhead")
        )
    return times


def _sector(parameters: Parameters, bus: Bus) -> Bus:
    """The time of a sector on the slower of the disk's own path and the bus."""
    bulk = parameters.number("Bulk sector transfer time")
    return Bus(*(max(bulk, way, Decimal(0)) for way in (bus.read, bus.write)))


def _link(sector: Bus) -> dict[str, str]:
    """The rates at which a sector takes this long."""
    keys = {}
    if sector.read:
        keys["rate"] = _rate(sector.read)
    if sector.write != sector.read:
        # Zero time would be an infinite rate: a nanosecond for any request is as close as a drive file gets.
        keys["write_rate"] = _rate(sector.write) if sector.write else _NO_TIME
    return {**keys, "write_data": "while-positioning"}


def _rate(sector: Decimal) -> str:
    # Rounded up, so that the time of a transfer, which is rounded up too, is exact to the nanosecond.
    return f"{int((SECTOR_BYTES * 1000 / sector).to_integral_value(ROUND_CEILING))}B/s"


def _disconnect(parameters: Parameters, *, fast: bool) -> dict[str, Any]:
    """How the drive disconnects from its bus and reconnects, if that takes any time."""
    scale = parameters.time("Time scale for overheads")

    def time(key: str) -> Decimal:
        return scale * parameters.time(key)

    times = {
        "preparation": time("Data preparation overhead"),
        "reselection": time("First reselect overhead"),
        "write_release": time("Write disconnect overhead"),
    }
    keys: dict[str, Any] = {key: ms(spent) for key, spent in times.items() if spent}
    release = [time(f"Read disconnect after{before}") for before in ("read", "write")]
    if any(release):
        keys["read_release"] = {"after_read": ms(release[0]), "after_write": ms(release[1])}
    # Delay and delta are not overheads, and are not scaled.
    second = {
        "command": ms(time("Extradisc command overhead")),
        "release": ms(time("Extradisc disconnect overhead")),
        "away": ms(parameters.time("Extradisc inter-disconnect delay")),
        "arm": ms(parameters.number("Extradisc seek delta")),
        "release_again": ms(time("Extradisc 2nd disconnect overhead")),
        "reselection": ms(time("Other reselect overhead")),
    }
    if parameters.flag("Extra write disconnect"):
        if fast:
            raise parameters.wrong("Extra write disconnect", "only 0 can be imported beside fast writes")
        keys["second"] = second
    # Without overheads it does not matter who holds the bus.
    if parameters.flag("Never disconnect") and keys:
        keys["keeps_bus"] = True
    return keys


def _cache(parameters: Parameters, *, fast: bool) -> dict[str, Any] | None:
    """The buffer, with its read-ahead and its handling of writes."""
    segment = parameters.count("Segment size (in blks)", 1)
    separate = parameters.flag("Use separate write segment")
    segments = parameters.count("Number of buffer segments", 2 if separate else 1)
    write_segments = parameters.count("Maximum number of write segments", 1)
    read_ahead = parameters.one_of("Buffer continuous read", tuple(_READ_AHEAD))
    keeps_written = parameters.flag("Allow read hits on write data")
    read_ahead_keys = _read_ahead(parameters, read_ahead, segment)
    send_from = _send_from(parameters)
    mark = _mark(parameters, "Low (write) water mark")
    keeps_passing = parameters.flag("Read any free blocks")
    hits_while_busy = parameters.flag("Allow sneaky full read hits")
    while_busy = parameters.flag("Allow write prebuffering")
    if parameters.one_of("Enable caching in buffer", (0, 1, 2)) == 0:
        if read_ahead or fast:
            raise parameters.wrong("Enable caching in buffer", "then nothing may read ahead or answer writes")
        return None
    keys: dict[str, Any] = {
        "segments": segments,
        "segment_size": sectors(segment),
        "segmentation": "fixed",
        "separate_writes": separate,
        "send_from": send_from,
        # Without a write cache the mark is left out: in DiskSim it counts for writes beyond a segment alone.
        **({"write_from": mark} if fast else {}),
        **({"write_first": _FIRST} if separate and not fast else {}),
        "keeps_passing": keeps_passing,
        **({} if hits_while_busy or not fast else {"hits_while_busy": False}),
        **read_ahead_keys,
    }
    if fast:
        keys |= {
            # If writes have their own segment, reads never look into it.
            **({} if separate else {"keeps_written": keeps_written}),
            "write_segments": min(write_segments, segments),
            "destage": "at-once",
            "takes_writes_while_busy": while_busy,
        }
    return keys


def _least(parameters: Parameters) -> dict[str, str]:
    """The minimum positioning time of a write."""
    least = parameters.time("Minimum seek delay")
    return {"write_least": ms(least)} if least else {}


def sectors(count: int) -> str:
    """An amount of data."""
    return "1 sector" if count == 1 else f"{count} sectors"


def _send_from(parameters: Parameters) -> str:
    """The share of its data from which on a read is sent."""
    never = parameters.flag("Never disconnect")
    # A drive that holds the bus for a whole read waits for its data there: it sends in its first connection
    # in any case.
    parameters.flag("Hold bus entire read xfer")
    mark = _mark(parameters, "High (read) water mark")
    if mark != "0%" and not never and not parameters.flag("Set watermark by reqsize"):
        raise parameters.wrong("Set watermark by reqsize", "a mark by the segment cannot be imported")
    parameters.ignore("Set watermark by reqsize")
    return "0%" if never else mark


def _mark(parameters: Parameters, key: str) -> str:
    """A share of a request's data."""
    mark = parameters.number(key)
    if not 0 <= mark <= 1:
        raise parameters.wrong(key, "a share from 0 to 1 is wanted")
    return f"{(100 * mark).normalize():f}%"


def _read_ahead(parameters: Parameters, kind: int, segment: int) -> dict[str, Any]:
    """How far the head reads ahead after a read, and what stops it."""
    # With -1 the requested data are dropped once they are sent; here a repeated request still finds them.
    parameters.one_of("Read-ahead over requested", (-1, 0, 1))
    least, most = (parameters.count(f"{name} read-ahead (blks)") for name in ("Minimum", "Maximum"))
    keys: dict[str, Any] = {"read_ahead": _READ_AHEAD[kind]}
    if kind not in (0, _BY_NEXT_TRACK):
        keys["read_ahead_limit"] = sectors(min(most or segment, segment))
    if kind and least:
        keys["read_ahead_least"] = sectors(least)
    on_hit, covers = parameters.flag("Read-ahead on idle hit"), parameters.flag("Allow almost read hits")
    at_once = parameters.flag("Stop prefetch in sector")
    if kind:
        keys |= {
            "read_ahead_on_hit": on_hit,
            "covers_front": covers,
            "ends_sector": not at_once,
        }
    if kind and covers:
        keys["covers_within"] = "0s"
    return keys
