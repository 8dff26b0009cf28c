"""The workload in fio's words, and the array that it runs on, as options.

An option becomes an override: the scenario room judges it.

Dashes and underscores are the same (`--rate-iops`, `--rate_iops`). Values are passed on as they are typed, so
that a list is a sweep everywhere: `--iodepth 1,4,16,64`; a range is written as one (`--members 2..4`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from drivelab import _core
from drivelab.cli import completion
from drivelab.cli.output import say
from drivelab.errors import InputError, raw, ref
from drivelab.errors.keys import WORDS
from drivelab.scenarios.ranges import listed
from drivelab.scenarios.scenario import Override, Source, check_once

WORKLOAD_PANEL = "The scenario, in fio's words"
ARRAY_PANEL = "An array of the drive"
TRACE_PANEL = "A recorded trace as the workload"


def _option(
    text: str, metavar: str, panel: str = WORKLOAD_PANEL, names: completion.Complete | None = None
) -> object:
    return typer.Option(
        help=text, metavar=metavar, rich_help_panel=panel, show_default=False, autocompletion=names
    )


# Options that a verb has without the rest of their group.
Name = Annotated[str | None, _option("Name of the run in its results", "NAME")]
Drive = Annotated[
    str | None, _option("A drive of the catalogue, or a path to one", "NAME", names=completion.drives)
]
Level = Annotated[
    str | None,
    _option(
        "jbod, raid0, raid1, raid01, raid10, raid3 .. raid6, raidz1 ..",
        "NAME",
        ARRAY_PANEL,
        completion.levels,
    ),
]
Members = Annotated[str | None, _option("Number of drives; 2,4,8 or 2..4 is a sweep", "N", ARRAY_PANEL)]
StripeUnit = Annotated[
    str | None, _option("Stripe unit: consecutive data on one member", "SIZE", ARRAY_PANEL)
]
Pattern = Annotated[
    str | None,
    _option("A workload of the catalogue; other options override it", "NAME", names=completion.patterns),
]
Rw = Annotated[
    str | None, _option("read, write, randread, randwrite, rw or randrw", "KIND", names=completion.kinds)
]
Bs = Annotated[str | None, _option("Transfer size; k is 1024", "SIZE")]
Iodepth = Annotated[
    str | None, _option("Commands outstanding per job; 1,4,16 is a sweep, 1..32 doubles", "N")
]
Numjobs = Annotated[str | None, _option("Number of concurrent jobs", "N")]
Rwmixread = Annotated[str | None, _option("Share of reads in percent", "PERCENT")]
Fsync = Annotated[str | None, _option("Flush after every N writes of a job", "N")]
Runtime = Annotated[str | None, _option("Measured time, after the ramp time", "TIME")]
RampTime = Annotated[str | None, _option("Time before the measurement begins", "TIME")]
Randseed = Annotated[str | None, _option("Seed of all random numbers", "SEED")]
Set = Annotated[
    list[str],
    typer.Option(
        "--set",
        help="Replace any value of the scenario: --set run.seed=7",
        metavar="KEY=VALUE",
        autocompletion=completion.settings,
    ),
]


@dataclass(frozen=True)
class Target:
    """A drive, or an array of it."""

    drive: Drive = None
    level: Level = None
    members: Members = None
    stripe_unit: StripeUnit = None


@dataclass(frozen=True)
class Load:
    """What is asked of the target, and for how long."""

    pattern: Pattern = None
    rw: Rw = None
    bs: Bs = None
    bssplit: Annotated[str | None, _option("Mix of sizes with shares in percent: 4k/60:64k/40", "SPLIT")] = (
        None
    )
    iodepth: Iodepth = None
    numjobs: Numjobs = None
    rwmixread: Rwmixread = None
    percentage_random: Annotated[
        str | None, _option("Share of I/Os at random addresses; the others are sequential", "PERCENT")
    ] = None
    random_distribution: Annotated[
        str | None,
        _option(
            "Distribution of random addresses: zipf:1.2, pareto:0.2, normal:5, zoned:60/10:40/90",
            "NAME",
            names=completion.distributions,
        ),
    ] = None
    zonemode: Annotated[
        str | None, _option("zbd: writes at the write pointers of a host-managed drive's zones", "MODE")
    ] = None
    max_open_zones: Annotated[str | None, _option("With zbd: the most zones that are open", "COUNT")] = None
    rate_iops: Annotated[str | None, _option("Arrivals per second, independent of completions", "RATE")] = (
        None
    )
    rate_process: Annotated[
        str | None,
        _option(
            "Arrival process: linear (evenly spaced) or poisson", "NAME", names=completion.rate_processes
        ),
    ] = None
    thinktime: Annotated[str | None, _option("Pause after a completion", "TIME")] = None
    fsync: Fsync = None
    direct: Annotated[
        str | None, _option("0: through the host's cache, if the target has one (target.host_cache)", "0|1")
    ] = None
    size: Annotated[str | None, _option("Size of the used part of the device", "SIZE")] = None
    offset: Annotated[str | None, _option("Start of the used part of the device", "SIZE")] = None
    runtime: Runtime = None
    ramp_time: RampTime = None
    number_ios: Annotated[str | None, _option("Stop after N I/Os", "N")] = None
    randseed: Randseed = None


@dataclass(frozen=True)
class Ignored:
    """Words of fio's that change nothing."""

    ioengine: Annotated[str | None, _option("Accepted for fio's sake; no effect", "NAME")] = None
    time_based: Annotated[bool, _option("Accepted for fio's sake; every run is time-based", "")] = False


