"""The loads for every level: the one that was named; in addition random reads, writes and both at several depths, and
a stream of reads and of writes.

A state of the array is not a load: the same loads run on it healthy, with member 0 missing, and with a new drive in
its place that is being rebuilt.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from drivelab.arrays.simulation import rebuild
from drivelab.arrays.simulation.idle import (
    NO_RATE,
    TWICE,
    beside_trace,
    given_of,
    idle,
    ineffective,
    of_recorded,
)
from drivelab.errors import OptionError, ScenarioError, ref
from drivelab.errors.keys import key_of_trace, said
from drivelab.errors.several import Problems
from drivelab.scenarios.scenario import Override

STATES: Mapping[str, Mapping[str, Any]] = {
    "healthy": {},
    "degraded": {"missing": [0]},
    "rebuilding": {"missing": [0], "rebuilding": True},
}
"""The keys that each state adds to target.array."""

RANDOM = {"randread": "random reads", "randwrite": "random writes", "randrw": "random reads and writes"}
STREAMS = {"read": "sequential reads", "write": "sequential writes"}

STREAM_BLOCK = "16MiB"
"""One outstanding. Smaller ones leave members idle; several at once are reordered by drives with queueing, and lose
revolutions."""
STREAM_PLACES = ("10%", "30%", "50%", "70%", "90%")
"""Middles of five equal shares of the addresses: outer zones are faster than inner ones."""
STREAM_REQUESTS, STREAM_WARM_UP = 16, "2s"


LOAD = "load"
"""The named load: the verdict is about it."""
REBUILD, REBUILD_IDLE = "rebuild", "rebuild-idle"
"""Parts of a rebuild (rebuild.py), under the named load and with the array idle."""

DEPTHS, DEPTH = (1, 4, 16, 64), 16
"""Default depths: of the tables, and of the load."""
KINDS = {
    "read": "sequential reads",
    "write": "sequential writes",
    "rw": "sequential reads and writes",
    **RANDOM,
}
"""The kinds of load, by fio's names."""
REQUESTS, WARM_UP = 4_000, "10s"
SHARES = {"mean": None, "p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p99_9": 0.999}
"""Latencies that may be requested, by their names in the record, and the share of I/Os that does not exceed each."""
LATENCIES = ("n", *SHARES, "max")
ARRIVALS = {"poisson": "Poisson", "linear": "evenly spaced"}
"""How the requests of a rate may come, by fio's names."""
RATE_PROCESS = "poisson"
"""Unasked: independent clients are no clock, and evenly spaced requests wait less than theirs do."""
KEEPS_UP_SHARE = 0.95
"""An array that achieves a smaller share of the requested rate, beyond statistical error, does not keep up."""
_RATE = re.compile(r"(\d+(?:\.\d*)?)(?:/s)?")


