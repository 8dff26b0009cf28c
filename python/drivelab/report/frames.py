"""Points as a data frame: one row each, a column for each axis and each figure under its path in the record.

Neither pandas nor polars is needed unless asked for: both are extras, `pip install "drivelab[pandas]"`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from drivelab.report.points_table import point_rows

if TYPE_CHECKING:
    from types import ModuleType

    import pandas
    import polars


def to_pandas(points: Sequence[dict[str, Any]]) -> pandas.DataFrame:
    """A pandas DataFrame. Raises ImportError without pandas."""
    frame: pandas.DataFrame = _module("pandas").DataFrame(_rows(points))
    return frame


def to_polars(points: Sequence[dict[str, Any]]) -> polars.DataFrame:
    """A polars DataFrame. Raises ImportError without polars."""
    # A figure may be missing in the first rows: all of them say what type a column has.
    frame: polars.DataFrame = _module("polars").DataFrame(_rows(points), infer_schema_length=None)
    return frame


def _rows(points: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """All rows with all columns; an axis whose values are tables has them as text."""
    rows = point_rows(points)
    columns = dict.fromkeys(name for row in rows for name in row)
    return [{name: _plain(row.get(name)) for name in columns} for row in rows]


def _plain(value: object) -> object:
    return json.dumps(value) if isinstance(value, dict | list) else value


def _module(name: str) -> ModuleType:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise ImportError(
            f'to_{name}() needs {name}, which is not installed: pip install "drivelab[{name}]"', name=name
        ) from error
