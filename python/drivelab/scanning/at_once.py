"""Errors of a scan of a target that answers at once: a request that takes no time has no rate and no access time.

The cause is the same in both forms: time does not advance in the run, or no request took any time.
"""

from __future__ import annotations

from drivelab.errors import TimelessError
from drivelab.runs.result import Failure

REMEDY = (
    "a cache on the way answers in no time; say what an answer costs: target.host_cache.overhead or .rate, "
    "target.controller.cache.overhead or .rate, target.drive.firmware for the drive's own"
)


def failure_text(failure: Failure) -> str:
    """Why a point of a scan has no result, with a remedy that a scan allows, and its place."""
    at = ", ".join(f"{key} = {value}" for key, value in failure.axes.items())
    # A thinktime or a rate, which help in a run, are nothing that a scan has.
    message = f"time does not pass: {REMEDY}" if failure.kind is TimelessError else failure.why
    return f"{message} (at {at})" if at else message
