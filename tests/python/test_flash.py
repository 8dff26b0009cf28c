"""Flash drives from the command line: the catalogue by kind and year, a fit of their dies, what a power cut loses."""

from __future__ import annotations

import json

import pytest

from drivelab import InputError, catalogue, fit, simulate
from drivelab.arrays.durability.unreadable import of_drive
from drivelab.scenarios.catalogue_choice import Medium, chosen, years

DRIVE = "samsung-mzvlb256"


def simulated(keys: dict, workload: dict, run: dict) -> dict:
    """The point of a workload on this drive with these keys over its own."""
    drive = {"base": DRIVE, **keys}
    return simulate({"target": {"drive": drive}, "workload": workload, "run": run}).points[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("2014", (2014, 2014)), ("2014..2020", (2014, 2020)), ("2014..", (2014, 9999)), ("..2020", (0, 2020))],
)
def test_years(text, expected):
    assert years(text) == expected


@pytest.mark.parametrize("text", ["", "..", "20", "2020..2014", "2014 2020", "x"])
def test_what_is_no_range_of_years(text):
    with pytest.raises(InputError, match="range"):
        years(text)


def test_the_catalogue_by_kind_and_year(run):
    names = [entry["name"] for entry in chosen(catalogue("drives"), Medium.FLASH, "2018..2019")]
    assert names == ["micron-7300-pro", DRIVE]
    # What a drive takes over from its base counts.
    shingled = [entry["name"] for entry in chosen(catalogue("drives"), Medium.SMR)]
    assert shingled == ["seagate-st4000dm004", "seagate-st8000as0002", "wd-red-wd40efax"]
    listed = json.loads(run("catalogue", "--kind", "flash", "--json").stdout)
    assert set(listed) == {"drives"}
    assert len(listed["drives"]) == len(chosen(catalogue("drives"), Medium.FLASH))


@pytest.mark.parametrize(
    "words", [("controllers", "--kind", "smr"), (DRIVE, "--year", "2014.."), ("--year", "then")]
)
def test_kind_and_year_choose_among_drives_alone(run, words):
    found = run("catalogue", *words)
    assert found.returncode == 2
    assert found.stderr.startswith("error: ")


def test_a_fit_finds_what_a_sweep_was_made_with(tmp_path):
    """Ten dies of 66 us are known; of a start with other times, the sweep tells the rest."""
    points = [
        (depth, simulated({}, {"rw": "randread", "iodepth": depth}, {"ios": 30_000})["iops"])
        for depth in (1, 4, 16, 64)
    ]
    sweep = tmp_path / "sweep.csv"
    sweep.write_text("iodepth,iops\n" + "".join(f"{depth},{iops}\n" for depth, iops in points))
    start = tmp_path / "start.toml"
    start.write_text(
        f'base = "{DRIVE}"\nfirmware = {{ read_miss = "1us", read_completion = "20us" }}\n'
        'flash.read = ["50us", "54.4us", "68.8us"]\n'
    )
    report = fit(str(start), str(tmp_path / "fitted.toml"), sweep=[str(sweep)], known=["flash.dies=10"])
    found = {one.key: one.value for one in report.parameters()}
    assert found["flash.read"] == pytest.approx(66.3, rel=0.05)
    assert "flash.dies" not in found
    errors = [row["iops_error"] for row in report.to_dict()["sweep"]]
    assert max(map(abs, errors)) < 0.02


def test_reads_wait_for_the_programs_of_writes():
    workload = {"rw": "randrw", "rwmixread": 70, "iodepth": 32}
    beside = simulated({}, workload, {"ios": 20_000})
    alone = simulated({}, {"rw": "randread", "iodepth": 32}, {"ios": 20_000})
    assert beside["read"]["latency_ns"]["p99"] > 2 * alone["latency_ns"]["p99"]


def test_a_power_cut_loses_what_no_die_has_and_capacitors_keep_it():
    lost = {}
    for protected in (False, True):
        target = {
            "drive": {"base": DRIVE, "flash": {"protected": protected}},
            "faults": {"power_cut": "20ms"},
        }
        point = simulate({"target": target, "workload": {"rw": "randwrite", "iodepth": 8}}).points[0]
        lost[protected] = point["power_cut"]["lost"]["sectors"]
    assert lost[False] > 0
    assert lost[True] == 0


def test_unreadable_sectors_of_flash_are_those_of_its_standard():
    assert of_drive(DRIVE).rate == "1e-15/bit"
