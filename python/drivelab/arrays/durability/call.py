"""`drivelab.arrays.durability`: the losses of an array, with the options of the verb as arguments."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike

from drivelab.arrays.durability.losses import Losses
from drivelab.arrays.durability.solving import loss


def durability(  # noqa: PLR0913 - its parameters are the options of the verb
    level: str | Sequence[str] | None = None,
    members: int | None = None,
    *,
    file: str | PathLike[str] | None = None,
    capacity: str | None = None,
    layout: str | None = None,
    copies: int | None = None,
    groups: int | None = None,
    parity: int | None = None,
    width: int | None = None,
    stripes: float | str | None = None,
    spares: int | None = None,
    life: str | None = None,
    afr: str | None = None,
    mttf: str | None = None,
    drive_life: str | None = None,
    batch: str | None = None,
    ure: str | None = None,
    latent: str | None = None,
    reads: str | None = None,
    common: str | Sequence[str] | None = None,
    wrong_drive: str | None = None,
    outage: str | Sequence[str] | None = None,
    rebuild: str | Sequence[str] | None = None,
    detection: str | None = None,
    replacement: str | None = None,
    attended: str | None = None,
    serial: bool | None = None,
    drive: str | None = None,
    controller: str | None = None,
    rw: str | None = None,
    pattern: str | None = None,
    bs: str | None = None,
    rwmixread: int | None = None,
    iodepth: int | None = None,
    rate_iops: float | str | None = None,
    rate_process: str | None = None,
    sync: bool | None = None,
    scrub: str | None = None,
    method: str | None = None,
    histories: int | None = None,
    error: str | None = None,
    every_loss: bool | None = None,
    seed: int | None = None,
    **others: object,
) -> Losses:
    """How likely an array loses data: `durability("raid6", 8, capacity="16TB", afr="1.5%", rebuild="20h")`.

    `level` is one level or several, `file` a TOML file with the same keys, which arguments override. Quantities are
    texts with their units, as the verb takes them: sizes "16TB", times "20h" or "5y", chances "1.5%"; `rebuild` is a
    mean, a law such as "fixed:20h", an interval, or "simulated", which takes a `drive` and the load beside it (`rw`,
    `bs`, `iodepth` or `rate_iops`). docs/how-to/durability.md describes each.

    `outcomes` of the result has a dictionary for each level: `loss_in_a_year_percent`, `loss_in_life_percent`,
    `mttdl_years` and `bytes_lost`, each with `value`, `low` and `high`. `table()`, `lines()` and `to_dict()` show it.
    Raises InputError, with all that is wrong, ScenarioError for a file, and KeyboardInterrupt.
    """
    options = {name: value for name, value in locals().items() if name not in {"level", "file", "others"}}
    return loss(level, file=None if file is None else str(file), **options, **others)
