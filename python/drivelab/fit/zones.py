"""Rates over the surface: the outer rate and its decrease towards the inside, from rates at some addresses or a known
geometry.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import optimize

from drivelab.errors import InputError
from drivelab.fit.contradictions import Contradiction
from drivelab.fit.draft import Draft
from drivelab.fit.fitted import Fitted, Parameter, judged
from drivelab.fit.inputs import Numbers, Surface
from drivelab.fit.quantities import rate_bytes, share

_NORMAL = 1.645
_LINE = 400
_BEYOND = 3.0
_ALIKE = 0.003
_ORDERS = {"F": "cylinder", "A": "alternating"}
_NUMBER = re.compile(r"\d+(\.\d+)?")
_SHARE = re.compile(r"(?P<top>\d+(\.\d+)?)(/(?P<bottom>[1-9]\d*))?(?P<more>[+-]\d*\.?\d+)?")
_BOUNDS = ([0.2, 0.1], [5.0, 1.0])
"""Of the outer rate as a multiple of the start's, and of the inner rate as a share of the outer one."""
_SIMPLEX = np.array([[0, 0], [0.01, 0], [0, 0.03]])


def rate_at(offset: Numbers, outer: float, inner: float, zones: int, capacity: float) -> Numbers:
    """The rate at these byte addresses of a drive whose zones have equal numbers of cylinders, decreasing by equal
    steps.
    """
    rates = np.linspace(outer, outer * inner, zones)
    ends = np.cumsum(rates) / rates.sum() * capacity
    return np.asarray(rates[np.minimum(np.searchsorted(ends, offset, side="right"), zones - 1)])


def even_rate_at(offset: Numbers, outer: float, inner: float, zones: int, capacity: float) -> Numbers:
    """The same as a line through the centres of the zones: steps have no slope for a fit."""
    share = (np.arange(_LINE) + 0.5) / _LINE
    fall = np.clip((share * zones - 0.5) / max(zones - 1, 1), 0, 1)
    rates = outer * (1 - (1 - inner) * fall)
    return np.interp(offset, np.cumsum(rates) / rates.sum() * capacity, rates)


def fit_surface(
    draft: Draft, surface: Surface, known: Sequence[str]
) -> tuple[Draft, list[Fitted], list[dict[str, Any]], list[Contradiction]]:
    """Fit the outer rate and the inner one's share of it; a drive with zones of its own keeps them, and is only
    compared.
    """
    capacity = draft.plan().capacity_bytes(0)
    if draft.get("geometry.outer_rate") is None:
        return draft, [], [], []
    outer, inner = rate_bytes(draft.get("geometry.outer_rate")), share(draft.get("geometry.inner_to_outer"))
    zones = int(draft.get("geometry.zone_count", 16))

    def off(point: Numbers) -> Numbers:
        return np.log(
            even_rate_at(surface.offset, outer * point[0], point[1], zones, capacity) / surface.rate
        )

    found = optimize.least_squares(
        off, [1.0, min(inner, 0.999)], bounds=_BOUNDS, loss="soft_l1", f_scale=0.02, diff_step=0.02
    )
    # The final fit uses the steps, starting from the line's values.
    stepped = optimize.minimize(
        lambda point: float(
            np.sum(
                np.log(rate_at(surface.offset, outer * point[0], point[1], zones, capacity) / surface.rate)
                ** 2
            )
        ),
        found.x,
        method="Nelder-Mead",
        bounds=list(zip(*_BOUNDS, strict=True)),
        options={"xatol": 1e-5, "fatol": 1e-9, "initial_simplex": found.x * (1 + _SIMPLEX)},
    )
    found.x = stepped.x
    rest = np.log(rate_at(surface.offset, outer * found.x[0], found.x[1], zones, capacity) / surface.rate)
    noise = max(float(rest @ rest) / max(len(rest) - 2, 1), 1e-7)
    covariance = noise * np.linalg.pinv(found.jac.T @ found.jac)
    # A rate over a short range includes data that a buffer held before, everywhere alike.
    half = _NORMAL * np.sqrt(np.diag(covariance) + np.array([_ALIKE, 0.0]) ** 2)
    outer_mb = outer * float(found.x[0]) / 1e6
    low, high = _BOUNDS
    start = outer / 1e6
    parts = [
        (
            Parameter("geometry.outer_rate", start, start, low[0] * start, high[0] * start, "MB/s"),
            outer_mb,
            half[0] * start,
        ),
        (Parameter("geometry.inner_to_outer", inner, 1.0, low[1], high[1], ""), float(found.x[1]), half[1]),
    ]
    fitted = [
        judged(one, value, max(value - float(wide), one.low), min(value + float(wide), one.high), sure=True)
        for one, value, wide in parts
        if one.key not in known
    ]
    told = [
        _against_known(one, value, float(wide) / _NORMAL, surface)
        for one, value, wide in parts
        if one.key in known and abs(value - one.start) > _BEYOND * float(wide) / _NORMAL
    ]
    texts = {
        "geometry.outer_rate": f"{outer_mb:.4f}MB/s",
        "geometry.inner_to_outer": f"{100 * found.x[1]:.3f}%",
    }
    draft = draft.having({one.key: texts[one.key] for one in fitted})
    fitted_rates = rate_at(surface.offset, 1e6 * outer_mb, float(found.x[1]), zones, capacity)
    rows = [
        {"byte_offset": int(offset), "mb_per_s": rate / 1e6, "fitted_mb_per_s": model / 1e6}
        for offset, rate, model in zip(surface.offset, surface.rate, fitted_rates, strict=True)
    ]
    return draft, fitted, rows, told


