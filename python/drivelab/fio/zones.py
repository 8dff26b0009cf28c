"""Jobs that write the zones of a host-managed drive."""

from __future__ import annotations

from drivelab.fio import values
from drivelab.fio.reader import Built, Reader
from drivelab.fio.sizes import MIXED

_ONLY_ZBD = ("max_open_zones", "job_max_open_zones", "read_beyond_wp")


def zones_of(reader: Reader, built: Built, rw: str, notes: dict[str, None]) -> None:
    """Add `zonemode` and `max_open_zones` to the keys; the zones themselves are the drive's."""
    mode = reader.text("zonemode") or "none"
    most = [reader.read(key, values.whole, 0) for key in ("max_open_zones", "job_max_open_zones")]
    beyond = reader.job.get("read_beyond_wp") is not None and reader.flag("read_beyond_wp")
    size = reader.job.get("zonesize")
    if mode == "strided":
        reader.wrong(reader.job.get("zonemode"), "strides are not drawn here; replay a trace (read_iolog)")
    elif mode == "none":
        if size is not None:
            reader.wrong(
                size, "for hot and cold regions take random_distribution=zoned:..; for zones zonemode=zbd"
            )
        for key in _ONLY_ZBD:
            if reader.job.get(key) is not None:
                notes[f"{key} changes nothing without zonemode=zbd"] = None
    elif mode != "zbd":
        reader.wrong(reader.job.get("zonemode"), "write none, or zbd")
    else:
        built.keys["zonemode"] = "zbd"
        if rw not in {"read", "randread"}:
            _one_copy(reader)
        if reader.job.get("ignore_zone_limits") is not None:
            notes[
                "ignore_zone_limits changes nothing: a drive closes a zone by itself where too many are open"
            ] = None
        if limits := [limit for limit in most if limit]:
            built.keys["max_open_zones"] = min(limits)
        if size is not None:
            notes["zonesize changes nothing: the zones are those of the drive"] = None
        if not beyond and rw in {"read", "randread", *MIXED}:
            notes[
                "reads go anywhere here, as with read_beyond_wp=1: a drive reads behind a write pointer too"
            ] = None


def _one_copy(reader: Reader) -> None:
    """Refuse copies: they would write the same zones, and know nothing of each other's pointers."""
    if reader.read("numjobs", values.whole, 1) != 1:
        reader.wrong(
            reader.job.get("numjobs"),
            "copies would write the same zones; make jobs with an offset and a size each",
        )
