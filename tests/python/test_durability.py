"""`drivelab durability` and `drivelab.arrays.durability.loss`: what they read, print and refuse."""

from __future__ import annotations

import csv
import io
import json
import math
import signal
import subprocess
import time
from collections.abc import Iterator

import pytest
from messages import held, told

from drivelab import _core
from drivelab.arrays.durability import loss
from drivelab.errors import InputError, ScenarioError

BASE = ("--members", "8", "--capacity", "16TB", "--afr", "1.5%", "--rebuild", "20h")
EIGHT = (*BASE, "--ure", "none")
RATE = -math.log1p(-0.015) / 8760


def test_the_answer_is_five_lines_and_a_table(run):
    done = run("durability", "--level", "raid5,raid6", *EIGHT)
    assert done.returncode == 0, done.stderr
    answer, table = done.stdout.split("\n\n")
    assert len(answer.splitlines()) == 5
    assumed = run("durability", "--level", "raid5,raid6", *BASE).stdout.splitlines()[5]
    assert assumed.startswith("assumed: unreadable sectors 1e-15/bit, by data sheets of nearline drives ")
    assert [line.split()[0] for line in table.splitlines()] == ["level", "raid5", "raid6"]
    assert "least of all: raid6" in answer


def test_json_csv_and_python_say_the_same(run):
    found = json.loads(run("durability", "--level", "raid5", *EIGHT, "--json").stdout)
    (row,) = csv.DictReader(io.StringIO(run("durability", "--level", "raid5", *EIGHT, "--csv").stdout))
    own = loss("raid5", members=8, capacity="16TB", afr="1.5%", rebuild="20h", ure="none")
    (level,) = found["levels"]
    assert found == own.to_dict()
    assert float(row["loss_in_a_year_percent"]) == level["loss_in_a_year_percent"]["value"]
    exact = (15 * RATE + 1 / 20) / (56 * RATE**2) / 8760
    assert level["mttdl_years"]["value"] == pytest.approx(exact, rel=1e-12)
    assert level["method"] == "chain"


def test_a_file_says_the_same_and_options_change_it(run, tmp_path):
    text = 'level = "raid5"\nmembers = 8\ncapacity = "16TB"\nafr = "1.5%"\nrebuild = "20h"\nure = "none"\n'
    (tmp_path / "shelf.toml").write_text(text)
    one = json.loads(run("durability", "shelf.toml", "--json").stdout)
    assert one == json.loads(run("durability", "--level", "raid5", *EIGHT, "--json").stdout)
    two = json.loads(run("durability", "shelf.toml", "--level", "raid6", "--json").stdout)
    assert two["levels"][0]["array"]["level"] == "raid6"


def test_each_method_finds_the_chance_of_the_chain():
    of = {
        "members": 8,
        "mttf": "12y",
        "rebuild": "72h",
        "ure": "none",
        "seed": 3,
        "histories": 400_000,
        "error": "0.1%",
    }
    exact = loss("raid5", **of).outcomes[0]["loss_in_a_year_percent"]["value"]
    for method in ("monte-carlo", "biasing", "splitting"):
        found = loss("raid5", method=method, **of).outcomes[0]["loss_in_a_year_percent"]
        assert abs(found["value"] - exact) < 3 * found["error"], method


def test_nothing_seen_is_a_bound(run):
    options = ("--method", "monte-carlo", "--histories", "4096")
    done = run("durability", "--level", "raidz3", *EIGHT, *options)
    assert "chance of loss <0.07" in done.stdout
    assert "confidence of 95 %" in done.stdout


