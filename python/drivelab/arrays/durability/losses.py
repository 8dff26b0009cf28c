"""The losses of an array, and how they are shown."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from drivelab.arrays.durability.unreadable import Assumed
from drivelab.arrays.level import BARE
from drivelab.report.chances import Estimate, percent_figure, percent_text, span_text, years_text
from drivelab.report.plural import counted
from drivelab.report.table import Cell, Table
from drivelab.runs.provenance import line, provenance

_NEVER_REPAIRED = (
    "rebuild", "serial", "detection", "replacement", "attended", "scrub", "spares", "wrong_drive", "ure", "latent",
)  # fmt: skip
"""Options without effect if the first failure is the loss."""
_HOURS_MAX = 1e308
_WIDE = 1.3
"""The largest reliable relative half-width of an interval of weighted histories; above it the interval depends on few
of them and may not cover rare histories that were missed.
"""


@dataclass(repr=False)
class Losses:
    """The question for each level, and its losses. Chances of loss are in percent."""

    questions: list[dict[str, Any]]
    outcomes: list[dict[str, Any]]
    rebuilds: list[dict[str, Any]]
    """The results of the simulated rebuild of each level; empty if none was simulated."""
    given: frozenset[str] = frozenset()
    """The keys of the given options."""
    assumed: Assumed | None = None
    """What is assumed of unreadable sectors; None if an option says it."""
    interrupted: bool = False
    """Whether Ctrl-C or SIGTERM came before all levels were finished; those that were are here."""

    def __repr__(self) -> str:
        """A summary in one line."""
        found = ", ".join(
            f"{name}: {percent_text(one['loss_in_a_year_percent'])}" for name, one in self._named()
        )
        return f"<Losses in a year {found}>"

    @property
    def seed(self) -> int:
        """The seed of the random numbers."""
        found: int = self.questions[0]["settings"]["seed"]
        return found

    def provenance(self) -> dict[str, Any]:
        """The provenance, by which the results can be repeated and identified."""
        return provenance(_hash(self.questions, 32), self.seed, _hash(self.outcomes, 16))

    def identity(self) -> str:
        """The provenance in one line."""
        return line(self.provenance())

    def to_dict(self) -> dict[str, Any]:
        """What `drivelab durability --json` prints."""
        return {
            **self.provenance(),
            "interrupted": self.interrupted,
            "settings": self.questions[0]["settings"],
            "assumed": self.assumed and self.assumed.to_dict(),
            "levels": [
                {"array": one["array"], **({"simulated_rebuild": rebuilt} if rebuilt else {}), **outcome}
                for one, outcome, rebuilt in zip(self.questions, self.outcomes, self.rebuilds, strict=True)
            ],
        }

    def rows(self) -> list[dict[str, Any]]:
        """A row of values for each level, for programs."""
        return [
            {
                "level": name,
                "members": one["array"]["members"],
                "usable_bytes": found["usable_bytes"],
                "bears_any": found["bears_worst"],
                **_columns("loss_in_a_year_percent", found),
                **_columns("loss_in_life_percent", found),
                **_columns("mttdl_years", found),
                **_columns("bytes_lost", found),
                "nines": found["nines"],
                "share_by_sectors": found["share_by_sectors"],
                "unavailability": found["unavailability"],
                "method": found["method"],
                "histories": found["histories"],
            }
            for (name, found), one in zip(self._named(), self.questions, strict=True)
        ]

    def lines(self) -> list[str]:
        """The answer in a few lines; for several levels that of the one with the fewest losses."""
        name, found = min(self._named(), key=lambda one: one[1]["loss_in_a_year_percent"]["high"])
        array = next(one["array"] for one in self.questions if _label(one) == name)
        life = counted(array["life_hours"] / 8760, "year", form="g")
        first = "" if len(self.outcomes) == 1 else "least of all: "
        sectors = found["share_by_sectors"]
        through = "" if sectors is None else f"; {100 * sectors:.3g} % of losses by unreadable sectors"
        nines = "" if found["nines"] is None else f", {found['nines']:.1f} nines a year"
        return [
            f"{first}{name} of {counted(array['members'], 'drive')}: "
            f"chance of loss {percent_text(found['loss_in_a_year_percent'])} in a year, "
            f"{percent_text(found['loss_in_life_percent'])} in {life}",
            f"mean time to data loss: {years_text(found['mttdl_years'])} years{nines}",
            f"bytes of the first loss in {life}, expected: {_figure(found['bytes_lost'])}{through}",
            _unavailable(array, found),
            f"found by {_method(found)}",
            *([f"assumed: {self.assumed.text()}"] if self.assumed else []),
        ]

    def table(self) -> Table:
        """A row for each level."""
        columns = [
            "level",
            "usable TB",
            "may fail",
            "loss/year %",
            "from",
            "to",
            "loss/life %",
            "MTTDL years",
            "textbook's",
            "by sectors %",
            "method",
        ]
        rows = [[Cell(text) for text in self._row(name, found)] for name, found in self._named()]
        return Table(columns, rows, left=frozenset({0, len(columns) - 1}))

    def _row(self, name: str, found: dict[str, Any]) -> list[str]:
        year, textbook, sectors = (
            found["loss_in_a_year_percent"],
            found["textbook"],
            found["share_by_sectors"],
        )
        return [
            name,
            f"{found['usable_bytes'] / 1e12:,.4g}",
            str(found["bears_worst"]),
            percent_figure(year),
            f"{year['low']:.3g}",
            f"{year['high']:.3g}",
            percent_figure(found["loss_in_life_percent"]),
            years_text(found["mttdl_years"]),
            "-" if textbook is None else _textbook(textbook),
            "-" if sectors is None else f"{100 * sectors:.3g}",
            found["method"],
        ]

    def notes(self) -> list[str]:
        """Remarks on the results."""
        found = [
            f"{name}: rebuilt in {rebuilt['duration_ns'] / 3600e9:.3g} h ± {rebuilt['relative_error']:.1%} beside "
            f"{rebuilt['load']}, {'extrapolated' if rebuilt['extrapolated'] else 'simulated whole'}"
            for (name, _), rebuilt in zip(self._named(), self.rebuilds, strict=True)
            if rebuilt
        ]
        if self.given and not self.given & {"capacity", "drive"}:
            found.append("capacities and bytes are those of drives of 1 TB: --capacity says what they hold")
        for name, one in self._named():
            if one["method"] == "chain" and (idle := self._given_of("histories", "error", "seed")):
                found.append(f"{name}: {idle} changes nothing: its chain of states is exact")
            if name in BARE and (idle := self._given_of(*_NEVER_REPAIRED)):
                found.append(f"{name}: {idle} changes nothing: its first failed drive is the loss")
            if one["reason"]:
                found.append(f"{name}: no chain, for {one['reason']}")
            found += [f"{name}: {text}" for text in _reservations(one)]
            if over := one["loss_in_a_year_over_rebuilds_percent"]:
                text = span_text(over["low"], over["high"])
                found.append(f"{name}: over the intervals of its rebuilds the chance in a year is {text}")
            if over := one["loss_in_a_year_over_failures_percent"]:
                text = span_text(over["low"], over["high"])
                found.append(
                    f"{name}: over the interval of the annual failure rate the chance in a year is {text}"
                )
            if _label_is_for_durability_alone(name):
                found.append(f"{name} is known to durability alone: it cannot be simulated")
        return found

    def _given_of(self, *keys: str) -> str:
        """The given ones of these keys, as options."""
        names = {"seed": "--randseed"}
        return ", ".join(names.get(key, f"--{key.replace('_', '-')}") for key in keys if key in self.given)

    def _named(self) -> list[tuple[str, dict[str, Any]]]:
        return list(zip(map(_label, self.questions), self.outcomes, strict=True))


def _label(one: dict[str, Any]) -> str:
    array = one["array"]
    return f"{array['level']}:{array['layout']}" if array["layout"] else str(array["level"])


def _label_is_for_durability_alone(name: str) -> bool:
    return name in {"draid", "lrc"}


def _hash(value: object, length: int) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:length]


def _columns(name: str, found: dict[str, Any]) -> dict[str, Any]:
    estimate = found[name]
    return {name: estimate["value"], f"{name}_low": estimate["low"], f"{name}_high": estimate["high"]}


def _unavailable(array: Mapping[str, Any], found: Mapping[str, Any]) -> str:
    """The unavailability; no value if no outages were given."""
    if found["unavailability"] is None:
        return "not available, nothing lost: not asked; --outage says what data cannot be reached without"
    names = ", ".join(one["name"] for one in array["outages"])
    return f"not available, nothing lost: {found['unavailability'] * 8760:.3g} h a year by {names}"


def _figure(estimate: Estimate) -> str:
    """A value with three digits, or its bound."""
    if estimate["value"] is None:
        return f"<{estimate['high']:.3g}"
    return f"{estimate['value']:.3g}"


def _textbook(found: Mapping[str, Any]) -> str:
    """The first term of the mean time in years; a bound if no number holds its hours."""
    hours = found["approximate_hours"]
    return f">{_HOURS_MAX / 8760:.0e}" if hours is None else f"{hours / 8760:.3g}"


def _reservations(found: dict[str, Any]) -> list[str]:
    """Limitations of a result."""
    remarks = []
    year = found["loss_in_a_year_percent"]
    histories = counted(found["histories"], "history", form=",.0f")
    if found["instead_of"]:
        remarks.append(f"not by {found['instead_of']}: {found['instead_because']}; by {found['method']}")
    if found["method"] == "chain":
        if year["value"] is None:
            remarks.append(
                f"the chance in a year is below {year['high']:.0e} %, the least that is computed, and not zero"
            )
    elif year["value"] is None:
        # Where there is no chain, another note has the reason.
        has_chain = found["reason"] is None
        remarks.append(
            f"no loss was seen in {histories}; the chance is below the bound with a confidence of 95 %, and may be far "
            f"below it{': exponential times have a chain, which is exact' if has_chain else ''}"
        )
    elif found["method"] in {"biasing", "splitting"} and year["high"] > _WIDE * year["value"]:
        what = (
            "the interval is wide"
            if found["method"] == "splitting"
            else f"few of {histories} carry the figure, which may be several times too small"
        )
        remarks.append(f"{what}: give --histories {4 * found['histories']:.0f}")
    return remarks


def _method(found: dict[str, Any]) -> str:
    if found["method"] == "chain":
        is_bound = found["loss_in_a_year_percent"]["value"] is None
        return f"the chain of states, {'as bounds' if is_bound else 'exact up to rounding'}"
    year = found["loss_in_a_year_percent"]
    span = f"{span_text(year['low'], year['high'])} in a year with a confidence of 95 %"
    count = counted(found["histories"], "history", form=",.0f")
    return f"{found['method']}: {span}, {count}, {found['drive_years']:,.3g} drive-years"
