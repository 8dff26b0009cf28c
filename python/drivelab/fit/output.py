"""The output of a fit: the drive file with a mark on every fact, the report, and the data of its charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from drivelab import _core
from drivelab.fit.contradictions import Contradiction
from drivelab.fit.draft import SEEK_FORMS, Draft
from drivelab.fit.fitted import AT_BOUND, FITTED, ONE_OF_MANY, UNDECIDED, Fitted
from drivelab.fit.replaying import Group, Replays, held_out, scored
from drivelab.fit.results import Found, Measured, held_out_of, joined
from drivelab.report import toml_text
from drivelab.report.pictures import drawn
from drivelab.report.table import Cell, Table

if TYPE_CHECKING:
    import altair

SOURCE = "FIT"
_NOT_DECIDED = "the data do not decide it"
_MARKS = {UNDECIDED: _NOT_DECIDED, AT_BOUND: "at its bound"}
_LEFT = "the start's value"


@dataclass(frozen=True)
class Scored:
    """One list of requests replayed on the fitted drive."""

    name: str
    kind: str
    groups: list[Group]
    held_out: dict[str, float | None]
    correlation: float | None
    """The correlation of measured and simulated times of the held-out part, request by request."""
    deciles: list[dict[str, float]]
    """The deciles of the held-out part: measured with the bootstrap error, simulated."""


@dataclass(frozen=True)
class Report:
    """The report of a fit."""

    start: str
    found: Found
    scored: list[Scored]
    drive_file: str = ""
    """The fitted drive as a file."""

    def parameters(self) -> list[Fitted]:
        """All parameters, sorted by key."""
        return sorted(self.found.fitted.values(), key=lambda one: one.key)

    @property
    def contradictions(self) -> list[Contradiction]:
        """Measurements that contradict each other beyond their errors, and which of them the file follows."""
        return [Contradiction(**one) for one in self.found.contradictions]

    def to_dict(self) -> dict[str, Any]:
        """What `drivelab fit --json` prints."""
        first = self.scored[0].held_out if self.scored else {"demerit_ms": None, "mean_error": None}
        found = self.found
        return {
            "start": self.start,
            **self.provenance(),
            "parameters": [one.to_dict() for one in self.parameters()],
            "rules": found.rules,
            "groups": [{"of": one.name, **group.to_dict()} for one in self.scored for group in one.groups],
            "held_out": first,
            "lists": [
                {
                    "name": one.name,
                    "kind": one.kind,
                    "held_out": one.held_out,
                    "correlation": one.correlation,
                    "deciles": one.deciles,
                }
                for one in self.scored
            ],
            "sweep": found.sweep,
            "policies": found.candidates,
            "guard_and_scatter": found.guard_and_scatter or None,
            "contradictions": found.contradictions,
            "surface": found.surface,
            "notes": found.notes,
        }

    def provenance(self) -> dict[str, Any]:
        """The provenance, by which the fit can be repeated."""
        plan = self.found.draft.plan()
        return {"version": _core.VERSION, "model_version": _core.MODEL_VERSION, "seed": plan.seed}

    def tables(self) -> list[Table]:
        """Tables of parameters, groups, the sweep, the rules that explain it equally well, and contradictions."""
        tables = [_parameters(self.parameters())]
        if self.scored:
            tables.append(_groups(self.scored))
        if self.found.sweep:
            tables.append(_sweep(self.found.sweep))
        if self.found.candidates:
            tables.append(_policies(self.found.candidates))
        if self.contradictions:
            tables.append(_contradictions(self.contradictions))
        return tables

    def chart(self, path: str | Path | None = None) -> altair.TopLevelMixin:
        """Charts of the residuals by group, and of the sweep; written to `path` if there is one. Raises ChartError."""
        from drivelab import charts  # noqa: PLC0415 - altair takes longer to load than many a fit

        groups = [
            {"name": group.id.replace("_", " "), "part": part, "error": error, "n": group.n}
            for one in self.scored
            for group in one.groups
            for part, error in (("fitted", group.fitted_error), ("held out", group.held_out_error))
            if error is not None
        ]
        return drawn(
            lambda: charts.fitted(self.found.draft.name, groups, self.found.sweep), path, self.provenance
        )


def report(start: str, found: Found, measured: Measured) -> Report:
    """Compare the fitted drive with all lists of requests. Raises RunError, ScenarioError."""
    lists = [(one, held_out(one, measured.hold_out)) for one in measured.traces]
    if measured.chains:
        lists.append((joined(measured.chains), held_out_of(measured.chains, measured.hold_out)))
    replayed = []
    for requests, held in lists:
        with Replays(requests, held) as replays:
            groups, figures, simulated = scored(replays, found.draft)
        part = held if held.sum() > 2 else ~held
        real, model = requests.time[part], simulated[part]
        flat = np.std(real) == 0 or np.std(model) == 0
        correlation = None if flat else float(np.corrcoef(real, model)[0, 1])
        replayed.append(
            Scored(requests.name, requests.kind, groups, figures, correlation, _deciles(real, model))
        )
    return Report(start, found, replayed)


def _deciles(real: Any, model: Any) -> list[dict[str, float]]:  # noqa: ANN401 - arrays
    shares = np.arange(1, 10) / 10
    draws = np.random.default_rng(7).choice(real, (1000, len(real)))
    spread = np.quantile(draws, shares, axis=1).std(axis=1)
    rows = zip(shares, np.quantile(real, shares), spread, np.quantile(model, shares), strict=True)
    return [
        {
            "share": round(float(s), 1),
            "measured_ms": float(a),
            "bootstrap_error_ms": float(b),
            "simulated_ms": float(c),
        }
        for s, a, b, c in rows
    ]


def drive_file(start: str, found: Found, given: Mapping[str, str]) -> str:
    """The fitted drive as a file; `given` are the values set by `--known` and `--geometry`, with their sources."""
    draft = found.draft
    facts = {
        key: _fact(draft, found, key, draft.get(key), given)
        for key in _ordered(draft)
        if draft.get(key) is not None and not key.startswith("sources.")
    }
    sources = {
        **draft.sources,
        SOURCE: f"drivelab fit {_core.VERSION}, model {_core.MODEL_VERSION}, from {start}",
    }
    head = [f"# {draft.name}, fitted by `drivelab fit` from {start}.", *(f"# {note}" for note in found.notes)]
    return "\n".join(head) + "\n" + facts_text(facts, sources)


def _ordered(draft: Draft) -> list[str]:
    return [*draft.facts, *(key for key in draft.values if key not in draft.facts)]


def _fact(draft: Draft, found: Found, key: str, value: object, given: Mapping[str, str]) -> dict[str, Any]:
    before = draft.facts.get(key, {})
    if key in given:
        return {"value": value, "mark": "measured", "source": f"{SOURCE}: {given[key]}"}
    of = [one for name, one in found.fitted.items() if name == key or name.startswith(f"{key}.")]
    if key == "seek.table" and key in draft.values:
        return {
            "value": value,
            "mark": "fitted",
            "source": f"{SOURCE}: {'; '.join(['a curve bent to the measurement', *_intervals(_curve(found))])}",
        }
    bounds = [one for one in of if one.mark == AT_BOUND]
    if bounds:
        # No mark: the edge of a search is no figure of the drive.
        texts = [f"{interval}, {one.note}" for one, interval in zip(bounds, _intervals(bounds), strict=True)]
        return {"value": value, "source": f"{SOURCE}: {'; '.join(texts)}"}
    fitted = [one for one in of if one.mark == FITTED]
    if fitted:
        return {"value": value, "mark": "fitted", "source": f"{SOURCE}: {'; '.join(_intervals(fitted))}"}
    if any(one.note == ONE_OF_MANY for one in of):
        return {"value": value, "source": f"{SOURCE}: {ONE_OF_MANY}; {_NOT_DECIDED}"}
    if key in found.rules:
        return {"value": value, "mark": "fitted", "source": f"{SOURCE}: explains the measurement best"}
    if key in draft.values and before.get("value") != value and not of:
        return {"value": value, "mark": "fitted", "source": f"{SOURCE}: follows from the measurement"}
    fact = {"value": value}
    if before.get("mark"):
        fact["mark"] = before["mark"]
    doubt = [before["source"]] if before.get("source") else [_LEFT]
    fact["source"] = "; ".join([*doubt, *([_NOT_DECIDED] if of or key in found.undecided else [])])
    return fact


def _curve(found: Found) -> list[Fitted]:
    return [found.fitted[key] for key in (f"seek.{form}" for form in SEEK_FORMS) if key in found.fitted]


def _intervals(fitted: Sequence[Fitted]) -> list[str]:
    return [
        f"{one.key} 90 % from {one.low:.5g} to {one.high:.5g}{' ' if one.unit else ''}{one.unit}"
        for one in fitted
    ]


def facts_text(facts: Mapping[str, Mapping[str, Any]], sources: Mapping[str, str]) -> str:
    """Sections with one fact per line, as in the catalogue's files."""
    lines = [f"{key} = {toml_text.value_text(fact)}" for key, fact in facts.items() if "." not in key]
    for section in dict.fromkeys(key.split(".")[0] for key in facts if "." in key):
        lines += ["", f"[{section}]"]
        lines += [
            f"{key.partition('.')[2]} = {toml_text.value_text(fact)}"
            for key, fact in facts.items()
            if key.startswith(f"{section}.")
        ]
    return "\n".join([*lines, "", toml_text.dumps({"sources": sources})])