@dataclass(frozen=True)
class Loads:
    """The chosen loads."""

    iodepths: Sequence[int] | None = None
    """The first for the load; all for the tables."""
    bs: str = "4KiB"
    rwmixread: int = 70
    requests: int = REQUESTS
    warm_up: str = WARM_UP
    states: Sequence[str] = field(default_factory=lambda: tuple(STATES))
    rw: str = "randrw"
    """The load's access pattern, in fio's notation."""
    rate_iops: str | None = None
    """Requests per second of an open load, instead of a constant number outstanding."""
    rate_process: str = RATE_PROCESS
    """How they are spaced, in fio's words."""
    sync: bool = False
    """Whether writes end only on the media (FUA)."""
    pattern: str | None = None
    """A workload of the catalogue is the load, in place of `rw`, `bs` and `rwmixread`."""
    trace: Mapping[str, Any] | None = None
    """A recorded trace is the load, at its recorded times: keys of `workload.trace`."""
    file: str | None = None
    """A scenario's file whose workload is the load, with its table."""
    table: Mapping[str, Any] | None = None
    full: bool = True
    """Whether anything but the load runs."""
    trace_option: str = "trace"
    """Which option names a recorded trace."""

    @classmethod
    def chosen(  # noqa: PLR0913 - its parameters are options
        cls,
        *,
        rw: str | None = None,
        pattern: str | None = None,
        trace: str | None = None,
        remap: str | None = None,
        of: str | None = None,
        bs: str | None = None,
        iodepth: int | str | Iterable[int] | None = None,
        rwmixread: int | None = None,
        rate_iops: float | str | None = None,
        rate_process: str | None = None,
        sync: bool | None = None,
        number_ios: int | None = None,
        ramp_time: str | None = None,
        states: str | Iterable[str] = tuple(STATES),
        full: bool = True,
        has_tables: bool = True,
        trace_option: str = "trace",
        trace_keys: Mapping[str, Any] | None = None,
    ) -> Loads:
        """The loads in fio's words. Raises InputError, also for a word that changes nothing beside another one.

        `has_tables` says whether the caller could run other loads with them, for its tables.
        """
        words = {"bs": bs, "rwmixread": rwmixread, "iodepth": iodepth, "sync": sync or None}
        counts = {"number_ios": number_ios, "ramp_time": ramp_time}
        problems = Problems()
        if not full:
            tables = f", or add {ref('full')}, whose tables take it" if has_tables else ""
            if trace is not None:
                problems.found += of_recorded({**words, **counts}, trace_option, tables)
            problems.found += ineffective(rw, pattern, {**words, "rate_iops": rate_iops}, tables)
        elif pattern is not None and rw is not None:
            problems.found.append(idle("rw", TWICE))
        if rate_process is not None and rate_iops is None and trace is None:
            problems.found.append(idle("rate_process", NO_RATE))
        beside = {"rw": rw, "pattern": pattern, "rate_iops": rate_iops, "rate_process": rate_process}
        problems.found += beside_trace(trace, {"remap": remap, "of": of}, trace_option, **beside)
        recorded = {"file": trace, "remap": remap, "of": of, **(trace_keys or {})}
        given = {"rw": rw, "bs": bs, "rwmixread": rwmixread}
        found = problems.read(
            cls(),
            cls,
            iodepths=None if iodepth is None else problems.read(DEPTHS, _depths, iodepth),
            requests=REQUESTS if number_ios is None else number_ios,
            warm_up=WARM_UP if ramp_time is None else ramp_time,
            states=tuple(dict.fromkeys(names_of(states))),
            rate_iops=None if rate_iops is None else str(rate_iops),
            rate_process=RATE_PROCESS if rate_process is None else rate_process,
            sync=bool(sync),
            pattern=pattern,
            trace=None if trace is None else given_of(recorded),
            full=full,
            trace_option=trace_option,
            **given_of(given),
        )
        problems.check()
        return found

    def __post_init__(self) -> None:
        """Reject loads that could have no result. Raises InputError with all errors."""
        problems, depths = Problems(), self.depths
        if self.rw not in KINDS:
            problems.found.append(OptionError("rw", self.rw, f"it is {', '.join(KINDS)}"))
        if self.rate_process not in ARRIVALS:
            problems.found.append(
                OptionError("rate_process", self.rate_process, f"it is {' or '.join(ARRIVALS)}")
            )
        if not depths or min(depths) < 1 or len(set(depths)) < len(depths):
            what = "commands outstanding, each number once and at least 1"
            problems.found.append(OptionError("iodepth", None, what, "1,4,16,64"))
        if not 1 <= self.rwmixread <= 99:
            what = "between 1 and 99; reads and writes alone run anyway"
            problems.found.append(OptionError("rwmixread", self.rwmixread, what))
        if not self.states:
            problems.found.append(OptionError("states", None, f"which? There are {', '.join(STATES)}"))
        problems.found += [
            OptionError("states", state, f"it is {', '.join(STATES)}")
            for state in self.states
            if state not in STATES
        ]
        problems.check()

    @property
    def depths(self) -> Sequence[int]:
        """The columns of the tables."""
        return DEPTHS if self.iodepths is None else self.iodepths

    @property
    def is_stream(self) -> bool:
        """Whether the load is sequential: its rate says more than its IOPS."""
        return self.is_said_by_rw and self.rw not in RANDOM

    @property
    def is_said_by_rw(self) -> bool:
        """Whether the load is given by fio's options."""
        return self.pattern is None and self.trace is None and self.table is None

    @property
    def is_recorded(self) -> bool:
        """Whether a recorded trace says it, which is replayed whole."""
        return self.trace is not None or "trace" in (self.table or {})

    @property
    def is_random(self) -> bool:
        """Whether all addresses are equally likely."""
        return self.is_said_by_rw and self.rw in RANDOM

    @property
    def rate(self) -> float | None:
        """The load's requested rate per second; None for a closed loop."""
        if self.table is None:
            return rate_asked({"rate_iops": self.rate_iops})
        jobs = self.table.get("job") or {"": {}}
        rates = [rate_asked({**self.table, **job}) for job in jobs.values()]
        return sum(rate for rate in rates if rate) if all(rates) else None

    def told(self, text: str) -> str:
        """A message about the load: in the words of its file, where it has one."""
        return text if self.table is None else said(text, key_of_trace)

    @contextmanager
    def in_its_words(self) -> Iterator[None]:
        """Raise a ScenarioError with its messages told so."""
        try:
            yield
        except ScenarioError as error:
            error.render(self.told)
            raise

    def keeps_up(self, figures: Mapping[str, Any]) -> bool | None:
        """Whether an array with these figures kept up with the requested rate; None if there is no rate."""
        if self.rate is None or not figures:
            return None
        # Arrivals may be random: three standard deviations of a count.
        chance = 3 / max(figures["latency_ns"]["n"], 1) ** 0.5
        return bool(figures["iops"] >= (1 - max(1 - KEEPS_UP_SHARE, chance)) * self.rate)

    def workload(self) -> dict[str, Any]:
        """The named load."""
        if self.table is not None:
            return dict(self.table)
        if self.trace is not None:
            return {"trace": dict(self.trace)}
        kind: dict[str, Any] = {"pattern": self.pattern} if self.pattern else {"rw": self.rw, "bs": self.bs}
        if self.pattern is None and self.rw in {"rw", "randrw"}:
            kind["rwmixread"] = self.rwmixread
        if self.sync:
            kind["sync"] = True
        if self.rate_iops is not None:
            return {**kind, "rate_iops": self.rate_iops, "rate_process": self.rate_process}
        return {**kind, "iodepth": DEPTH if self.iodepths is None else self.iodepths[0]}

    def text(self) -> str:
        """The load in words."""
        if self.file is not None:
            return f"the workload of {self.file}"
        if self.trace is not None:
            return f"the trace {self.trace['file']} at its recorded times"
        mix = f" ({self.rwmixread} % reads)" if self.rw in {"rw", "randrw"} else ""
        what = self.pattern or f"{KINDS[self.rw]} of {self.bs}{mix}"
        what += ", writes with FUA" if self.sync else ""
        if self.rate_iops is not None:
            return f"{what}, {self.rate_iops} {ARRIVALS[self.rate_process]} arrivals a second"
        return f"{what}, {self.workload()['iodepth']} outstanding"

    def arrivals(self) -> str | None:
        """What is assumed of the arrivals, and how to ask for something else; None where nothing is assumed."""
        if self.table is not None:
            jobs = self.table.get("job") or {"": {}}
            every = [{**self.table, **job} for job in jobs.values()]
            named = {str(job.get("rate_process", "linear")) for job in every if job.get("rate_iops")}
            words = [ARRIVALS[one] for one in sorted(named) if one in ARRIVALS]
            return f"{' and '.join(words)} arrivals (rate_process in {self.file})" if words else None
        if self.rate_iops is None:
            return None
        other = next(name for name in ARRIVALS if name != self.rate_process)
        return f"{ARRIVALS[self.rate_process]} arrivals (--rate-process {other}: {ARRIVALS[other]})"

    @property
    def may_write(self) -> bool:
        """Whether any of the load may be writes that wait for no media."""
        if self.sync:
            return False
        return not self.is_said_by_rw or self.rw not in {"read", "randread"}

    def documents(self) -> dict[str, dict[str, Any]]:
        """Each load as a scenario without its target."""
        # A trace is replayed whole.
        run = {} if self.is_recorded else {"warmup": self.warm_up, "ios": self.requests}
        found: dict[str, dict[str, Any]] = {LOAD: {"workload": self.workload(), "run": run}}
        if not self.full:
            return found
        found |= {rw: self._random(rw) for rw in RANDOM}
        for rw in STREAMS:
            found[rw] = {
                "workload": {
                    "rw": rw,
                    "bs": STREAM_BLOCK,
                    "iodepth": 1,
                    "offset": list(STREAM_PLACES),
                    **self._synchronous(rw),
                },
                "run": {"warmup": STREAM_WARM_UP, "ios": STREAM_REQUESTS},
            }
        return found

    def _random(self, rw: str) -> dict[str, Any]:
        mix = {"rwmixread": self.rwmixread} if rw == "randrw" else {}
        mix |= self._synchronous(rw)
        return {
            "workload": {"rw": rw, **mix, "bs": self.bs, "iodepth": list(self.depths)},
            "run": {"warmup": self.warm_up, "ios": self.requests},
        }

    def _synchronous(self, rw: str) -> dict[str, bool]:
        """The key of writes that end on the media, for loads of the tables that write."""
        return {"sync": True} if self.sync and rw not in {"read", "randread"} else {}

    def rebuild_document(self, load: str, way: rebuild.Way) -> dict[str, Any]:
        """A rebuild under the load, or with the array idle."""
        workload = self.workload() if load == REBUILD else dict(rebuild.IDLE)
        return {
            "workload": workload,
            "run": way.run_document(is_recorded=load == REBUILD and self.is_recorded),
        }

    def overrides(self, load: str) -> list[Override]:
        """The options of a load as overrides under the names of the options, so that errors refer to those."""
        if load not in {LOAD, REBUILD, *RANDOM}:
            return []
        found = []
        if self.trace is not None and load not in RANDOM:
            return [
                Override(
                    f"workload.trace.{key}",
                    _toml(value),
                    ref(self.trace_option if key == "file" else f"trace.{key}"),
                )
                for key, value in self.trace.items()
            ]
        if load != REBUILD:
            found += [
                Override("run.ios", str(self.requests), ref("number_ios")),
                Override("run.warmup", self.warm_up, ref("ramp_time")),
            ]
        if load in RANDOM:
            return [
                *found,
                Override("workload.bs", self.bs, ref("bs")),
                Override("workload.iodepth", str(list(self.depths)), ref("iodepth")),
            ]
        if self.table is not None:
            return [] if "trace" in self.table else found
        workload = self.workload()
        given = ("bs", "iodepth", "rate_iops", "rate_process", "sync", "pattern")
        return found + [
            Override(f"workload.{key}", _toml(workload[key]), ref(key)) for key in given if key in workload
        ]


def rate_asked(job: Mapping[str, Any]) -> float | None:
    """The requests per second of a job, its copies together; None for a closed loop."""
    match = _RATE.fullmatch(str(job.get("rate_iops")).strip())
    return float(match[1]) * int(job.get("numjobs", 1)) if match else None


def names_of(names: str | Iterable[str]) -> list[str]:
    """Names in a list, or in one text separated by commas."""
    found = names.split(",") if isinstance(names, str) else names
    return [name.strip() for name in found if name.strip()]


def _depths(iodepth: int | str | Iterable[int]) -> tuple[int, ...]:
    if isinstance(iodepth, int):
        return (iodepth,)
    try:
        return tuple(int(depth) for depth in (iodepth.split(",") if isinstance(iodepth, str) else iodepth))
    except ValueError as error:
        what = "numbers with commas between them, 1,4,16,64"
        raise OptionError("iodepth", iodepth, what) from error


def _toml(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