@pytest.mark.parametrize("members", ["66", "70", "128"])
def test_what_no_number_holds_is_a_bound_in_every_form(run, members):
    of = ("--afr", "1%", "--rebuild", "20h", "--ure", "none")
    words = ("durability", "--level", "raid1", "--members", members, *of)
    done = run(*words)
    assert done.returncode == 0, done.stderr
    assert "chance of loss <1e-288 % in a year, <1e-288 % in 5 years" in done.stdout
    assert "mean time to data loss: >1e+290 years\n" in done.stdout
    assert "found by the chain of states, as bounds" in done.stdout
    row = done.stdout.splitlines()[-1].split()
    assert row[3:7] == ["<1e-288", "0", "1e-288", "<1e-288"]
    assert row[7] == ">1e+290"
    assert float(row[8].removeprefix(">")) > 1e300
    assert "below 1e-288 %, the least that is computed" in done.stderr
    (level,) = json.loads(run(*words, "--json").stdout)["levels"]
    assert level["loss_in_a_year_percent"] == {
        "value": None,
        "low": 0.0,
        "high": pytest.approx(1e-288),
        "error": 0.0,
    }
    assert (level["mttdl_years"]["value"], level["mttdl_years"]["low"]) == (None, pytest.approx(1e290))
    (entry,) = csv.DictReader(io.StringIO(run(*words, "--csv").stdout))
    assert entry["loss_in_a_year_percent"] == ""
    assert float(entry["loss_in_a_year_percent_high"]) == pytest.approx(1e-288)
    assert (entry["mttdl_years"], float(entry["mttdl_years_low"])) == ("", pytest.approx(1e290))


def test_every_cause_makes_losses_likelier():
    of = {"members": 6, "afr": "3%", "rebuild": "24h", "capacity": "16TB", "ure": "none"}
    base = loss("raid6", **of).outcomes[0]["loss_in_a_year_percent"]["value"]
    for cause in (
        {"ure": "1e-15/bit"},
        {"common": ["shelf:20y:30%"]},
        {"wrong_drive": "1%"},
        {"batch": "5%:8"},
        {"serial": True},
    ):
        worse = loss("raid6", **{**of, **cause}).outcomes[0]["loss_in_a_year_percent"]["value"]
        assert worse > 1.01 * base, cause


def test_unavailability_is_apart_from_loss():
    of = {"members": 6, "afr": "3%", "rebuild": "24h"}
    plain, outage = (
        loss("raid6", **of),
        loss("raid6", **of, outage=["controller:500000h:8h", "shelf:1e6h:4h"]),
    )
    assert plain.outcomes[0]["loss_in_life_percent"] == outage.outcomes[0]["loss_in_life_percent"]
    exact = 1 - (500_000 / 500_008) * (1e6 / 1_000_004)
    assert outage.outcomes[0]["unavailability"] == pytest.approx(exact, rel=1e-12)


def test_a_scrub_makes_read_errors_rarer():
    of = {"members": 6, "afr": "3%", "rebuild": "24h", "capacity": "16TB", "ure": "1e-15/bit", "seed": 2}
    week, year = (loss("raid5", **of, scrub=scrub).outcomes[0] for scrub in ("1w", "1y"))
    assert week["loss_in_life_percent"]["high"] < year["loss_in_life_percent"]["low"]


def test_an_interval_of_the_rebuild_is_one_of_the_chance():
    of = {"members": 6, "afr": "3%", "ure": "none"}
    found = loss("raid5", rebuild="20h(10h..40h)", **of).outcomes[0]
    low, high = (loss("raid5", rebuild=hours, **of).outcomes[0] for hours in ("10h", "40h"))
    over = found["loss_in_a_year_over_rebuilds_percent"]
    assert over["low"] == low["loss_in_a_year_percent"]["value"]
    assert over["high"] == high["loss_in_a_year_percent"]["value"]


BESIDE = ("--drive", "wd-wd360gd", "--members", "4", "--rate-iops", "60", "--rebuild", "simulated")


