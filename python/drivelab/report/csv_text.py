"""CSV for programs: rows of figures, or tables as they are printed."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping
from typing import Any

from drivelab.report.table import Table

_GROUPED = re.compile(r"-?\d{1,3}(,\d{3})+(\.\d+)?")


def rows_csv(rows: Iterable[Mapping[str, Any]]) -> str:
    """A line for each row; the columns are those of all rows in the order of their first appearance.

    Goes through the rows twice.
    """
    columns = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def flat(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested keys joined by dots; a list of plain values with blanks between them, a list of tables left out."""
    row: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, Mapping):
            row.update(flat(value, f"{prefix}{key}."))
        elif not isinstance(value, list):
            row[prefix + key] = value
        elif not any(isinstance(item, Mapping) for item in value):
            row[prefix + key] = " ".join(map(str, value))
    return row


def tables_csv(tables: Iterable[Table]) -> str:
    """Tables with figures as they are printed, but 12345 in place of 12,345; several tables by their titles."""
    found = list(tables)
    rows = []
    for table in found:
        named = {"table": table.title or table.columns[0]} if len(found) > 1 else {}
        rows += [{**named, **_row(table, [cell.text for cell in row])} for row in table.rows]
    return rows_csv(rows)


def _row(table: Table, texts: Iterable[str]) -> dict[str, str]:
    plain = (
        text.replace(",", "") if _GROUPED.fullmatch(text) else "" if text == "-" else text for text in texts
    )
    return {title or "of": text for title, text in zip(table.columns, plain, strict=True)}
