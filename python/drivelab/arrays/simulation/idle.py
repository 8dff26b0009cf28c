"""Words of a load that change nothing beside others: each is refused with what it stands beside."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from drivelab.errors import OptionError, ref


def given_of(keys: Mapping[str, Any]) -> dict[str, Any]:
    """What was given of these keys."""
    return {key: value for key, value in keys.items() if value is not None}


def idle(option: str, what: str) -> OptionError:
    """The error of an option that changes nothing beside others, which the text names."""
    return OptionError(option, None, what, is_named=False)


NO_RATE = (
    f"{ref('rate_process')} changes nothing without {ref('rate_iops')}: a depth waits for what has finished; add "
    f"{ref('rate_iops', '150')}, or leave it out"
)
TWICE = (
    f"{ref('rw')} changes nothing with {ref('pattern')}, which says what is asked for: keep one of the two"
)


def beside_trace(
    trace: str | None, moves: Mapping[str, object], option: str, **others: object
) -> Iterator[OptionError]:
    """Words that change nothing without a recorded trace, or with one."""
    for key in given_of(moves) if trace is None else ():
        yield idle(key, f"{ref(key)} changes nothing without {ref(option)}, whose addresses it moves")
    for key in given_of(others) if trace is not None else ():
        what = f"changes nothing with {ref(option)}, which says what is asked for: keep one of the two"
        yield idle(key, f"{ref(key)} {what}")


def of_recorded(words: Mapping[str, object], option: str, tables: str) -> Iterator[OptionError]:
    """Words that a recorded trace has of its own."""
    for key in given_of(words):
        what = f"changes nothing with {ref(option)}, which is replayed whole: leave it out{tables}"
        yield idle(key, f"{ref(key)} {what}")


def ineffective(
    rw: str | None, pattern: str | None, words: Mapping[str, object], tables: str
) -> Iterator[OptionError]:
    """Words that change nothing beside others."""
    given = given_of(words).keys()
    if pattern is not None and rw is not None:
        yield idle("rw", TWICE)
    if pattern is not None:
        for name in ("bs", "rwmixread"):
            if name in given:
                what = f"{ref(name)} changes nothing with {ref('pattern')}, which has its own: leave it out{tables}"
                yield idle(name, what)
    if "rwmixread" in given and rw in {"read", "write", "randread", "randwrite"}:
        what = (
            f"{ref('rwmixread')} changes nothing with {ref('rw', rw)}: set {ref('rw')} to rw or randrw, or "
            "leave it out"
        )
        yield idle("rwmixread", what)
    if "sync" in given and rw in {"read", "randread"}:
        what = (
            f"{ref('sync')} changes nothing with {ref('rw', rw)}, which writes nothing: leave it out{tables}"
        )
        yield idle("sync", what)
    if {"rate_iops", "iodepth"} <= given:
        what = (
            f"{ref('iodepth')} changes nothing with {ref('rate_iops')}: a rate issues whatever has finished, a depth "
            f"waits; keep one of the two{tables}"
        )
        yield idle("iodepth", what)
