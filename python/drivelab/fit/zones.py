"""Rates over the surface: the outer rate and its fall to the inside, from rates at some addresses or a
known geometry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import optimize

from drivelab.fit.draft import Draft
from drivelab.fit.inputs import Numbers, Surface
from drivelab.fit.parameters import Fitted
from drivelab.fit.quantities import rate_bytes, share

_NORMAL = 1.645
_LINE = 400
_ALIKE = 0.003
_SIMPLEX = np.array([[0, 0], [0.01, 0], [0, 0.03]])


def rate_at(offset: Numbers, outer: float, inner: float, zones: int, capacity: float) -> Numbers:
    """The rate at these bytes of a drive whose zones have the same number of cylinders each, falling by
    equal steps.
    """
    rates = np.linspace(outer, outer * inner, zones)
    ends = np.cumsum(rates) / rates.sum() * capacity
    return np.asarray(rates[np.minimum(np.searchsorted(ends, offset, side="right"), zones - 1)])


def even_rate_at(offset: Numbers, outer: float, inner: float, zones: int, capacity: float) -> Numbers:
    """The same as a line through the middles of the zones: steps have no slope to fit by."""
    share = (np.arange(_LINE) + 0.5) / _LINE
    fall = np.clip((share * zones - 0.5) / max(zones - 1, 1), 0, 1)
    rates = outer * (1 - (1 - inner) * fall)
    return np.interp(offset, np.cumsum(rates) / rates.sum() * capacity, rates)


def fit_surface(
    draft: Draft, surface: Surface, known: Sequence[str]
) -> tuple[Draft, list[Fitted], list[dict[str, Any]]]:
    """The outer rate and the inner one's share; a drive with zones of its own keeps them, and is only compared."""
    capacity = draft.plan().capacity_bytes(0)
    if draft.get("geometry.outer_rate") is None:
        return draft, [], []
    outer, inner = rate_bytes(draft.get("geometry.outer_rate")), share(draft.get("geometry.inner_to_outer"))
    zones = int(draft.get("geometry.zone_count", 16))

    def off(point: Numbers) -> Numbers:
        return np.log(
            even_rate_at(surface.offset, outer * point[0], point[1], zones, capacity) / surface.rate
        )

    found = optimize.least_squares(
        off, [1.0, inner], bounds=([0.2, 0.1], [5.0, 1.2]), loss="soft_l1", f_scale=0.02, diff_step=0.02
    )
    # The steps decide, from the line's values on.
    stepped = optimize.minimize(
        lambda point: float(
            np.sum(
                np.log(rate_at(surface.offset, outer * point[0], point[1], zones, capacity) / surface.rate)
                ** 2
            )
        ),
        found.x,
        method="Nelder-Mead",
        options={"xatol": 1e-5, "fatol": 1e-9, "initial_simplex": found.x * (1 + _SIMPLEX)},
    )
    found.x = stepped.x
    rest = np.log(rate_at(surface.offset, outer * found.x[0], found.x[1], zones, capacity) / surface.rate)
    noise = max(float(rest @ rest) / max(len(rest) - 2, 1), 1e-7)
    covariance = noise * np.linalg.pinv(found.jac.T @ found.jac)
    # A rate over a short stretch has what a buffer held before in it, everywhere alike.
    half = _NORMAL * np.sqrt(np.diag(covariance) + np.array([_ALIKE, 0.0]) ** 2)
    outer_mb = outer * float(found.x[0]) / 1e6
    parts: list[tuple[str, float, float, str]] = [
        ("geometry.outer_rate", outer_mb, outer / 1e6 * float(half[0]), "MB/s"),
        ("geometry.inner_to_outer", float(found.x[1]), float(half[1]), ""),
    ]
    fitted = [
        Fitted(key, value, value - wide, value + wide, "fitted", unit)
        for key, value, wide, unit in parts
        if key not in known
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
    return draft, fitted, rows


def of_geometry(row: Mapping[str, str]) -> dict[str, Any]:
    """What a row of a table of geometries says, as keys of a drive file."""
    rpm, size = float(row["rpm"]), float(row["sector_bytes"])
    outer, inner = float(row["spt_outer"]), float(row["spt_inner"])
    skew = float(row["skew_rev"]) if _is_number(row.get("skew_rev", "")) else 0.0
    found: dict[str, Any] = {
        "rpm": f"{rpm:g}rpm",
        "geometry.heads": int(row["surfaces"]),
        "geometry.outer_rate": f"{outer * size * rpm / 60 / (1 + skew) / 1e6:.4f}MB/s",
        "geometry.inner_to_outer": f"{100 * inner / outer:.3f}%",
    }
    if skew:
        found |= {"skew.track": f"{skew:.6f}rev", "skew.cylinder": f"{skew:.6f}rev", "skew.margin": None}
    if row.get("capacity"):
        found["geometry.capacity"] = row["capacity"].replace(" ", "")
    return found


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
