"""The form of a curve through three seek times: whether it is a question, and the drive with the other form."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from drivelab.fit.draft import Draft
from drivelab.fit.parameters import longer_settle
from drivelab.fit.quantities import time_text
from drivelab.fit.seek_curve import LEE, ROOT_LINE, USUAL_LONGER, runs_through

_AVERAGES = 200


def may_change_form(draft: Draft, known: Sequence[str]) -> bool:
    """Whether the curve runs through three times, and neither its form nor all of them are given."""
    held = {"seek.form", "seek.longer_settle"}
    return draft.get("seek.table") is None and draft.get("seek.single") is not None and not held & set(known)


def with_other_form(draft: Draft, single: float, average: float, full: float) -> Draft | None:
    """The drive with the other form through these times, or the nearest average through which it runs; None if it runs
    through none.
    """
    form = LEE if draft.get("seek.form") == ROOT_LINE else ROOT_LINE
    longer = longer_settle(draft) or USUAL_LONGER
    tried = np.linspace(single, full, _AVERAGES + 2)[1:-1]
    times = np.column_stack([np.full(_AVERAGES, single), tried, np.full(_AVERAGES, full)])
    able = runs_through(form, times, longer)
    if runs_through(form, np.array([[single, average, full]]), longer)[0]:
        near = average
    elif able.any():
        near = float(tried[able][np.argmin(np.abs(tried[able] - average))])
    else:
        return None
    values = {"seek.single": single, "seek.average": near, "seek.full": full}
    settles = {} if form == LEE else {"seek.longer_settle": f"{100 * longer:g}%"}
    return draft.having({key: time_text(ms) for key, ms in values.items()} | {"seek.form": form} | settles)
