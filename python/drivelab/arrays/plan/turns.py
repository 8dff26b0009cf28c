"""The changes that would replace the pick, in words, and a table of all assumptions: given or omitted, and their
effects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from drivelab.arrays.plan.grid import money, terabytes
from drivelab.arrays.plan.loss import times
from drivelab.arrays.plan.sensitivity import FAR, LOADS_DOWN, LOADS_UP, Assumption, Figure, Turn, as_typed
from drivelab.report.table import SCREEN, Cell, Table

if TYPE_CHECKING:
    from drivelab.arrays.plan.planned import Plan

NONE = "-"
_NOTHING = "none that was tried"
_CHANGES_MAX = 4
"""The number of changes that the answer names."""
LEFT_OUT = {
    "detection": ("time to detect", "0", ("detection",)),
    "replacement": ("time to replace", "0", ("replacement",)),
    "attended": ("attended hours", "all", ("attended",)),
    "spares": ("hot spares", "0", ("spares",)),
    "scrub": ("scrub", "none", ("scrub",)),
    "common": ("failures that come together", "none", ("common",)),
    "batch": ("bad batches", "none", ("batch",)),
    "wrong_drive": ("wrong drive pulled", "never", ("wrong-drive",)),
}
"""Default assumptions of the probability of loss: name, default value, and the options that set it."""

_NOT_VARIED = {"attended": "attended hours", "spares": "hot spares", "outage": "outages"}


def changes(found: Plan) -> str:
    """The changes that replace the pick, the nearest first; the capacity last."""
    by_factor = [(turn.factor, _turn(one, turn)) for one in found.assumptions for turn in one.turns]
    for price in found.prices:
        now = found.asked.prices.drives[price.drive]
        side = "above" if price.price > now else "below"
        amount = money(price.price, found.asked.prices.currency)
        by_factor.append((price.price / now, f"price of {price.drive} {side} {amount}: {price.other}"))
    ordered = sorted(by_factor, key=lambda one: max(one[0], 1 / one[0]))
    parts = [text for _, text in ordered[:_CHANGES_MAX]]
    parts += [] if parts else [_nothing(found)]
    return "; ".join([*parts, *_capacity(found)])


def _turn(one: Assumption, turn: Turn) -> str:
    return f"{_where(one, turn)}: {turn.then or _NOTHING}"


def _where(one: Assumption, turn: Turn) -> str:
    """The value from which on, and the reason."""
    why = f" ({turn.why})" if turn.why else ""
    if one.key == "load":
        return f"{turn.factor:g} times the load{why}"
    # Only the digits that the search determines.
    return (
        f"{one.name} {'above' if turn.factor > 1 else 'below'} {times(one.value, turn.factor, digits=2)}{why}"
    )


def _nothing(found: Plan) -> str:
    varied = [one.name for one in found.assumptions if one.key != "load"]
    parts = []
    if varied and found.asked.limits.loss_percent is not None:
        parts.append(f"neither {' nor '.join(varied)}" if len(varied) > 1 else f"no {varied[0]}")
        parts[0] += f" within {FAR:g} times"
    if any(one.key == "load" for one in found.assumptions):
        parts.append(f"no load from {min(LOADS_DOWN):g} to {max(LOADS_UP):g} times")
    return ", ".join(parts) or "no price of a drive"


def _capacity(found: Plan) -> list[str]:
    if found.capacity is None or found.pick is None:
        return []
    then = found.capacity.then or "no candidate"
    return [f"capacity above {terabytes(found.pick.entry.capacity_bytes)}: {then}"]


def table(found: Plan) -> Table:
    """A row for each assumption, those with the largest effect on the probability of loss first."""
    columns = ["assumption", "is", "loss % at x0.5", "at x2", "the pick turns"]
    rows = [
        [
            one.name,
            one.value + _aside(one, found),
            _chance(one.low),
            _chance(one.high),
            "; ".join(_at(one, turn) for turn in one.turns),
        ]
        for one in found.assumptions
    ]
    if found.asked.knows_failures:
        rows += [[*row, NONE, NONE, ""] for row in [*_not_varied(found), *left_out(found)]]
    cells = [[Cell(text) for text in row] for row in rows]
    return Table(columns, cells, left=frozenset({0, 1, len(columns) - 1}), width=SCREEN)


def _not_varied(found: Plan) -> list[tuple[str, str]]:
    """Given options that cannot be halved and doubled, or that do not affect the probability of loss."""
    given = found.asked.failures
    return [(name, as_typed(given[key])) for key, name in _NOT_VARIED.items() if given.get(key)]


def left_out(found: Plan) -> list[tuple[str, str]]:
    """The default assumptions in effect, each with the option that sets it."""
    given = found.asked.failures
    return [
        (name, f"{value} (--{options[0]})")
        for name, value, options in LEFT_OUT.values()
        if not any(given.get(option.replace("-", "_")) for option in options)
    ]


def _at(one: Assumption, turn: Turn) -> str:
    return _turn(one, turn).removeprefix(f"{one.name} ")


def _aside(one: Assumption, found: Plan) -> str:
    """The interval of the rebuild's hours; that nobody gave the rate of unreadable sectors."""
    if one.key == "ure" and found.asked.unreadable:
        return " (assumed, --ure)"
    if one.key != "rebuild":
        return ""
    rebuilt = found.pick and found.pick.entry.rebuild
    return f" ± {rebuilt['relative_error']:.1%}" if rebuilt and rebuilt["relative_error"] else ""


def _chance(one: Figure | None) -> str:
    """The effect, with a mark if it may be noise."""
    return NONE if one is None else f"{'' if one.is_told else '~'}{one.value:.2g}"
