"""The programs that check what the studies found for one user, on made-up figures."""

from __future__ import annotations

import pytest
from made_up_figures import CATALOGUE, Change, Fields, failing, scaled

from drivelab import experiment

RATES = {
    "raid0/1": 500.0,
    "raid0/2": 560.0,
    "raid0/3": 570.0,
    "raid0/4": 550.0,
    "raid1/2": 505.0,
    "raid10/4": 560.0,
}
MANY = {"S": (134.0, 400.0), "T": (186.0, 560.0), "C": (190.0, 560.0)}
FIRST, SCSI, RAPTOR = "desktop-no-queueing-first", "desktop-scsi", "desktop-raptor"
MEMBERS, MIRRORING = "desktop-members", "desktop-mirroring"
RAID, QUEUEING = "raid-for-many-users", "queueing-for-many-users"


def one_user(fields: Fields, variant: str | None) -> float:
    """As the study found it: S first, the fourth member a loss, the AcceleRAID before the plain adapter."""
    if fields["load"] == "many-users":
        return MANY[fields["system"]][fields["members"] == "4"]
    return (
        RATES[f"{fields['level']}/{fields['members']}"]
        * {"S": 1.0, "T": 0.9, "C": 0.8, "A": 0.78}[fields["system"]]
    )


@pytest.mark.parametrize(
    ("change", "fails"),
    [
        (None, set()),
        (scaled(1.2, load="office", system="T", level="raid0", members="1"), {FIRST, QUEUEING}),
        (scaled(1.3, load="gaming", system="C", level="raid10"), {FIRST}),
        (scaled(1.1, load="bootup", system="S", level="raid0", members="3"), {MEMBERS}),
        (scaled(1.05, load="high-end", system="S", level="raid0", members="4"), {MEMBERS}),
        (scaled(1.2, level="raid1"), {MIRRORING}),
        (scaled(1.2, level="raid1", load="office"), set()),
        (scaled(1.1, system="A"), {SCSI}),
        (scaled(1.2, system="C", level="raid0", members="1"), {RAPTOR, MIRRORING}),
        (scaled(1.2, system="C", level="raid0", members="1", load="gaming"), set()),
        (scaled(0.5, load="many-users", system="S", level="raid0", members="4"), {RAID}),
        (scaled(0.5, load="many-users", system="T", level="raid0", members="1"), {QUEUEING}),
    ],
)
def test_storagereview_2004_desktop(change: Change | None, fails: set[str]) -> None:
    assert failing("storagereview-2004-desktop", one_user, change) == fails


CELLS = experiment.load(str(CATALOGUE / "mirpk-2005-desktop.toml")).cells
PRINTED = {cell.id: cell.published for cell in CELLS if cell.published is not None}
RANDOM = {"1": 64.0, "2": 70.0, "4": 80.0, "8": 95.0, "16": 115.0, "32": 150.0}


def applications(fields: Fields, variant: str | None) -> float:
    """As printed; one at a time NCQ gains nothing, and little where files are in few pieces."""
    drive, ncq, test = fields["drive"], fields["ncq"], fields["test"]
    if test.startswith("random-"):
        return 134.0 if drive == "Raptor" else RANDOM[test.partition("-")[2]]
    if variant is None:
        return PRINTED[f"{drive}/{ncq}/{test}"]
    return PRINTED[f"{drive}/off/{test}"] * (1.02 if variant == "defragmented" and ncq == "on" else 1.0)


@pytest.mark.parametrize(
    ("change", "fails"),
    [
        (None, set()),
        (scaled(1.2, drive="SP2504C", ncq="on", test="xp-startup"), {"pcmark_gain"}),
        (scaled(1.02, drive="WD2500", ncq="on", test="file-copying"), {"pcmark_gain"}),
        (scaled(0.9, drive="WD2500", ncq="on", test="xp-startup"), {"pcmark_gain", "pcmark_queue"}),
        (scaled(0.93, drive="SP2504C", ncq="on", test="acdsee"), {"worldbench_gain", "pcmark_queue"}),
        (scaled(1.05, ncq="on", test="directx"), {"worldbench_gain"}),
        (scaled(1.2, drive="WD2500", ncq="on", test="nero"), {"worldbench_nero"}),
        (scaled(1.3, "synchronous", ncq="on", test="xp-startup"), {"asynchronous_io"}),
        (scaled(1.3, "defragmented", ncq="on", test="general-usage"), {"asynchronous_io"}),
        (scaled(0.8, drive="SP2504C", test="random-32"), {"ncq_against_10k"}),
    ],
)
def test_mirpk_2005_desktop(change: Change | None, fails: set[str]) -> None:
    assert failing("mirpk-2005-desktop", applications, change) == fails
