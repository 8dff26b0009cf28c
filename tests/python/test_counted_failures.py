"""How often drives fail, from tables that somebody has counted: rates with their interval, survivals, errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scipy.stats import chi2

from drivelab.arrays import counted
from drivelab.errors import InputError

MODELS = """\
MFG,Model,Drive Size,Drive Count,Drive Days,Drive Failures,AFR
Seagate,ST4000DM000,4TB,"37,040","81,347,421","5,770",2.59%
WDC,WUH721816ALE6L4,16TB,"26,602","11,616,742",102,0.32%
WDC,WUH722222ALE6L4,22TB,100,"36,500",0,0.00%
"""
SNAPSHOTS = "date,serial_number,model,capacity_bytes,failure\n" + "".join(
    f"2024-01-{day:02},{serial},{model},4000787030016,{int(serial == 'Z1' and day == 20)}\n"
    for day in range(1, 32)
    for serial, model in (("Z1", "ST4000DM000"), ("Z2", "ST4000DM000"), ("W1", "WDC  WUH721816ALE6L4"))
    if serial != "Z1" or day <= 20
)
GIVEN = (
    "durability",
    "--level",
    "raid6",
    "--members",
    "8",
    "--rebuild",
    "30h",
    "--replacement",
    "2d",
    "--ure",
    "none",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "models.csv").write_text(MODELS)
    (tmp_path / "days.csv").write_text(SNAPSHOTS)
    return tmp_path


def test_a_rate_is_failures_over_drive_years_with_poissons_interval(folder: Path):
    rate, low, high = counted.counted(f"{folder}/models.csv:ST4000DM000", "--afr").rates()
    years = 81_347_421 / 365
    assert rate == pytest.approx(5770 / years)
    assert low == pytest.approx(chi2.ppf(0.025, 2 * 5770) / 2 / years, rel=1e-9)
    assert high == pytest.approx(chi2.ppf(0.975, 2 * 5771) / 2 / years, rel=1e-9)
    # As Backblaze prints it.
    assert f"{rate:.2%}" == "2.59%"


def test_snapshots_are_counted_row_by_row(folder: Path):
    found = counted.counted(f"{folder}/days.csv:st4000dm000", "--afr")
    assert (found.days, found.failures) == (51, 1)
    found = counted.counted(f"{folder}/days.csv:WDC WUH721816ALE6L4", "--afr")
    assert (found.days, found.failures) == (31, 0)


def test_durability_takes_counts_and_tells_the_interval(run, folder: Path):
    done = run(*GIVEN, "--afr", "models.csv:WUH721816ALE6L4", "--json", cwd=folder)
    found = json.loads(done.stdout)["levels"][0]
    mean = found["array"]["drive"]["mean_hours"]
    assert mean == pytest.approx(11_616_742 * 24 / 102, rel=1e-5)
    over, year = found["loss_in_a_year_over_failures_percent"], found["loss_in_a_year_percent"]["value"]
    # RAID 6: the cube of the rate, and 102 failures are known to a fifth.
    assert over["low"] < year < over["high"]
    assert over["high"] / year == pytest.approx((chi2.ppf(0.975, 206) / 2 / 102) ** 3, rel=0.01)
    text = run(*GIVEN, "--afr", "models.csv:WUH721816ALE6L4", cwd=folder)
    assert "over the interval of the annual failure rate the chance in a year is" in text.stderr
    same = run(*GIVEN, "--afr", "1%(0.9%..1.1%)", "--json").stdout
    plain = run(*GIVEN, "--afr", "1%", "--json").stdout
    one, two = (json.loads(text)["levels"][0] for text in (same, plain))
    assert one["loss_in_a_year_percent"] == two["loss_in_a_year_percent"]
    assert two["loss_in_a_year_over_failures_percent"] is None


def test_plan_and_compare_levels_take_them_too(run, folder: Path):
    given = (
        "plan", "--capacity", "20GB", "--drive", "seagate-cheetah-9lp", "--level", "raid5", "--members", "4",
        "--rate-iops", "30", "--number-ios", "500", "--ramp-time", "1s", "--drive-price", "80USD",
        "--afr", "seagate-cheetah-9lp=models.csv:WUH721816ALE6L4",
    )  # fmt: skip
    done = run(*given, cwd=folder)
    assert done.returncode == 0, done.stderr
    note = next(line for line in done.stderr.replace("\n  ", " ").splitlines() if "over the interval" in line)
    assert "of the annual failure rate, 0.261% to 0.388%, the pick loses data within a year" in note
    interval = next(
        one["interval"]
        for one in json.loads(run(*given, "--json", cwd=folder).stdout)["assumptions"]
        if one["key"] == "afr"
    )
    assert interval["loss_percent_low"] < interval["loss_percent_high"]
    done = run(
        "compare-levels", "--drive", "seagate-cheetah-9lp", "--members", "4", "--levels", "raid5", "--repair", "30h",
        "--number-ios", "300", "--states", "healthy", "--afr", "models.csv:ST4000DM000", "--json", cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_backblazes_survival_is_a_law(run, reference):
    table = reference("devices/backblaze-survival-by-model.csv")
    law = counted.life(f"{table}:st4000dm000", "--drive-life")
    shares = dict(part.split("=") for part in law.removeprefix("survival:").split(","))
    assert float(shares["5y"]) == pytest.approx(0.8883, abs=1e-4)
    ages = sorted(shares, key=lambda age: float(age[:-1]))
    assert [float(shares[age]) for age in ages] == sorted(map(float, shares.values()), reverse=True)
    done = run(*GIVEN, "--drive-life", f"{table}:ST4000DM000")
    assert done.returncode == 0, done.stderr
    # All models of the file can be read.
    names = [line.partition(",")[0] for line in table.read_text().splitlines()[1:]]
    for name in names:
        found = counted.counted(f"{table}:{name}", "--afr")
        if found.failures:
            rate, low, high = found.rates()
            assert low < rate < high


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--afr", "none.csv:A"), "--afr none.csv:A: cannot read none.csv: no such file"),
        (("--afr", "models.csv:ST4000"), "the table has no model ST4000: did you mean st4000dm000?"),
        (("--afr", "models.csv:zzz"), "the table has no model zzz: it has 3 models, such as"),
        (
            ("--afr", "models.csv:WUH722222ALE6L4"),
            "none failed in 36,500 drive days: no more than 2.95 % fail",
        ),
        (("--afr", "empty.csv:A"), "a table has a column model, drive_days and failures by model"),
        (("--afr", "short.csv:A"), "a table by model has columns drive_days and failures (or failed)"),
        (("--afr", "wrong.csv:A"), "drive_days is 'many': it is a number above zero"),
        (("--drive-life", "models.csv:ST4000DM000"), "the table has no survival, a column surv_5yr"),
        (("--afr", "2%(3%..4%)"), "the interval does not hold the rate: give the low end first"),
        (("--afr", "0%"), "or FILE.csv:MODEL for a table of counts"),
    ],
)
def test_what_is_wrong_is_said_with_a_remedy(run, folder: Path, given, said):
    (folder / "empty.csv").write_text("")
    (folder / "short.csv").write_text("model,days\nA,1\n")
    (folder / "wrong.csv").write_text("model,drive_days,failures\nA,many,1\n")
    done = run(*GIVEN, *given, cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_without_a_failure_there_is_a_bound_and_no_zero():
    with pytest.raises(InputError, match=r"afr=\"2\.95%\""):
        counted.Counted(counted.Where("--afr", "here"), 36_500, 0).rates()
