"""How often drives fail, from published counts: a CSV with a row for each model, or for each drive and day.

Backblaze publishes both: tables of drive days and failures by model, and its daily snapshots, where a row is a drive
on a day and `failure` is 1 on its last. A rate is failures over drive days; its interval is that of a Poisson mean
(Garwood, Biometrika 28, 1936), since failures are independent events.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from drivelab.errors import OptionError, ref

FORM = "FILE.csv:MODEL"
CONFIDENCE = 0.95
_TYPED = re.compile(r"(?P<path>.+\.csv):(?P<model>.+)", re.IGNORECASE)
_DAYS = ("drive_days",)
_FAILURES = ("failures", "failed", "drive_failures")
_SNAPSHOT = {"serial_number", "failure"}
# The survival by model: the share of all drives that reach five years, and the age that 97 % reach.
_FIVE_YEARS, _AGE_OF_97 = "surv_5yr", "years_97pct"


@dataclass(frozen=True)
class Where:
    """File and model, as typed in an option."""

    option: str
    text: str

    def wrong(self, what: str) -> OptionError:
        """The error of what the option names."""
        return OptionError(self.option, self.text, what)


@dataclass(frozen=True)
class Counted:
    """The counts of a model."""

    where: Where
    days: float
    failures: int
    survival: tuple[tuple[float, float], ...] = ()
    """(years, share that reaches them), if the table has it."""

    def rates(self) -> tuple[float, float, float]:
        """Failures per drive and year: the rate, and its 95 % interval. Raises InputError if none has failed."""
        years = self.days / 365
        if not self.failures:
            most = -100 * math.expm1(math.log(1 - CONFIDENCE) / years)
            raise self.where.wrong(
                f"none failed in {self.days:,.0f} drive days: no more than {most:.3g} % fail in a year, "
                f"with a confidence of 95 %; give that: {ref('afr', f'{most:.3g}%')}"
            )
        from scipy.special import gammaincinv  # noqa: PLC0415 - it takes long to load

        tail = (1 - CONFIDENCE) / 2
        low, high = gammaincinv(self.failures, tail), gammaincinv(self.failures + 1, 1 - tail)
        return self.failures / years, float(low) / years, float(high) / years


def is_counted(text: str) -> bool:
    """Whether the text names a table and a model."""
    return _TYPED.fullmatch(text.strip()) is not None


def afr(text: str, option: str) -> str:
    """The share of drives that fail in a year with its interval, `2.56%(2.49%..2.62%)`. Raises InputError."""
    shares = [-100 * math.expm1(-rate) for rate in counted(text, option).rates()]
    value, low, high = (f"{share:.6g}%" for share in shares)
    return f"{value}({low}..{high})"


def life(text: str, option: str) -> str:
    """The survival of a model as a law, `survival:5y=88.83%`. Raises InputError."""
    found = counted(text, option)
    if not found.survival:
        what = f"the table has no survival, a column {_FIVE_YEARS}; give {ref('afr', text)} for its counts"
        raise found.where.wrong(what)
    return "survival:" + ",".join(f"{years:.12g}y={share:.12g}" for years, share in found.survival)


def counted(text: str, option: str) -> Counted:
    """The counts of a model. Raises InputError."""
    match, where = _TYPED.fullmatch(text.strip()), Where(option, text)
    if match is None:
        raise where.wrong(f"it is {FORM}")
    path, model = Path(match["path"]), match["model"]
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.DictReader(file)
            names = {_plain(name): name for name in rows.fieldnames or ()}
            if "model" not in names:
                raise where.wrong("a table has a column model, drive_days and failures by model")
            if set(names) >= _SNAPSHOT:
                return _of_days(rows, names, model, where)
            return _of_models(rows, names, model, where)
    except OSError as error:
        raise where.wrong(f"cannot read {path}: {(error.strerror or str(error)).lower()}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise where.wrong(f"it is no CSV: {error}") from error


def _of_models(
    rows: Iterable[Mapping[str, str]], names: Mapping[str, str], model: str, where: Where
) -> Counted:
    days = next((names[one] for one in _DAYS if one in names), None)
    failures = next((names[one] for one in _FAILURES if one in names), None)
    if days is None or failures is None:
        raise where.wrong("a table by model has columns drive_days and failures (or failed)")
    known: dict[str, Mapping[str, str]] = {}
    for row in rows:
        known[_spoken(row[names["model"]] or "")] = row
    row = known.get(_spoken(model)) or _unknown(model, known, where)
    return Counted(
        where,
        _number(row[days], where, days, above_zero=True),
        int(_number(row[failures], where, failures)),
        _survival(row, names, where),
    )


def _survival(
    row: Mapping[str, str], names: Mapping[str, str], where: Where
) -> tuple[tuple[float, float], ...]:
    if _FIVE_YEARS not in names or not (row[names[_FIVE_YEARS]] or "").strip():
        return ()
    found = [(5.0, _number(row[names[_FIVE_YEARS]], where, _FIVE_YEARS))]
    age = (row.get(names.get(_AGE_OF_97, "")) or "").strip()
    if age and 0 < (years := _number(age, where, _AGE_OF_97)) < 100:
        found.append((years, 0.97))
    ordered = sorted(found)
    # If both have the same age, or contradict each other, only the five years count.
    if len(ordered) == 2 and not (ordered[0][0] < ordered[1][0] and ordered[0][1] > ordered[1][1]):
        ordered = found[:1]
    return tuple(ordered)


def _of_days(
    rows: Iterable[Mapping[str, str]], names: Mapping[str, str], model: str, where: Where
) -> Counted:
    days, failures = dict[str, int](), 0
    wanted = _spoken(model)
    for row in rows:
        name = _spoken(row[names["model"]] or "")
        days[name] = days.get(name, 0) + 1
        if name == wanted:
            failures += (row[names["failure"]] or "").strip() == "1"
    if wanted not in days:
        _unknown(model, days, where)
    return Counted(where, float(days[wanted]), failures)


def _unknown(model: str, known: Iterable[str], where: Where) -> Mapping[str, str]:
    names = sorted(known)
    near = [name for name in names if _spoken(model) in name][:3] or get_close_matches(_spoken(model), names)
    remedy = (
        f"did you mean {' or '.join(near)}?" if near else f"it has {len(names)} models, such as {names[:3]}"
    )
    raise where.wrong(f"the table has no model {model}: {remedy}")


def _plain(name: str | None) -> str:
    return re.sub(r"[^a-z0-9]+", "_", (name or "").strip().lower()).strip("_")


def _spoken(name: str) -> str:
    return " ".join(name.lower().split())


def _number(text: str | None, where: Where, column: str, *, above_zero: bool = False) -> float:
    try:
        found = float((text or "").replace(",", ""))
    except ValueError:
        found = math.nan
    if not math.isfinite(found) or found < 0 or (above_zero and not found):
        raise where.wrong(f"{column} is {text!r}: it is a number{' above zero' if above_zero else ''}")
    return found
