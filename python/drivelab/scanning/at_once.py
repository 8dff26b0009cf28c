"""What a scan says of a target that answers at once: a request that takes no time has no rate and no access time.

It is the same wherever it shows: time stands still in the run, or no request is left that took any.
"""

from __future__ import annotations

from drivelab.result import Failure

REMEDY = (
    "a cache on the way answers in no time; say what an answer costs: target.host_cache.overhead or .rate, "
    "target.controller.cache.overhead or .rate, target.drive.firmware for the drive's own"
)

# How a run says that its time stands still. What it advises, a thinktime or a rate, is not free in a scan.
_STILL = "time does not pass"


def failure_text(failure: Failure) -> str:
    """Why a point of a scan has no result, with a remedy that a scan allows, and where it was."""
    at = ", ".join(f"{key} = {value}" for key, value in failure.axes.items())
    message = failure.message
    if message.startswith(_STILL):
        message = f"{message.partition(':')[0]}: {REMEDY}"
    return f"{message} (at {at})" if at else message