@dataclass(frozen=True)
class Replay:
    """A recorded trace in place of a workload."""

    trace: Annotated[
        str | None, _option("Replay a recorded trace: its path (drivelab trace info)", "FILE", TRACE_PANEL)
    ] = None
    pace: Annotated[
        str | None,
        _option(
            "open: at recorded times; closed: --iodepth outstanding; think: recorded think times",
            "NAME",
            TRACE_PANEL,
            completion.paces,
        ),
    ] = None
    trace_format: Annotated[str | None, _option("Its format, if it is not detected", "NAME", TRACE_PANEL)] = (
        None
    )
    trace_columns: Annotated[
        str | None,
        _option(
            "Its columns, if it is in none of the formats: time:ms,offset:bytes,size:sectors,op,-",
            "LIST",
            TRACE_PANEL,
        ),
    ] = None
    trace_device: Annotated[str | None, _option("Replay only this device", "NAME", TRACE_PANEL)] = None
    scale_time: Annotated[
        str | None, _option("Factor for its times: 0.5 is twice the speed", "FACTOR", TRACE_PANEL)
    ] = None
    remap: Annotated[
        str | None,
        _option(
            "Mapping of its addresses onto the target: wrap or scale", "NAME", TRACE_PANEL, completion.remaps
        ),
    ] = None
    of: Annotated[
        str | None, _option("With --remap scale: size of the recorded device", "SIZE", TRACE_PANEL)
    ] = None
    lenient: Annotated[
        bool,
        typer.Option("--lenient", help="Continue at faulty lines of the trace", rich_help_panel=TRACE_PANEL),
    ] = False
    sort: Annotated[
        bool,
        typer.Option("--sort", help="Sort the requests by time", rich_help_panel=TRACE_PANEL),
    ] = False


def overrides_of(options: Mapping[str, object], settings: Sequence[str]) -> list[Override]:
    """Overrides for the options that were given, then for `--set`. Raises InputError for one without `=`."""
    found = []
    for name, key in WORDS.items():
        value = options.get(name)
        if value is True:
            value = "true"
        if isinstance(value, str) and name == "trace_columns":
            value = _columns(value)
        if isinstance(value, str):
            found.append(Override(key, _listed(key, value, ref(name)), ref(name)))
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or not key.strip():
            raise InputError(f"--set {setting}: not KEY=VALUE, such as --set workload.iodepth=4")
        origin = ref("set", key.strip())
        found.append(Override(key.strip(), _listed(key.strip(), value.strip(), origin), origin))
    check_once(found)
    return found


def _columns(value: str) -> str | None:
    """A description of columns, from the file that has it where `value` names one. Raises InputError."""
    from drivelab.trace.reading import columns_of  # noqa: PLC0415 - it loads slowly

    return columns_of(value)


def _listed(key: str, value: str, option: str) -> str:
    """The value with its ranges as lists. Raises InputError."""
    try:
        return listed(key, value)
    except InputError as error:
        raise InputError(f"{option} {raw(error)}") from None


def note_words(checked: _core.Plan, source: Source) -> None:
    """fio's words that change nothing here, and what a job file means otherwise."""
    for note in (*source.notes, *checked.notes):
        say(f"note: {note}")