def _against_known(one: Parameter, value: float, error: float, surface: Surface) -> Contradiction:
    return Contradiction(
        one.key,
        one.unit or "of the outer rate",
        one.start,
        0.0,
        "--known or --geometry",
        value,
        error,
        f"the surface {surface.name}",
        "--known or --geometry",
        "what is given is not changed",
        f"leave {one.key} out of it to follow the surface",
    )


def of_geometry(row: Mapping[str, str]) -> tuple[dict[str, Any], list[str]]:
    """The keys of a drive file from a row of a table of geometries, and its information without a key."""
    rpm, size, outer, inner, heads = (
        _positive(row, key) for key in ("rpm", "sector_bytes", "spt_outer", "spt_inner", "surfaces")
    )
    skew, notes = _skew(row)
    order, order_notes = _order(row.get("layout", ""))
    found: dict[str, Any] = {
        "rpm": f"{rpm:g}rpm",
        "geometry.heads": int(heads),
        "geometry.outer_rate": f"{outer * size * rpm / 60 / (1 + skew) / 1e6:.4f}MB/s",
        "geometry.inner_to_outer": f"{100 * inner / outer:.3f}%",
        **order,
    }
    if skew:
        found |= {"skew.track": f"{skew:.6f}rev", "skew.cylinder": f"{skew:.6f}rev", "skew.margin": None}
    if row.get("capacity"):
        found["geometry.capacity"] = row["capacity"].replace(" ", "")
    return found, notes + order_notes


def _positive(row: Mapping[str, str], key: str) -> float:
    if _NUMBER.fullmatch(row[key]) is None or float(row[key]) == 0:
        raise InputError(f"{row['model']}: {key} is {row[key]!r}; a number above zero is wanted")
    return float(row[key])


def _skew(row: Mapping[str, str]) -> tuple[float, list[str]]:
    """The skew of a track in revolutions: `0.1`, `19/132` or `1/6+0.004`, else from degrees; 0 if none is given."""
    text = row.get("skew_rev", "").strip()
    parts = _SHARE.fullmatch(text)
    if parts is not None:
        whole = float(parts["top"]) / float(parts["bottom"] or 1)
        return whole + float(parts["more"] or 0), []
    degrees = row.get("skew_deg", "").strip()
    if not text and _NUMBER.fullmatch(degrees):
        return float(degrees) / 360, []
    if not text and not degrees:
        return 0.0, []
    return 0.0, [f"geometry: the skew {text or degrees} is not one number; skews stay the start's"]


def _order(layout: str) -> tuple[dict[str, Any], list[str]]:
    """The order of the surfaces. One letter is a key; for two levels a table lacks the width of the inner one."""
    layout = layout.strip()
    if layout in _ORDERS:
        return {"geometry.surface_order": _ORDERS[layout]}, []
    if not layout:
        return {}, []
    if re.fullmatch("[AF]{2}", layout):
        why = (
            "has two levels, and the table does not say how many tracks lie on one surface before the next one's turn; "
            "if you know, say geometry.surface_order=serpentine and geometry.cylinders_per_head=N"
        )
    else:
        why = "is not one order; if you know, say geometry.surface_order=cylinder, or alternating"
    return {}, [f"geometry: the layout {layout} {why}; the order of the surfaces stays the start's"]
