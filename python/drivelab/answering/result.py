"""What an answer is: a sentence, a table, assumptions, a picture, and the scenario behind its decisive figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from drivelab.report.pictures import drawn
from drivelab.report.points_table import rate_text
from drivelab.report.table import SCREEN, Cell, Table
from drivelab.runs.provenance import line

if TYPE_CHECKING:
    import altair

NONE = "-"
Row = dict[str, Any]


@dataclass(frozen=True)
class Column:
    """A column of the table: the key of the rows, which has the unit in its name, its title, and how it is written."""

    key: str
    title: str
    form: str = "text"
    """`text`, `rate` (four digits), `range` (of the keys that end in _low and _high), or a format of Python."""

    def text(self, row: Mapping[str, Any]) -> str:
        """The cell of a row."""
        if self.form == "range":
            low, high = row.get(f"{self.key}_low"), row.get(f"{self.key}_high")
            return NONE if low is None or high is None else f"{rate_text(low)} to {rate_text(high)}"
        value = row.get(self.key)
        if value is None:
            return NONE
        if self.form == "text":
            return str(value)
        return rate_text(value) if self.form == "rate" else format(value, self.form)


@dataclass(frozen=True)
class Panel:
    """A panel of the picture: a figure of the rows, and a limit that is drawn across it."""

    key: str
    title: str
    limit: float | None = None
    limit_title: str = ""
    is_log: bool = False


@dataclass(frozen=True)
class Picture:
    """The picture: the figures of `panels` over the key `x`, as lines over numbers or as bars at names."""

    x: str
    x_title: str
    panels: Sequence[Panel]
    scale: str = "log"
    """Of x: log, linear, or names."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Answer:
    """The answer to one question."""

    sentence: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    """The figures, under keys that have their units."""
    decisive: int
    """Which row the sentence is about."""
    figure: str
    """The key of the row's figure that decides."""
    scenario: str
    """What `simulate` runs for that row, as TOML."""
    assumptions: Sequence[str]
    picture: Picture
    title: str
    """Of the picture."""
    name: str = ""
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        """The sentence."""
        return f"<Answer {self.name!r}: {self.sentence}>"

    @property
    def value(self) -> float:
        """The figure that decides."""
        return float(self.rows[self.decisive][self.figure])

    def table(self) -> Table:
        """The rows as people read them; columns without any figure are left out."""
        texts = [[column.text(row) for column in self.columns] for row in self.rows]
        kept = [i for i in range(len(self.columns)) if any(row[i] != NONE for row in texts)]
        left = frozenset(place for place, i in enumerate(kept) if self.columns[i].form == "text")
        cells = [
            [Cell(row[i], "bold" if number == self.decisive else "") for i in kept]
            for number, row in enumerate(texts)
        ]
        return Table([self.columns[i].title for i in kept], cells, left=left, width=SCREEN)

    def identity(self) -> str:
        """What is needed to repeat and recognise the runs, in one line."""
        return line(self.provenance)

    def to_dict(self) -> dict[str, Any]:
        """What `drivelab answer NAME --json` prints."""
        return {
            "answer": self.name,
            **self.provenance,
            "sentence": self.sentence,
            "figure": self.figure,
            "value": self.value,
            "decisive": self.decisive,
            "columns": {column.key: column.title for column in self.columns if column.form != "range"},
            "rows": list(self.rows),
            "assumptions": list(self.assumptions),
            "scenario": self.scenario,
        }

    def chart(self, path: str | Path | None = None) -> altair.TopLevelMixin:
        """The picture; written to `path` if there is one. Raises ChartError."""
        from drivelab import charts  # noqa: PLC0415 - altair takes long to load

        return drawn(
            lambda: charts.answer(self.title, self.rows, self.picture, self.decisive),
            path,
            lambda: self.provenance,
        )

    def _repr_html_(self) -> str:
        return f"<p>{self.sentence}</p>{self.table()._repr_html_()}"