def test_a_simulated_rebuild_is_that_of_compare_levels(run):
    done = run("durability", "--level", "raid0,raid5", *BESIDE, "--afr", "2%", "--json")
    raid0, raid5 = json.loads(done.stdout)["levels"]
    assert "simulated_rebuild" not in raid0
    options = (
        "--drive",
        "wd-wd360gd",
        "--members",
        "4",
        "--rate-iops",
        "60",
        "--levels",
        "raid5",
        "--afr",
        "2%",
    )
    other = json.loads(run("compare-levels", *options, "--number-ios", "200", "--json").stdout)["levels"][0]
    assert raid5["simulated_rebuild"]["duration_ns"] == other["rebuild"]["duration_ns"]
    mean = raid5["array"]["repair"]["rebuild"][0]
    assert mean["low_hours"] < mean["time"]["mean_hours"] < mean["high_hours"]
    assert mean["time"]["mean_hours"] == pytest.approx(other["rebuild"]["duration_ns"] / 3600e9, rel=1e-5)
    assert raid5["loss_in_a_year_percent"] == other["loss"]["loss_in_a_year_percent"]
    assert raid5["array"]["capacity_bytes"] == 72303840 * 512


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--level", "draid", "--width", "3", "--parity", "1"), "cannot be simulated: give its hours"),
        (
            ("--level", "raid5", "--rate-iops", "5000"),
            "leave too little to the rebuild: ask for less, or give its",
        ),
        (
            ("--level", "raid5", "--rebuild", "20h"),
            "--rate-iops: it changes nothing without --rebuild simulated",
        ),
        (("--level", "raid5", "--drive", ""), "no drive is named: give --drive NAME"),
    ],
)
def test_a_rebuild_that_cannot_be_simulated_is_said_with_a_remedy(run, given, said):
    options = dict(zip(BESIDE[::2], BESIDE[1::2], strict=True)) | dict(
        zip(given[::2], given[1::2], strict=True)
    )
    done = run("durability", "--afr", "2%", *(text for pair in options.items() if pair[1] for text in pair))
    assert done.returncode == 2
    assert said in done.stderr


WRONG = """
--members 0|--members -3|--members 3|--members 99999|--members 4.5
--level raid7|--level raid5,raid7
--afr nan|--afr -1%|--afr 0%|--afr 100%|--afr 120%|--afr 1e400%|--afr 1.5%(2%..3%)|--afr absent.csv:X
--mttf 500000h
--capacity 16|--capacity 16T|--capacity 16KB|--capacity 1EB|--capacity 0TB|--capacity 1e400TB
--life 0y|--life 1d|--life 1e9y
--rebuild 20|--rebuild 99y|--rebuild 20h,|--rebuild 20h(30h..40h)|--rebuild fixed:0h|--rebuild 1e400h
--rebuild simulated
--detection x|--replacement weibul:2:9h|--replacement weibull:2
--ure 1e-15|--ure 2/bit|--ure 1e-15/bit --latent 1e-4/h|--ure 1e-15/bit --scrub 0h
--latent 0/h|--latent 1e-310/h|--latent uniform:2h:1h|--scrub 14d --ure none|--ure 1e-15/bit --scrub 1w --reads 0B
--wrong-drive 1.2|--wrong-drive x|--batch 5%|--batch 5%:0|--batch 500%:2
--common shelf:20y:150%|--common shelf:0y:1%|--common :20y:1%|--common shelf:20y
--outage x:0h:8h|--outage x:1y|--attended 8|--attended 0x5|--attended 8x9|--attended 8x2.5
--spares -1|--spares 1000|--width 3|--stripes 3|--parity 3|--copies 3|--groups 3|--layout far
--level draid|--level draid --width 9|--level lrc --members 9|--level raid10 --layout nearer
--method guess|--method chain --attended 8x5|--method splitting --common s:1y:1%|--every-loss --method biasing
--histories 1|--histories 1e9|--error 0%|--error 2|--randseed -1
--rw randread|--drive wd-4tb-7200|--json --csv
--rebuild -2h|--rebuild 20h(-1h..30h)|--capacity -16TB|--replacement -2d|--ure -1e-15/bit|--latent -1e-4/h|--scrub -1w
--reads 1TB|--ure 1e-15/bit --reads 1TB|--latent 1e-4/h --scrub 1w --reads 1TB|--level ,
--level raid5,raid60,lrc --members 7
--serial --level raid5,raidz1|--rebuild 20h,35h,40h|--rebuild 20h,35h --level raid5,raid50
--rebuild simulated --drive wd-4tb-7200 --pattern iometer/file-server --bs 8k
--rebuild simulated --drive wd-4tb-7200 --iodepth 4 --rate-iops 60
--latent 20h|--latent often|--members x --copies y --spares z --histories w --life v
--ure x --latent y --scrub z|--outage x:y:z --common a:b:c --rebuild 2h(a..b)|--batch a:b --attended axb
--rebuild 20 --afr 0% --ure 1 --common shelf:20y --spares -1 --outage x:1y --members 3
--level raid1 --members 2 --serial
--level raid1,raid5 --members 2 --serial
--level raid10 --members 2 --serial
--level raid50 --members 8 --groups 1 --serial
"""
"""Options after those of eight drives of RAID 6, in place of the same ones there."""


