"""A comparison for people: a table for each topic, and notes on how to read them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from drivelab.arrays.cost import GB
from drivelab.arrays.durability.unreadable import is_none
from drivelab.arrays.levels import risk
from drivelab.arrays.simulation import loads as under
from drivelab.arrays.simulation.rebuild import PARTS
from drivelab.report.chances import percent_figure, span_text, years_text
from drivelab.report.plural import counted
from drivelab.report.points_table import rate_text
from drivelab.report.table import Cell, Table
from drivelab.scenarios.firmware import shares_note

if TYPE_CHECKING:
    from drivelab.arrays.levels.compare import Comparison
    from drivelab.arrays.simulation.planning import Entry

MB, MS = 1e6, 1e6
NONE = "-"

Column = tuple[str, Callable[["Entry"], str]]


def tables(found: Comparison) -> list[Table]:
    """Each topic's table; empty ones are left out. Only the verdict's if nothing else ran."""
    made = []
    if found.chosen.loads.full:
        made = [_holds(found), _failures(found), _rebuilds(found), _streams(found)]
        made += [_random(found, load) for load in under.RANDOM]
    return [table for table in [*made, _impossible(found)] if table.rows]


def _holds(found: Comparison) -> Table:
    """Capacity and price."""
    whole = found.chosen.members * found.drive_bytes
    columns: list[Column] = [
        ("usable GB", lambda entry: f"{entry.capacity_bytes / GB:,.1f}"),
        ("of the drives", lambda entry: f"{entry.capacity_bytes / whole:.1%}"),
    ]
    if found.chosen.prices is not None:
        currency = found.chosen.prices.drive.currency
        columns += [
            (f"price {currency}", lambda entry: f"{(entry.cost or {})['system']:,.2f}"),
            (f"{currency}/GB", lambda entry: _significant((entry.cost or {})["per_usable_gb"])),
        ]
    columns += [
        ("may fail, any", lambda entry: str(entry.odds["bears_worst"])),
        ("at best", lambda entry: str(entry.odds["bears_best"])),
    ]
    return _by_level(f"{found.chosen.name}: what they hold, cost and bear", found, columns)


def _failures(found: Comparison) -> Table:
    """Chances of data loss, in percent: with repair from all causes, without from failed drives alone."""
    title = "Chance that data are lost within a year, %"
    lifetime = found.chosen.lifetime
    if lifetime is None:
        return Table([], [], title)
    columns: list[Column] = [
        ("repair, h", lambda entry: _of_odds(entry, "repair_hours")),
        (
            "replaced",
            lambda entry: NONE if not entry.loss else percent_figure(entry.loss["loss_in_a_year_percent"]),
        ),
        ("MTTDL, years", lambda entry: NONE if not entry.loss else years_text(entry.loss["mttdl_years"])),
        ("by sectors", _by_sectors),
        ("none replaced", lambda entry: _none_replaced(entry, "loss_in_a_year_percent")),
        ("one missing", lambda entry: _none_replaced(entry, "loss_in_a_year_after_one_percent")),
        ("others fail meanwhile", lambda entry: _of_odds(entry, "others_fail_during_a_repair_percent")),
    ]
    table = _by_level(f"{title}: a drive fails with {_significant(100 * lifetime.chance)} %", found, columns)
    for place, entry in enumerate(found.possible):
        if entry.level.name == "jbod":
            texts = ["jbod, all of them", *[NONE] * len(columns)]
            texts[5] = _none_replaced(entry, "loss_of_all_in_a_year_percent")
            table.rows.insert(place + 1, [Cell(text) for text in texts])
    return table


def _rebuilds(found: Comparison) -> Table:
    """How long a rebuild takes, and its rate in the first and in the last of its parts."""
    title = f"Rebuild of a member, extrapolated: idle, and under {found.chosen.loads.text()}"
    if not any(entry.rebuild for entry in found.possible):
        return Table([], [], title)
    columns = _rebuild_columns("idle", lambda entry: entry.rebuild_idle)
    columns += _rebuild_columns("load", lambda entry: entry.rebuild)
    return _by_level(title, found, columns)


def _rebuild_columns(name: str, of: Callable[[Entry], Mapping[str, Any] | None]) -> list[Column]:
    return [
        (f"{name}, h", lambda entry: _rebuild_hours(of(entry))),
        ("±", lambda entry: _rebuild_error(of(entry))),
        ("first MB/s", lambda entry: _rebuild_rate(of(entry), 0)),
        ("last MB/s", lambda entry: _rebuild_rate(of(entry), -1)),
        ("simulated", lambda entry: _rebuild_part(of(entry))),
    ]


def _rebuild_hours(rebuild: Mapping[str, Any] | None) -> str:
    if not rebuild:
        return NONE
    if rebuild["duration_ns"] is None:
        return f"> {_significant(rebuild['at_least_ns'] / 3600e9)}"
    return _significant(rebuild["duration_ns"] / 3600e9)


def _rebuild_error(rebuild: Mapping[str, Any] | None) -> str:
    error = (rebuild or {}).get("relative_error")
    return NONE if error is None else f"{error:.1%}"


def _rebuild_rate(rebuild: Mapping[str, Any] | None, part: int) -> str:
    parts = rebuild["parts"] if rebuild else ()
    return rate_text(parts[part]["member_bytes_per_s"] / MB) if parts else NONE


def _rebuild_part(rebuild: Mapping[str, Any] | None) -> str:
    return f"{rebuild['simulated_bytes'] / rebuild['member_bytes']:.2g}" if rebuild else NONE


def _of_odds(entry: Entry, key: str) -> str:
    """A figure with repair; none if there is nothing to repair, or the rebuild did not end."""
    figure = entry.odds.get(key)
    return NONE if figure is None else _significant(figure)


def _none_replaced(entry: Entry, key: str) -> str:
    return _significant(entry.odds["none_replaced"][key])


def _by_sectors(entry: Entry) -> str:
    """The share of losses by unreadable sectors, in percent."""
    share = (entry.loss or {}).get("share_by_sectors")
    return NONE if share is None else f"{100 * share:.3g}"


def _streams(found: Comparison) -> Table:
    """Sequential rates by direction and state."""
    columns = [
        (f"{load} {state}", _stream_text(state, load))
        for load in under.STREAMS
        for state in found.chosen.loads.states
    ]
    return _by_level("Sequential reads and writes, MB/s", found, columns)


def _stream_text(state: str, load: str) -> Callable[[Entry], str]:
    def text(entry: Entry) -> str:
        stream = entry.states.get(state, {}).get(load)
        return NONE if stream is None else rate_text(stream["mean_bytes_per_s"] / MB)

    return text


def _by_level(title: str, found: Comparison, columns: list[Column]) -> Table:
    rows = [
        [Cell(entry.level.label), *(Cell(text(entry)) for _, text in columns)] for entry in found.possible
    ]
    return Table(["level", *(name for name, _ in columns)], rows, title, left=frozenset({0}))


def _random(found: Comparison, load: str) -> Table:
    """IOPS and mean latency of one load: a row for each level and state, a column for each depth."""
    loads = found.chosen.loads
    depths = list(loads.depths)
    rows = []
    for entry in found.possible:
        for state in loads.states:
            points = {point["iodepth"]: point for point in entry.states.get(state, {}).get(load, ())}
            texts = [_iops(points.get(depth)) for depth in depths]
            texts += [_error(points.values()), *(_latency(points.get(depth)) for depth in depths)]
            rows.append([Cell(entry.level.label), Cell(state), *map(Cell, texts)])
    mix = f", {loads.rwmixread} % of them reads" if load == "randrw" else ""
    return Table(
        ["level", "state", *(f"IOPS {depth}" for depth in depths), "±"] + [f"ms {depth}" for depth in depths],
        rows,
        f"{under.RANDOM[load].capitalize()} of {loads.bs}{mix}: IOPS and mean latency by depth",
        left=frozenset({0, 1}),
    )


def _iops(point: Mapping[str, Any] | None) -> str:
    return NONE if point is None else rate_text(point["iops"])


def _latency(point: Mapping[str, Any] | None) -> str:
    mean_ns = None if point is None else point["latency_ns"]["mean"]
    return NONE if mean_ns is None else f"{mean_ns / MS:,.2f}"


def _error(points: Any) -> str:  # noqa: ANN401 - any collection of points
    """The widest of the confidence intervals."""
    errors = [point["iops_relative_error"] for point in points]
    known = [error for error in errors if error is not None]
    return f"{max(known):.1%}" if known else NONE


def _impossible(found: Comparison) -> Table:
    """The levels that are impossible with these members, and why."""
    rows = [
        [Cell(entry.level.label), Cell(entry.reason)] for entry in found.entries if entry.reason is not None
    ]
    return Table(["level", "rule"], rows, "Not possible", left=frozenset({0, 1}))


def notes(found: Comparison) -> list[str]:
    """What the figures rest on, and how to read the tables."""
    loads = found.chosen.loads
    lines = list(dict.fromkeys(note for entry in found.possible for note in entry.notes))
    states = [state for state in loads.states if state != "healthy"]
    missing: dict[tuple[str, str], list[str]] = {}
    for entry in found.possible:
        reasons = {state: reason for state in states if (reason := entry.without(state))}
        for reason in dict.fromkeys(reasons.values()):
            lacks = " or ".join(state for state, why in reasons.items() if why == reason)
            missing.setdefault((lacks, reason), []).append(entry.level.label)
    lines += [f"{', '.join(names)} cannot be {lacks}: {why}" for (lacks, why), names in missing.items()]
    for override in found.chosen.overrides:
        if names := [entry.level.label for entry in found.possible if override in entry.unused]:
            lines.append(f"{override.key} is left out where it changes nothing: {', '.join(names)}")
    lines += _method(found)
    if found.chosen.lifetime is None:
        lines.append("no chances of data loss: --afr or --mttf says how often a drive fails")
    else:
        lines.append(
            f"chances of loss: {_causes(found)}; drives fail by themselves, each as likely. "
            "They compare levels; they are no promise by the calendar"
        )
        lines += _reservations(found)
    if pools := [entry.level.label for entry in found.possible if entry.level.name.startswith("raidz")]:
        lines.append(
            f"{', '.join(pools)}: usable is what they are filled with, 80 % unless --set target.array.fill says more"
        )
    if pools and "degraded" in states:
        lines.append(
            f"{', '.join(pools)}: a read brings a whole record, to check its sum. Without a member it brings parity "
            "in place of what is missing, as many columns as before: degraded is much like healthy"
        )
    if pools := _moved_at_once(found):
        lines.append(
            f"{', '.join(pools)}: a write smaller than its record moves the record at once, as a synchronous write to "
            "ZFS without a log device; ZFS gathers asynchronous ones for seconds. "
            "--set target.host_cache=true gathers those that lie side by side"
        )
    if ranged := shares_note(_all_figures(found)):
        lines.append(ranged)
    if errors := _errors(found):
        lines.append(f"{counted(errors, 'I/O')} ended with an error, counted nowhere")
    if found.chosen.prices is None:
        lines.append("no prices: --drive-price and --controller-price say them")
    return lines


def _causes(found: Comparison) -> str:
    """What data are lost by, and what is not counted."""
    given, assumed = found.chosen.failures, risk.assumed(found.chosen)
    if assumed:
        sectors = f"failed drives and unreadable sectors, {assumed.rate}"
    elif given.get("latent") is None and is_none(given["ure"]):
        sectors = "failed drives; no unreadable sectors (--ure none)"
    else:
        sectors = "failed drives and unreadable sectors as given"
    return sectors + (
        "" if any(given.get(key) for key in ("common", "batch")) else "; no common causes (--common)"
    )


def _reservations(found: Comparison) -> list[str]:
    """Where a chance is no exact figure."""
    return [
        f"{entry.level.label}: its chance of loss is {text}"
        for entry in found.possible
        if entry.loss and entry.loss["method"] != "chain"
        for year in [entry.loss["loss_in_a_year_percent"]]
        for text in [
            f"{span_text(year['low'], year['high'])} with a confidence of 95 %, by {entry.loss['method']}"
        ]
    ]


def _method(found: Comparison) -> list[str]:
    """What was run, and how the figures were obtained."""
    loads = found.chosen.loads
    each = f"{counted(loads.requests, 'request')} for each figure, after {loads.warm_up}"
    lines = [f"load: {loads.text()}; {'all of its requests' if loads.is_recorded else each}"]
    if not loads.full and loads.iodepths is not None and len(loads.iodepths) > 1:
        lines.append(f"of the depths the load has {loads.iodepths[0]}; --full has a column for each")
    if loads.full:
        lines += [
            f"random: {counted(loads.requests, 'request')} of {loads.bs} over all addresses, after {loads.warm_up}; "
            f"±: half the 95 % confidence interval of IOPS, the widest of the row",
            f"sequential: {under.STREAM_REQUESTS} requests of {under.STREAM_BLOCK}, one outstanding, at each of "
            f"{len(under.STREAM_PLACES)} places, after {under.STREAM_WARM_UP}; the mean of the places",
        ]
    rebuilds = [entry.rebuild for entry in found.possible if entry.rebuild]
    if whole := _named(found, lambda rebuild: not rebuild["extrapolated"]):
        lines.append(f"{whole}: the rebuild under the load is so short that it was simulated whole")
    if parts := [
        rebuild["simulated_bytes"] / rebuild["member_bytes"]
        for rebuild in rebuilds
        if rebuild["extrapolated"]
    ]:
        lines.append(
            f"rebuild: extrapolated from {PARTS} parts of it, evenly over the member, under the load, once the caches "
            f"are full, {min(parts):.2g} to {max(parts):.2g} of it in all (1 is a whole rebuild); ±: half the 95 % "
            f"confidence interval, from the spread of the parts, wanted: {found.chosen.precision.error:.0%} "
            "(--precision). Without the time until somebody has brought the new drive"
        )
    if stuck := _named(found, lambda rebuild: not rebuild["duration_ns"]):
        lines.append(f"{stuck}: in some part no request of the rebuild ended; it takes longer than said")
    if behind := _named(found, lambda rebuild: not rebuild["kept_up"]):
        lines.append(
            f"{behind}: while it is rebuilt requests of hosts wait longer and longer, so nobody can say how long it "
            "takes; its hours are those of its beginning"
        )
    if found.chosen.repair is not None and rebuilds:
        lines.append(f"chances with repair and MTTDL: a repair takes {found.chosen.repair_text}")
    return lines


def _named(found: Comparison, of: Callable[[Mapping[str, Any]], bool]) -> str:
    """The levels with such a rebuild."""
    return ", ".join(entry.level.label for entry in found.possible if entry.rebuild and of(entry.rebuild))


def _moved_at_once(found: Comparison) -> list[str]:
    """The RAID-Z pools whose random writes are smaller than a record, without a host cache before them."""
    key = "target.host_cache"
    given = [each for each in found.chosen.overrides if each.key == key or each.key.startswith(f"{key}.")]
    if any(each.value not in {"false", "none"} for each in given):
        return []
    chosen = found.chosen.loads
    is_small = chosen.pattern is None and chosen.rw in {"randwrite", "randrw"}
    return [
        entry.level.label
        for entry in found.possible
        if entry.record_bytes is not None
        and any(
            point["bytes_per_s"] < entry.record_bytes * point["iops"]
            for loads in entry.states.values()
            for point in [*loads.get("randwrite", ()), *([loads[under.LOAD]] if is_small else [])]
        )
    ]


def _errors(found: Comparison) -> int:
    """I/Os that ended with an error, under any load."""
    return sum(figures["errors"] for figures in _all_figures(found))


def _all_figures(found: Comparison) -> list[Mapping[str, Any]]:
    """The figures of every level, state, load and depth."""
    of_loads = [
        figures for entry in found.possible for by in entry.states.values() for figures in by.values()
    ]
    return [
        one for figures in of_loads for one in (figures if isinstance(figures, list) else [figures]) if one
    ]


def _significant(figure: float) -> str:
    """Four figures."""
    return f"{figure:.4g}"