def _parameters(fitted: Sequence[Fitted]) -> Table:
    columns = ["parameter", "value", "90 % from", "to", "unit", "mark"]
    rows = []
    for one in fitted:
        mark = _MARKS.get(one.mark, one.mark)
        rows.append(
            [
                Cell(one.key),
                *(Cell(f"{x:.5g}") for x in (one.value, one.low, one.high)),
                Cell(one.unit),
                Cell(mark),
            ]
        )
    return Table(columns, rows, left=frozenset({0, 4, 5}))


def _groups(lists: Sequence[Scored]) -> Table:
    columns = ["requests", "count", "fitted error %", "held-out error %"]
    rows = [
        [
            Cell(group.id.replace("_", " ")),
            Cell(str(group.n)),
            Cell(_percent(group.fitted_error)),
            Cell(_percent(group.held_out_error)),
        ]
        for one in lists
        for group in one.groups
    ]
    return Table(columns, rows, left=frozenset({0}))


def _sweep(found: Sequence[Mapping[str, Any]]) -> Table:
    columns = ["iodepth", "measured IOPS", "simulated", "error %", "measured p99 ms", "simulated"]
    rows = [
        [
            Cell(str(row["iodepth"])),
            Cell(f"{row['iops_measured']:.1f}"),
            Cell(f"{row['iops_simulated']:.1f}"),
            Cell(_percent(row["iops_error"])),
            *(
                Cell("-" if row[key] is None else f"{row[key]:.1f}")
                for key in ("p99_measured_ms", "p99_simulated_ms")
            ),
        ]
        for row in found
    ]
    return Table(columns, rows)