def wrong() -> Iterator[list[str]]:
    """Each command."""
    for options in WRONG.replace("\n", "|").strip("|").split("|"):
        given = dict(zip(BASE[::2], BASE[1::2], strict=True)) | {"--level": "raid6"}
        words = options.split()
        for name in words:
            given.pop(name, None)
        yield ["durability", *(text for pair in given.items() for text in pair), *words]
    without_a_rate = ["durability", "--level", "raid6", "--members", "8", "--rebuild", "20h"]
    yield without_a_rate
    for law in ("weibull:0:1h", "survival:5y=98%,1y=99%", "survival:1y", "uniform:5y:1y", "fixed:0h"):
        yield [*without_a_rate, "--drive-life", law]
    yield [*without_a_rate, "--mttf", "0h"]
    yield ["durability", "--members", "8", "--afr", "2%", "--rebuild", "20h"]
    yield ["durability", "--level", "raid6", "--members", "8", "--afr", "2%"]
    yield ["durability", "absent.toml"]
    for name in FILES:
        yield ["durability", name]
    yield ["durability", "wrong.toml", "--rebuild", "20h", "--ure", "3"]
    yield ["durability", "sound.toml", "--members", "3"]


FILES = {
    "wrong.toml": """level = ["raid6", "raid60"]
members = 7
rebuild = ["30h", "45"]
afr = "0%"
ure = "1e-15"
common = ["shelf:20y:30%", "surge:-1y:1%"]
width = 4
attended = "30x5"
""",
    "kinds.toml": """level = "raid6"
members = [8, 9]
rebuild = 2026-11-25
serial = "no"
afr = true
common = [1, [2]]
""",
    "several.toml": """level = [["raid5"]]
membres = 8
every-loss = true
members = 2.5
afr = "2"
rebuild = [20, "35"]
serial = 3
ure = [1]
scrub = "1w"
reads = "270"
""",
    "keys.toml": 'levels = "raid6"\nmember = 8\n',
    "broken.toml": 'level = raid6\nmembers = 8\nafr = "2%"\nafr = "3%"\n',
    "sparse.toml": 'level = "raid6"\n',
    "wide.toml": 'level = "draid"\nmembers = 8\nafr = "2%"\nrebuild = "20h"\n',
    "empty.toml": "",
    "sound.toml": 'level = "raid6"\nmembers = 8\nafr = "2%"\nrebuild = "20h"\n',
    "twice.toml": 'level = "raid6"\nmembers = 8\nafr = "2%"\nmttf = "9y"\nrebuild = "20h"\n',
    "loaded.toml": 'level = "raid6"\nmembers = 8\nafr = "2%"\nrebuild = "simulated"\nbs = "4k"\ncapacity = "1TB"\n',
    "load.toml": """level = "raid6"
members = 8
afr = "absent.csv:X"
rebuild = "simulated"
drive = "wd-wd360gd"
rw = "random"
""",
    "listed.toml": """level = "raid6"
members = 8
afr = "2%"
rebuild = "simulated"
drive = "wd-wd360gd"
bs = "4k,8k"
""",
    "idle.toml": 'level = "raid6"\nmembers = 8\nafr = "2%"\nrebuild = "20h"\nrw = "randread"\n',
}
"""Files with something wrong; one is sound."""


