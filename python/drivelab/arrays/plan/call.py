"""`drivelab.arrays.plan`: which array to buy, with the options of the verb as arguments."""

from __future__ import annotations

from os import PathLike

from drivelab.arrays.plan.planned import Plan, planned
from drivelab.scenarios.names import check_names


def plan(  # noqa: PLR0913 - its parameters are the options of the verb
    *,
    capacity: str | None = None,
    drive: str | None = None,
    drive_price: str | None = None,
    max_latency: str | None = None,
    min_iops: float | str | None = None,
    max_loss: str | None = None,
    budget: str | None = None,
    states: str | None = None,
    load: str | PathLike[str] | None = None,
    rw: str | None = None,
    pattern: str | None = None,
    bs: str | None = None,
    rwmixread: int | None = None,
    iodepth: int | str | None = None,
    rate_iops: float | str | None = None,
    rate_process: str | None = None,
    sync: bool | None = None,
    number_ios: int | None = None,
    ramp_time: str | None = None,
    precision: str | None = None,
    level: str | None = None,
    members: int | str | None = None,
    controller: str | None = None,
    copies: int | None = None,
    groups: int | None = None,
    spares: int | None = None,
    controller_price: str | None = None,
    power_price: str | None = None,
    drive_power: str | None = None,
    life: str | None = None,
    afr: str | None = None,
    mttf: str | None = None,
    drive_life: str | None = None,
    batch: str | None = None,
    ure: str | None = None,
    latent: str | None = None,
    reads: str | None = None,
    common: str | list[str] | None = None,
    wrong_drive: str | None = None,
    outage: str | list[str] | None = None,
    detection: str | None = None,
    replacement: str | None = None,
    attended: str | None = None,
    scrub: str | None = None,
    workers: int | None = None,
    **others: object,
) -> Plan:
    """Which array to buy: `plan(capacity="60TB", drive="wd-4tb-7200", drive_price="90USD", afr="1.5%")`.

    `capacity`, `drive` and `drive_price` are needed. Quantities are texts with their units, as the verb takes them:
    sizes "60TB", limits "p99=50ms,mean=20ms", prices "280USD" or "A=280USD,B=300USD", chances "1e-4/year"; several
    drives, levels or controllers are one text with commas, `members` also a range "4..12".
    docs/how-to/plan.md describes each. `others` are keys of the target, such as
    `**{"target.array.stripe_unit": "256KiB"}`, and `run.seed`. `workers` is the number of threads.

    The result has `pick`, the cheapest candidate that holds (None if none does), `candidates`, `lines()`, `table()`,
    `to_dict()`, `chart()` and `tornado()`. Raises InputError, ScenarioError, RunError and KeyboardInterrupt.
    """
    options = {name: value for name, value in locals().items() if name not in {"others", "workers"}}
    check_names(others, options)
    options["load"] = None if load is None else str(load)
    return planned(workers, **options, **others)
