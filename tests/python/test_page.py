"""The page in a browser: what it does there, and that its records, ranges, charts and errors are those of the package.

The page is built once, and one run of its checks in Chromium writes what the tests here compare. Without Node.js,
Chromium, or Rust's target for WebAssembly they are skipped, with what is missing as the reason.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import page_pairs
import pytest

import drivelab
import page
import page_charts
import page_studies
from drivelab import charts, experiment
from drivelab.arrays.simulation import rebuild
from drivelab.comparison.beside import compare
from drivelab.errors import InputError, ScenarioError
from drivelab.experiment.claims import OF_EXPERIMENT
from drivelab.records.opening import open_record

pytestmark = pytest.mark.xdist_group("page")

ROOT = Path(page.__file__).resolve().parent.parent
CHECKS = [
    "the core runs random scenarios",
    "a queue at work answers while its depth is dragged",
    "a queue at work plays, steps and scrubs with the mouse",
    "a queue at work is used by keyboard alone",
    "the same commands go to both drives",
    "try runs what its forms say, by mouse",
    "try is used by keyboard alone",
    "an array fails and is rebuilt, by mouse",
    "the map of an array names member and sector, by mouse",
    "a power cut is told for each policy",
    "an array is used by keyboard alone",
    "what an array cannot be is said, and the room goes on",
    "a link restores an array",
    "levels are compared and an array is picked, by mouse",
    "a load without a rate is compared by IOPS and their ranges",
    "which array is asked by keyboard alone, and a link restores it",
    "a comparison stops, and goes on",
    "records are compared as the package compares them",
    "records are dropped, and a threshold is judged",
    "records are used by keyboard alone",
    "what is no record is said with its remedy",
    "a file of more than 100 MB does not stop the page",
    "studies have the figures and the verdicts of reproduce",
    "a study is run, stopped and left by keyboard alone",
    "a cell of a study leads to its scenario, and a link to its question",
    "errors are shown in their lines, as the command line has them",
    "the editor completes keys and words of the schema",
    "links restore the state of a room",
    "a long run stops, and the room goes on",
    "a folder without a server will do",
    "who wants no motion sees none",
    "without JavaScript the page says what it is",
    "no room is wider than its window",
    "axe finds nothing serious",
    "nothing is said on the console, and no request leaves the origin",
]


RECORDS = ["queue.json", "try.json", "array.json", "rebuild.json", "cut.json"]
"""What the checks leave of a room's runs: each with its scenario, its command and its record."""


@pytest.fixture(scope="module")
def built() -> Path:
    """The built page."""
    why = page.lacking()
    if why is not None:
        pytest.skip(why)
    page.build()
    return page.OUT


