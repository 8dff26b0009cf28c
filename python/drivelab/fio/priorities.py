"""fio's priorities of a job's I/Os, as the drive sees them: NCQ's high priority, and duration limits."""

from __future__ import annotations

from drivelab.fio import values
from drivelab.fio.reader import Built, Reader
from drivelab.fio.values import WrongError

_REAL_TIME = 1
"""The class whose I/Os libata sends with high priority."""
_DURATION_LIMITS = 4
"""The class with which the first kernels that had duration limits passed on their index, as the level."""
_INDICES = range(1, 8)
"""The descriptors of duration limits; they are the hints of that name in Linux too."""


def of_shares(reader: Reader, built: Built, rw: str) -> None:
    """`cmdprio_percentage` of the I/Os have the priority of `cmdprio_class`, `cmdprio` and `cmdprio_hint`."""

    def own(key: str, default: int) -> int:
        return reader.read(key, lambda text: values.of_one(text, key, rw, values.whole), default)

    percent = reader.read(
        "cmdprio_percentage", lambda text: values.of_one(text, "cmdprio_percentage", rw, values.percent), 0
    )
    # fio takes the real-time class where none is given.
    klass, level, hint = own("cmdprio_class", _REAL_TIME), own("cmdprio", 0), own("cmdprio_hint", 0)
    if not percent:
        return
    if klass == _DURATION_LIMITS:
        hint = level
    if hint and hint not in _INDICES:
        key = "cmdprio" if klass == _DURATION_LIMITS else "cmdprio_hint"
        reader.wrong(reader.job.get(key), "a drive has seven duration limits; write 1 to 7")
    elif hint:
        built.keys["prioritysplit"] = f"limit-{hint}/{percent}"
    elif klass == _REAL_TIME:
        built.keys["prioritysplit"] = f"high/{percent}"
    else:
        reader.wrong(
            reader.job.get("cmdprio_class") or reader.job.get("cmdprio_percentage"),
            "a drive learns of the real-time class (1) and of duration limits (cmdprio_hint) alone; leave it out",
        )


def of_job(reader: Reader, built: Built) -> None:
    """`priohint`: all I/Os of the job have one duration limit."""

    def index(text: str) -> int:
        found = values.whole(text)
        if found and found not in _INDICES:
            raise WrongError("a drive has seven duration limits; write 1 to 7")
        return found

    hint = reader.read("priohint", index, 0)
    if not hint:
        return
    if "prioritysplit" in built.keys:
        reader.wrong(
            reader.job.get("priohint"), "cmdprio_percentage gives I/Os their priority; leave one out"
        )
        return
    built.keys["priority"] = f"limit-{hint}"