def test_messages(run, tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    commands = [command for command in wrong() if command != ["durability", "sound.toml"]]
    held("durability-messages.txt", told(run, commands, tmp_path))


@pytest.mark.parametrize("option", ["--detection", "--replacement", "--rebuild"])
def test_a_repair_longer_than_the_life_is_blamed_on_its_longest_part(run, option):
    given = {"--rebuild": "20h", "--detection": "1h", "--replacement": "1d", option: "10y"}
    words = [text for pair in given.items() for text in pair]
    done = run("durability", "--level", "raid6", "--members", "8", "--afr", "1.5%", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {option}: a repair of 876")
    assert f"give a shorter {option.removeprefix('--')} or a longer life" in done.stderr


def test_a_list_of_levels_may_stand_in_a_file_and_in_a_call(run, tmp_path):
    sound = FILES["sound.toml"].partition("\n")[2]
    (tmp_path / "list.toml").write_text(f'level = ["raid6", "raid5,raid1"]\n{sound}')
    found = json.loads(run("durability", "list.toml", "--json").stdout)["levels"]
    assert [one["array"]["level"] for one in found] == ["raid6", "raid5", "raid1"]
    with pytest.raises(InputError, match="level=5: it takes the name of a level, or a list of names"):
        loss(5, members=8, afr="2%", rebuild="20h")


def test_a_cell_has_one_level_and_its_template_is_a_text(run, tmp_path):
    own = _core.experiments()["durability-references"]
    for template, said in (
        ('["{level}"]', "field level: the template of level is a text, such as \"{level}\", not ['{level}']"),
        ('"{level},jbod"', "level: a cell has one, and here are raid0, jbod; keep one of them"),
    ):
        (tmp_path / "own.toml").write_text(own.replace('level = "{level}"', f"level = {template}"))
        done = run("reproduce", "own.toml")
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr


def test_a_file_names_others_from_its_folder(run, tmp_path):
    (tmp_path / "shelves").mkdir()
    counts = "model,drive_days,failures\nST4000DM000,81347421,5770\n"
    (tmp_path / "shelves" / "drives.csv").write_text(counts)
    text = 'level = "raid6"\nmembers = 8\nafr = "drives.csv:ST4000DM000"\nrebuild = "20h"\n'
    (tmp_path / "shelves" / "shelf.toml").write_text(text)
    done = run("durability", "shelves/shelf.toml")
    assert done.returncode == 0, done.stderr
    with pytest.raises(ScenarioError, match="it is missing") as caught:
        loss(file=tmp_path / "shelves" / "shelf.toml", rebuild="20h", level="draid")
    assert [one["origin"] for one in caught.value.problems] == [str(tmp_path / "shelves" / "shelf.toml")]


def test_no_figure_is_told_of_what_was_not_asked(run):
    done = run("durability", "--level", "raid5", *EIGHT)
    assert "not available, nothing lost: not asked; --outage says" in done.stdout
    assert "unreadable sectors" not in done.stdout
    (level,) = json.loads(run("durability", "--level", "raid5", *EIGHT, "--json").stdout)["levels"]
    assert level["unavailability"] is None
    assert level["share_by_sectors"] is None
    done = run("durability", "--level", "raid5", *BASE, "--outage", "psu:1e5h:10h", "--ure", "1e-15/bit")
    assert "not available, nothing lost: 0.876 h a year by psu" in done.stdout
    assert "% of losses by unreadable sectors" in done.stdout


def test_a_drive_that_stands_alone_loses_its_own_data():
    of = {"members": 8, "capacity": "16TB", "afr": "1.5%", "life": "5y"}
    gone = 1 - math.exp(-8 * RATE * 5 * 8760)
    for level, drives in (("jbod", 1), ("linear", 1), ("raid0", 8)):
        # Nothing is rebuilt, so nothing need be said of it.
        found = loss(level, **of).outcomes[0]
        assert found["loss_in_life_percent"]["value"] == pytest.approx(100 * gone, rel=1e-9)
        assert found["bytes_lost"]["value"] == pytest.approx(gone * drives * 16e12, rel=1e-9), level


def test_what_a_chain_has_no_use_for_is_said(run):
    done = run("durability", "--level", "raid5", *EIGHT, "--histories", "5000", "--randseed", "3")
    assert "note: raid5: --histories, --randseed changes nothing: its chain of states is exact" in done.stderr
    done = run("durability", "--level", "raid0,raid5", *BASE, "--ure", "1e-15/bit")
    assert "note: raid0: --rebuild, --ure changes nothing: its first failed drive is the loss" in done.stderr
    assert "note: raid5" not in done.stderr


def test_all_problems_come_at_once_and_in_the_callers_words():
    with pytest.raises(InputError, match="wrong_drive=2: 2 is no chance") as caught:
        loss("raid6", members=3, afr="1%", rebuild="20h", wrong_drive="2")
    assert "members: 3 members do not make raid6" in str(caught.value)
    with pytest.raises(InputError, match="did you mean members"):
        loss("raid6", member=3)


def test_the_references_are_reproduced(run):
    done = run("reproduce", "durability-references", "--json", timeout=300)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    cells = {cell["id"]: cell for cell in found["cells"]}
    chain = cells["prism/raid5/4/day/chain"]
    assert abs(chain["predicted"] - chain["published"]) < 1e-9
    assert all(claim["holds"] for claim in found["claims"])


def test_copies_that_wrap_round_meet_the_sectors_of_the_drive_that_is_left():
    of = {"copies": 3, "capacity": "16TB", "afr": "1.5%", "rebuild": "1h", "ure": "1e-15/bit"}
    nine, eight = (
        loss("raid10", members=members, **of).outcomes[0]["loss_in_a_year_percent"]["value"]
        for members in (9, 8)
    )
    # Nine have nine pairs that leave a whole drive; eight have eight that leave two thirds of one, and eight a third.
    met = {share: -math.expm1(-share * 8e-15 * 16e12) for share in (1, 2 / 3, 1 / 3)}
    assert eight / nine == pytest.approx(8 * (met[2 / 3] + met[1 / 3]) / (9 * met[1]), rel=1e-3)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "sigterm"])
def test_a_signal_ends_histories(command, environment, number):
    # No history ever sees this loss, so they go on for hours.
    words = (
        "--level",
        "raid1",
        "--members",
        "64",
        "--afr",
        "1%",
        "--rebuild",
        "20h",
        "--detection",
        "1h",
        "--ure",
        "none",
    )
    process = subprocess.Popen(
        [*command, "durability", *words], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    time.sleep(3)
    assert process.poll() is None
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode == (130 if number == signal.SIGINT else 143)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "sigterm"])
def test_a_signal_leaves_the_levels_that_had_finished(command, environment, number):
    # That of raid6 is answered in a moment, that of raid1 as above.
    words = (
        "--level",
        "raid6,raid1",
        "--members",
        "64",
        "--afr",
        "1%",
        "--rebuild",
        "20h",
        "--detection",
        "1h",
        "--ure",
        "none",
    )
    process = subprocess.Popen(
        [*command, "durability", *words, "--json"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    time.sleep(5)
    assert process.poll() is None
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == (130 if number == signal.SIGINT else 143)
    assert err.decode() == "interrupted: the levels that had finished are printed\n"
    found = json.loads(out)
    assert found["interrupted"] is True
    assert [level["array"]["level"] for level in found["levels"]] == ["raid6"]