@dataclass(frozen=True)
class Seen:
    """What the checks found wrong, by their names, and the folder with what they wrote."""

    wrong: dict[str, str | None]
    folder: Path

    def read(self, name: str) -> Any:  # noqa: ANN401 - JSON
        """One of the files."""
        path = self.folder / name
        assert path.is_file(), f"the check that writes {name} has failed"
        return json.loads(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def seen(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Seen:
    """One run of all checks in the browser."""
    browser = next((found for name in ("chromium", "google-chrome") if (found := shutil.which(name))), None)
    if browser is None:
        pytest.skip("the page's checks need chromium")
    folder = tmp_path_factory.mktemp("page")
    # Of the workspace: dependencies keep the features with which the tests of the rooms have compiled them.
    cargo = ["cargo", "test", "--quiet", "--locked", "--workspace", "--test", "cases"]
    environment = os.environ | {"DRIVELAB_PAGE_CASES": str(folder / "cases.json")}
    subprocess.run(cargo, cwd=ROOT, env=environment, check=True, capture_output=True)
    pairs = {name: list(map(str, paths)) for name, paths in page_pairs.written(folder).items()}
    (folder / "pairs.json").write_text(json.dumps(pairs), encoding="utf-8")
    program = ["node", "tests/browser/main.mjs", str(built), browser, str(folder)]
    done = subprocess.run(program, cwd=page.WEB, check=True, capture_output=True, text=True, encoding="utf-8")
    return Seen(json.loads(done.stdout), folder)


@pytest.mark.parametrize("check", CHECKS)
def test_in_a_browser(seen: Seen, check: str):
    assert seen.wrong[check] is None, seen.wrong[check]


def test_every_check_of_the_page_is_a_test(seen: Seen):
    assert sorted(seen.wrong) == sorted(CHECKS)


def simulated(scenario: dict[str, Any], folder: Path) -> drivelab.runs.result.Result:
    """The native run of a scenario that may bring its drive file."""
    folder.mkdir()
    for name, text in scenario.get("files", {}).items():
        (folder / name).write_text(text, encoding="utf-8")
    path = folder / scenario["origin"]
    path.write_text(scenario["text"], encoding="utf-8")
    return drivelab.simulate(path)


def test_random_scenarios_give_the_points_of_native_runs_to_the_bit(seen: Seen, tmp_path: Path):
    cases, runs = seen.read("cases.json"), seen.read("runs.json")
    assert len(cases) == len(runs) == 50
    for number, (scenario, ran) in enumerate(zip(cases, runs, strict=True)):
        native = simulated(scenario, tmp_path / str(number))
        entries = [json.loads(entry) for entry in ran["entries"]]
        added = {"iops_low", "iops_high", "workload"}
        points = [
            {key: value for key, value in point.items() if key not in added}
            for point in native.to_dict()["points"]
        ]
        assert ran["hash"] == native.scenario_hash
        assert [entry["digest"] for entry in entries] == [point["digest"] for point in points]
        assert entries == points


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_of_the_page_is_the_record_of_the_same_text(seen: Seen, tmp_path: Path, name: str):
    found = seen.read(name)
    for number, one in enumerate(found.get("sides", [found])):
        record, path = json.loads(one["record"]), tmp_path / f"{number}.toml"
        path.write_text(one["toml"], encoding="utf-8")
        logged = len(record["points"][0].get("commands", []))
        native = drivelab.simulate(path, log=logged).to_dict()
        assert record == json.loads(json.dumps(native))
        assert record["digest"] == (found["digest"] if "digest" in found else found["digests"][number])


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_of_the_page_opens_in_the_command_line_with_its_digest(seen: Seen, tmp_path, run, name):
    found = seen.read(name)
    for one in found.get("sides", [found]):
        (tmp_path / "page.json").write_text(one["record"], encoding="utf-8")
        again = run("simulate", "page.json")
        assert again.returncode == 0, again.stderr
        assert f"same digest as page.json: {json.loads(one['record'])['digest']}" in again.stdout


@pytest.mark.parametrize("name", RECORDS)
def test_a_command_of_the_page_runs_to_the_same_digest(seen: Seen, run, name):
    found = seen.read(name)
    for one in found.get("sides", [found]):
        program, *words = shlex.split(one["command"])
        assert program == "drivelab"
        done = run(*words, "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["digest"] == json.loads(one["record"])["digest"]


def test_errors_of_the_page_are_those_of_the_package(seen: Seen, tmp_path: Path):
    found = seen.read("problems.json")
    path = tmp_path / "scenario.toml"
    path.write_text(found["text"], encoding="utf-8")
    with pytest.raises(ScenarioError) as caught:
        drivelab.simulate(path)
    problems = caught.value.problems
    assert found["marked"] == [one["line"] for one in problems]
    for one, text in zip(problems, found["shown"], strict=True):
        assert text.startswith(f"scenario.toml:{one['line']}:{one['column']} {one['message']}")
        assert one["remedy"] is None or one["remedy"] in text


def test_the_hours_of_a_rebuild_are_those_of_the_package(seen: Seen):
    found = seen.read("rebuild.json")
    expected = rebuild.extrapolated(json.loads(found["record"])["points"])
    assert expected is not None
    assert expected["duration_ns"] is not None
    minutes, error = re.search(r"takes ([\d.]+) min under this load, ± ([\d.]+) %", found["said"]).groups()
    assert float(minutes) == pytest.approx(expected["duration_ns"] / 60e9, rel=5e-3)
    assert float(error) == pytest.approx(100 * expected["relative_error"], rel=5e-3)


def test_the_table_of_a_power_cut_has_the_figures_of_its_record(seen: Seen):
    found = seen.read("cut.json")
    for point, shown in zip(json.loads(found["record"])["points"], found["shown"], strict=True):
        cut = point["power_cut"]
        figures = [cut["lost"]["commands"], cut["lost"]["sectors"]]
        figures += [cut["in_flight"]["commands"], cut["in_flight"]["commands_torn"]]
        names = ["rows", "rows_unfit", "rows_unfit_after_recovery"]
        names += ["wrong_with_member_lost_in_cut_sectors", "wrong_with_member_lost_later_sectors"]
        figures += [cut["array"][name] for name in names]
        assert shown[1:] == [f"{figure:,}" for figure in figures]


def test_what_an_array_cannot_be_is_said_as_the_package_says_it(seen: Seen, tmp_path: Path):
    found = seen.read("array-problems.json")
    path = tmp_path / "scenario.toml"
    path.write_text(found["text"], encoding="utf-8")
    with pytest.raises(ScenarioError) as caught:
        drivelab.simulate(path)
    for one, text in zip(caught.value.problems, found["shown"], strict=True):
        assert text.startswith(one["message"])


@pytest.mark.parametrize("name", sorted(page_studies.published()))
def test_a_study_of_the_page_has_the_figures_and_the_verdict_of_reproduce(seen: Seen, name: str):
    found = seen.read("studies.json")[name]
    assert found["command"] == f"drivelab reproduce {name}"
    whole = experiment.load(name)
    ran = {cell["id"]: cell for cell in found["document"]["cells"]}
    assert len(ran) > 1
    # Cells of variants are figures of the same runs, and are in the verdict.
    native = experiment.run(
        replace(whole, cells=[cell for cell in whole.cells if cell.id in ran], variants={}, claims={})
    )
    for cell in native.to_dict()["cells"]:
        own, fields = ran[cell["id"]], {"fields": cell.pop("fields")}
        assert fields["fields"]
        exact = ("predicted", "error")
        assert {key: own[key] for key in own if key not in exact} == {
            key: cell[key] for key in cell if key not in exact
        }
        assert own["predicted"] == pytest.approx(cell["predicted"], rel=1e-12)
        assert own["error"] == (None if cell["error"] is None else pytest.approx(cell["error"], abs=1e-12))
    claims = {claim["id"]: claim for claim in found["document"]["claims"]}
    verdict = claims[found["question"]]
    said = "It holds" if verdict["holds"] else "It does not hold"
    assert found["said"] == f"{said} for the simulated figures: {verdict['numbers']}"
    if not whole.variants:
        outcome = replace(native, experiment=whole)
        assert OF_EXPERIMENT[name][found["question"]](outcome) == (verdict["holds"], verdict["numbers"])


def near(one: Any, other: Any) -> bool:  # noqa: ANN401 - any value of JSON
    """Whether two values are the same, numbers to nine digits."""
    if isinstance(one, float | int) and isinstance(other, float | int):
        return one == pytest.approx(other, rel=1e-9)
    return bool(one == other)


def differences(shown: dict[str, Any], expected: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """The keys that both have, with what is not the same."""
    both = shown.keys() & expected.keys()
    return {key: (shown[key], expected[key]) for key in both if not near(shown[key], expected[key])}


def in_a_terminal(run: Callable[..., Any], command: str, form: str) -> str:
    """What a command that the page has copied prints."""
    program, *words = shlex.split(command)
    assert program == "drivelab"
    done = run(*words, form)
    assert done.returncode in {0, 3}, done.stderr
    return str(done.stdout)


def without_options(line: str) -> str:
    """A line of the command line without the options that it names: a page has fields."""
    return re.sub(r" \(--[^)]*\)", "", line).replace("over --max-loss", "over the limit of losses")


@pytest.mark.parametrize("name", ["which-rate.json", "which-depth.json"])
def test_the_array_that_the_page_picks_is_that_of_its_plan(seen: Seen, run, name):
    found = seen.read(name)
    shown = json.loads(found["json"])
    plan = json.loads(in_a_terminal(run, found["commands"][0], "--json"))
    assert found["lines"] == [without_options(line) for line in plan["lines"]]
    assert shown["pick"] == plan["pick"]
    for one, expected in zip(shown["candidates"], plan["candidates"], strict=True):
        # What closed forms exclude is not simulated there.
        is_simulated = expected["iops_healthy"] is not None or one["iops_healthy"] is None
        same = {**one, "out_for": expected["out_for"], "is_loss_a_bound": expected["is_loss_a_bound"]}
        known = (
            expected if is_simulated else {key: value for key, value in expected.items() if value is not None}
        )
        assert differences(same, known) == {}
    assert [one["key"] for one in shown["assumptions"]] == [one["key"] for one in plan["assumptions"]]
    for one, expected in zip(shown["assumptions"], plan["assumptions"], strict=True):
        assert differences({**one, "turns": None}, {**expected, "turns": None}) == {}
        factors, thens = (
            [[turn[key] for turn in of["turns"]] for of in (one, expected)] for key in ("factor", "then")
        )
        assert factors[0] == pytest.approx(factors[1])
        assert thens[0] == thens[1]


def test_the_levels_that_the_page_compares_are_those_of_its_other_commands(seen: Seen, run):
    found = seen.read("which-rate.json")
    (shown,) = json.loads(found["json"])["candidates"]
    (level,) = csv.DictReader(io.StringIO(in_a_terminal(run, found["commands"][1], "--csv")))
    for key in ("iops_healthy", "iops_degraded", "iops_rebuilding", "rebuild_h", "rebuild_relative_error",
                "loss_in_a_year_percent", "mttdl_years", "usable_bytes"):  # fmt: skip
        assert float(level[key]) == pytest.approx(shown[key], rel=1e-9), key
    (losses,) = json.loads(in_a_terminal(run, found["commands"][2], "--json"))["levels"]
    assert losses["share_by_sectors"] == pytest.approx(shown["share_by_sectors"], rel=1e-9)
    (row,) = csv.DictReader(io.StringIO(found["csv"]))
    assert list(row) == list(shown)
    for (key, value), text in zip(shown.items(), row.values(), strict=True):
        if isinstance(value, bool):
            assert text == str(value).lower(), key
        elif isinstance(value, int | float):
            assert float(text) == pytest.approx(value, rel=1e-12), key
        elif value is None or isinstance(value, str):
            assert text == (value or ""), key


def as_compared(found: dict[str, Any]) -> dict[str, Any]:
    """What the page has of a comparison, numbers to twelve digits; texts as they are."""

    def rounded(value: Any) -> Any:  # noqa: ANN401 - any part of JSON
        if isinstance(value, dict):
            return {key: rounded(one) for key, one in value.items()}
        if isinstance(value, list):
            return [rounded(one) for one in value]
        return float(f"{value:.9g}") if isinstance(value, float) else value

    keys = ("first", "other", "tell_apart", "differences", "percentiles", "not_matched")
    comparisons = [{key: one[key] for key in keys} for one in found["comparisons"]]
    notes = (
        [one["notes"] for one in found["records"]]
        if "fio" not in {one["kind"] for one in found["records"]}
        else []
    )
    return json.loads(
        json.dumps(rounded({"comparisons": comparisons, "verdict": found["verdict"], "notes": notes}))
    )


@pytest.mark.parametrize("name", [*page_pairs.PAIRS, *page_pairs.FILES])
def test_records_are_compared_with_the_differences_and_the_verdict_of_the_package(seen: Seen, name: str):
    found, paths = seen.read("compared.json")[name], seen.read("pairs.json")[name]
    if name in page_pairs.REFUSED:
        assert found["problems"][0].endswith(
            "which the page does not read: give the file to `drivelab compare`"
        )
        return
    try:
        expected = compare(*paths, threshold_percent=5.0).to_dict()
    except InputError as error:
        # The page names the file, and not its folder.
        why = re.sub(r"\S*/(?=[\w.-]+\.json)", "", str(error)).partition("; ignore")[0]
        assert why in found["problems"][0]
        return
    assert found["shown"] == expected["verdict"]["lines"]
    assert as_compared(found["document"]) == as_compared(expected)


def test_what_is_no_record_is_refused_for_the_reason_of_the_package(seen: Seen, tmp_path: Path):
    found = seen.read("damaged.json")
    for (name, text), shown in zip(found["texts"].items(), found["shown"], strict=True):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        with pytest.raises(InputError):
            open_record(str(path))
        assert shown.startswith(f"{name}: ")
    whole = "\n".join(found["shown"])
    for why in (
        "it is empty; a record is JSON",
        "it holds a list; a record is a JSON object",
        "was the run ended before it had printed all?",
        "this is no JSON",
        "take the drivelab that wrote it, or a newer one",
        "it has neither record_version nor fio's `fio version` (its keys: a, b)",
        "this is the JSON of `drivelab scan`",
        "iops is -5; it is a number from 0 on, or null",
        "the record has no points: nothing was measured in it",
        "a histogram of the record cannot be read",
    ):
        assert why in whole


def test_the_grammar_of_the_page_is_that_of_the_package():
    written = page_charts.TARGET.read_text(encoding="utf-8")
    assert written == page_charts.text(), "run python tools/page_charts.py"


SWEEPS: dict[str, dict[str, Any]] = {
    "with a range": {"drive": "wd-4tb-7200", "iodepth": [1, 2, 4, 8, 16, 32]},
    "without a range": {"drive": "seagate-st3250620as", "iodepth": [1, 4]},
    "of writes that a cache holds": {
        "drive": "wd-4tb-7200",
        "rw": "randwrite",
        "iodepth": [1, 8],
        "write_cache": True,
    },
    "of reads and writes": {"drive": "hgst-c15k600", "rw": "randrw", "iodepth": [2, 3, 32, 128]},
    "with many depths": {"drive": "wd-wd740gd-00fla1", "iodepth": list(range(1, 33))},
    "over a wide range": {"drive": "wd-4tb-7200", "bs": "64KiB", "rw": "read", "iodepth": [1, 256]},
    "of few I/Os": {"drive": "wd-4tb-7200", "iodepth": [1, 2], "number_ios": 60},
}


def test_logic_and_charts_of_the_page(built: Path, tmp_path: Path):
    cases = []
    for name, given in SWEEPS.items():
        words = {"rw": "randread", "bs": "4KiB", "number_ios": 400, **given}
        if (cached := words.pop("write_cache", None)) is not None:
            words["target.write_cache"] = cached
        points = drivelab.simulate(**words).to_dict()["points"]
        spec = charts.depth(points, name).to_dict()
        cases.append({"name": name, "title": name, "points": points, "spec": spec})
    path = tmp_path / "charts.json"
    path.write_text(json.dumps(cases), encoding="utf-8")
    program = [page.WEB / "node_modules/.bin/vitest", "run"]
    environment = os.environ | {"DRIVELAB_PAGE_CHARTS": str(path), "NO_COLOR": "1"}
    done = subprocess.run(
        program, cwd=page.WEB, env=environment, capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    types = subprocess.run(
        [page.WEB / "node_modules/.bin/tsc", "--noEmit"],
        cwd=page.WEB,
        capture_output=True,
        text=True,
        check=False,
    )
    assert types.returncode == 0, types.stdout


def test_the_core_is_no_longer_than_a_visitor_should_load(built: Path, record_property):
    whole, sent = page.sizes()["core.wasm"]
    record_property("core_bytes", whole)
    record_property("core_bytes_gzipped", sent)
    assert sent <= page.CORE_MAX_BYTES


def test_the_page_stays_short_and_its_studies_are_loaded_by_who_wants_them(built: Path):
    found = page.sizes()
    assert page_studies.NAME in found
    assert page_studies.NAME in page.LAZY
    assert page.without_core(found) <= page.PAGE_MAX_BYTES
    assert page_studies.NAME not in (built / "index.html").read_text(encoding="utf-8")
