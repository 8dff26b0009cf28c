"""Options of comparisons, of files and of the library's records alike, and how a comparison is shown."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from drivelab.cli.exits import Exit
from drivelab.cli.output import emit, emit_json, emit_table, say
from drivelab.cli.pictures import Drawn
from drivelab.cli.reports import Reported, write_reports
from drivelab.cli.run_options import Form
from drivelab.comparison.beside import Compared
from drivelab.comparison.choice import JUDGED, Choice, chosen
from drivelab.errors import InputError
from drivelab.records.model import BASES, FIGURES, Record
from drivelab.report.csv_text import rows_csv
from drivelab.report.plural import counted
from drivelab.report.points_table import axis_text
from drivelab.runs.result import UNNAMED

JUDGEMENT_PANEL = "Figures and verdict"
PLACES_PANEL = "Which points are compared"
# Of facts that tell records apart, and of points without a counterpart, so many are named.
_FACTS_MAX = 8
_LONELY_MAX = 8
# These tell one run from another and say nothing about it.
_UNSPOKEN = {"scenario_hash", "time", "seed"}


def _completed(incomplete: str) -> list[str]:
    """The last of several figures."""
    before, comma, last = incomplete.rpartition(",")
    names = [*FIGURES, *(f"{one}.{name}" for one in ("read", "write") for name in FIGURES)]
    return [f"{before}{comma}{name}" for name in names if name.startswith(last)]


_NO_INTERVALS = "no intervals: the record carries nothing to tell how far another run would be"


def _percent(text: str) -> float:
    """A share in percent, with its sign or without."""
    try:
        return float(text.removesuffix("%"))
    except ValueError as error:
        raise typer.BadParameter(f"{text} is no percentage: give 5, or 5%") from error


@dataclass(frozen=True)
class Judgement:
    """What is compared, and how far it may differ."""

    figures: Annotated[
        str,
        typer.Option(
            help=f"Figures: {', '.join(FIGURES)}; of one direction read.p99",
            metavar="NAMES",
            rich_help_panel=JUDGEMENT_PANEL,
            autocompletion=_completed,
        ),
    ] = ",".join(JUDGED)
    confidence: Annotated[
        float,
        typer.Option(
            help="Confidence level of the intervals", metavar="PERCENT", rich_help_panel=JUDGEMENT_PANEL
        ),
    ] = 95
    pointwise: Annotated[
        bool,
        typer.Option(
            "--pointwise",
            help="Pointwise intervals; otherwise they are simultaneous",
            rich_help_panel=JUDGEMENT_PANEL,
        ),
    ] = False
    threshold: Annotated[
        float | None,
        typer.Option(
            parser=_percent,
            help="Exit 3 if a figure differs by more than this, beyond its interval",
            metavar="PERCENT",
            show_default=False,
            rich_help_panel=JUDGEMENT_PANEL,
        ),
    ] = None
    worse: Annotated[
        bool,
        typer.Option(
            "--worse", help="With --threshold: only degradations count", rich_help_panel=JUDGEMENT_PANEL
        ),
    ] = False
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="With --threshold: undecided figures and unmatched points count too",
            rich_help_panel=JUDGEMENT_PANEL,
        ),
    ] = False
    ignore: Annotated[
        list[str],
        typer.Option(
            help="An axis in which matched points may differ, such as bs; repeatable",
            metavar="AXIS",
            rich_help_panel=PLACES_PANEL,
        ),
    ] = field(default_factory=list)
    where: Annotated[
        list[str],
        typer.Option(
            "--where",
            help="Only points with this value of an axis; repeatable",
            metavar="AXIS=VALUE",
            rich_help_panel=PLACES_PANEL,
        ),
    ] = field(default_factory=list)
    split: Annotated[
        str | None,
        typer.Option(
            help="Make a record of each value of an axis, such as drive",
            metavar="AXIS",
            rich_help_panel=PLACES_PANEL,
            show_default=False,
        ),
    ] = None

    def choice(self) -> Choice:
        """The options as a choice. Raises InputError."""
        conditions = {}
        for text in self.where:
            name, equals, value = text.partition("=")
            if not (name and equals and value):
                raise InputError(f"--where {text}: write an axis and its value, such as --where iodepth=4")
            if name in conditions:
                raise InputError(f"--where {name} is given twice: a point has one value of an axis")
            conditions[name] = value
        return chosen(
            figures=[name.strip() for name in self.figures.split(",") if name.strip()],
            confidence_percent=self.confidence,
            pointwise=self.pointwise,
            threshold_percent=self.threshold,
            worse_only=self.worse,
            strict=self.strict,
            ignore=self.ignore,
            where=conditions,
            split=self.split,
        )


def show(found: Compared, form: Form, drawn: Drawn, reports: Sequence[Path], *, quiet: bool) -> int:
    """Print a comparison, draw it, report it, and judge it."""
    if form.as_json:
        emit_json(found.to_dict())
    elif form.as_csv:
        emit(rows_csv(found.rows()))
    else:
        _print(found, quiet=quiet)
    if form.as_csv and not quiet:
        # The rows have no room for it.
        for line in _lonely(found):
            say(line)
    drawn.draw(found.chart, found.provenance(), quiet=quiet)
    write_reports(reports, lambda: _reported(found), quiet=quiet)
    return Exit.OK if found.verdict().holds else Exit.COMPARISON


def _reported(found: Compared) -> Reported:
    """A comparison as a report."""
    names = [record.target or record.name or letter for letter, record in found.records.items()]
    labels = [text for letter in found.records if (text := found.label(letter))]
    told = labels if len(set(names)) == 1 and len(labels) == len(names) else names
    about = f"{names[0]}: " if told is labels else ""
    return Reported(
        title=f"{about}{' and '.join(told)} compared",
        verb="compare",
        prints=lambda: _print(found, quiet=False),
        charts=[found.chart],
        provenance=found.provenance(),
        identity="",
        record=found.to_dict(),
    )


def _print(found: Compared, *, quiet: bool) -> None:
    for letter, record in found.records.items():
        emit(f"{letter}: {described(record, found.label(letter))}")
    if apart := _apart(found):
        emit(apart)
    for line in _settings(found):
        emit(line)
    emit("")
    for line in found.verdict().lines:
        emit(line)
    for table in found.tables():
        emit("")
        emit_table(table)
    lonely = _lonely(found)
    if lonely:
        emit("")
        emit("\n".join(lonely))
    if not quiet:
        notes = _notes(found)
        if notes:
            emit("")
            emit("\n".join(notes))


def _settings(found: Compared) -> list[str]:
    """The keys of the scenario in which each record differs from the first."""
    lines = []
    for beside in found.besides:
        texts = [f"{key} {one} -> {other}" for key, (one, other) in beside.settings.items()]
        more = f" and {len(texts) - _FACTS_MAX} more" if len(texts) > _FACTS_MAX else ""
        if texts:
            lines.append(f"{beside.first} -> {beside.other}: {', '.join(texts[:_FACTS_MAX])}{more}")
    return lines


def described(record: Record, label: str = "") -> str:
    """A record in a line: where it is from, what it is, its label beside others, what ran."""
    program = record.facts.get("fio version", record.facts.get("program", ""))
    if record.kind == "simulated" and "model_version" in record.facts:
        program = f"drivelab {record.facts.get('version', '')}, model {record.facts['model_version']}"
    count = f"{len(record.points)} {'point' if len(record.points) == 1 else 'points'}"
    title = record.name if record.kind in {"published", "predicted"} else record.target
    if record.kind == "simulated" and record.name and record.name != UNNAMED:
        title = f"{record.name}, {title}" if title else record.name
    return ", ".join(part for part in (record.origin, record.kind, title, label, count, program) if part)


def _apart(found: Compared) -> str:
    """What tells the records apart: facts that both state, and what is no place."""
    distinctions: dict[str, None] = {}
    first = next(iter(found.records.values()))
    for beside in found.besides:
        for name, (one, other) in beside.subjects.items():
            distinctions[f"{name} ({beside.first} {one}, {beside.other} {other})"] = None
        facts = found.records[beside.other].facts
        for name in first.facts.keys() & facts.keys() - _UNSPOKEN:
            if first.facts[name] != facts[name]:
                distinctions[f"{name} ({beside.first} {first.facts[name]}, {beside.other} {facts[name]})"] = (
                    None
                )
    shown = sorted(distinctions)[:_FACTS_MAX]
    more = f" and {len(distinctions) - len(shown)} more" if len(distinctions) > len(shown) else ""
    return f"told apart by {', '.join(shown)}{more}" if shown else ""


def _lonely(found: Compared) -> list[str]:
    """Points without a counterpart, each with its reason, and figures that one of two records has not."""
    lines = []
    for beside in found.besides:
        for one in beside.lonely[:_LONELY_MAX]:
            letter = beside.first if one.is_first else beside.other
            place = _place(one.axes, found.records[letter])
            lines.append(f"not matched: {letter}, {place}: {one.reason}")
        if len(beside.lonely) > _LONELY_MAX:
            more = len(beside.lonely) - _LONELY_MAX
            lines.append(
                f"not matched: {counted(more, 'more point')} of {beside.first} and {beside.other}; --json lists them"
            )
        if beside.missing:
            names = ", ".join(beside.missing)
            lines.append(f"not compared: {names}: {beside.first} and {beside.other} do not both have it")
        if beside.bare:
            lines.append(
                f"not compared: {counted(len(beside.bare), 'point')} at which {beside.first} and {beside.other} have "
                "none of the figures in common; choose others with --figures"
            )
    return lines


def _place(axes: Mapping[str, Any], record: Record) -> str:
    """Where a point is among those of its record."""
    texts = {name: {axis_text(point.axes.get(name)) for point in record.points} for name in axes}
    names = [name for name in axes if len(texts[name]) > 1]
    names = [name for name in names if name != "depth" or "iodepth" not in names]
    return ", ".join(f"{name} {axis_text(axes[name])}" for name in names) or "its only point"


def _notes(found: Compared) -> list[str]:
    """Where intervals come from, what they leave out, and what was repaired in a file."""
    # A remark on several records is one line.
    whose: dict[str, list[str]] = {}
    for letter, record in found.records.items():
        bases = [f"interval {BASES[basis]}" for basis in record.bases()]
        for note in [*(bases or [_NO_INTERVALS]), *record.notes]:
            whose.setdefault(note, []).append(letter)
    lines = [f"{', '.join(letters)}: {note}" for note, letters in whose.items()]
    return lines + _together(found)


def _together(found: Compared) -> list[str]:
    """What the confidence is of: each interval, or all at once."""
    count = sum(one.is_uncertain for beside in found.besides for one in beside.differences)
    if not count:
        return []
    scope = "an interval says how far another run of the same may be, not another day or another drive"
    confidence = found.choice.confidence
    if count == 1:
        return [scope]
    if found.choice.is_pointwise:
        return [f"of {count} intervals about {(1 - confidence) * count:.1f} miss by chance alone; {scope}"]
    # Two digits of what may miss.
    digits = max(1 - math.floor(math.log10(100 * (1 - found.levels.judged))), 0)
    return [
        f"all {count} intervals hold at once with {100 * confidence:g} % confidence, each with "
        f"{100 * found.levels.judged:.{digits}f} %; {scope}"
    ]