def _policies(found: Sequence[Mapping[str, Any]]) -> Table:
    """The rules of the file, and those that predict depths as well that they were not fitted to."""
    columns = ["order", "chooses", "guard", "held-out error %", "mark"]
    rows = [
        [
            Cell(row["order"]),
            Cell(row["chooses"]),
            Cell(row["guard"] or "-"),
            Cell(f"{100 * row['held_out_error']:.2f}"),
            Cell("as good" if place else "the file's"),
        ]
        for place, row in enumerate(found)
        if row["as_good"]
    ]
    return Table(columns, rows, left=frozenset({0, 1, 2, 4}))


def _contradictions(found: Sequence[Contradiction]) -> Table:
    columns = ["contradiction", "unit", "figure", "error", "by", "figure", "error", "by", "the file follows"]
    rows = [
        [
            Cell(one.what),
            Cell(one.unit),
            Cell(f"{one.value:.4g}"),
            Cell(f"{one.error:.2g}"),
            Cell(one.source),
            Cell(f"{one.other_value:.4g}"),
            Cell(f"{one.other_error:.2g}"),
            Cell(one.other_source),
            Cell(one.follows),
        ]
        for one in found
    ]
    return Table(columns, rows, left=frozenset({0, 1, 4, 7, 8}))


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:+.1f}"
