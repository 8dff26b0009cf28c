"""Whether a drive reorders: the judge on simulated drives of a known order, on devices that cannot tell, on figures."""

from __future__ import annotations

import json
import os

import pytest

from drivelab.measuring.reorder import CANNOT_TELL, IN_ORDER, REORDERS, conclude, judge, overtaken_of


def judged(run, *words: object):
    done = run("measure", "reorder", *words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("words", "verdict"),
    [
        (("--drive", "wd-4tb-7200", "--set", "target.queue.order=fcfs"), IN_ORDER),
        (("--drive", "wd-4tb-7200", "--set", "target.queue.order=sptf"), REORDERS),
        (("--drive", "wd-4tb-7200", "--set", "target.queue.order=c-look"), REORDERS),
        # Its firmware gains a few percent at four threads, and is fitted on the published table.
        (("--drive", "seagate-st3250620as"), REORDERS),
        (("--drive", "seagate-st3250620as", "--set", "target.queue.protocol=none"), IN_ORDER),
    ],
)
def test_simulated_drives_are_judged_as_they_are(run, words, verdict):
    found = judged(run, *words, "--seconds", "20")
    assert found["verdict"] == verdict, found["reason"]
    assert found["confidence"] > 0.95
    assert found["crossing"]["low"] > 1.15


def test_a_file_on_this_machine_cannot_tell(run, tmp_path):
    target = tmp_path / "target"
    target.write_bytes(os.urandom(8 << 20))
    found = judged(run, target, "--seconds", "0.3", "--rounds", "3")
    assert (found["verdict"], found["confidence"]) == (CANNOT_TELL, None)
    assert len(found["rounds"]) == 3
    assert found["environment"]["target"]["path"] == str(target)


def test_interrupted_there_is_no_verdict_and_the_rounds_that_were_whole_are_kept():
    calls = 0

    def runner(_document: object, _number: int, log: int) -> dict[str, object]:
        nonlocal calls
        calls += 1
        if calls == 10:
            raise KeyboardInterrupt
        commands = [{"id": 0, "completed_ns": 1}] if log else []
        return {"latency_ns": {"n": 10}, "window_ns": 1e9, "depth": {"achieved": 32}, "commands": commands}

    found = judge(runner)
    assert (found.verdict, found.interrupted, len(found.rounds)) == (CANNOT_TELL, True, 2)
    assert found.reason == "interrupted after 2 of 5 rounds"
    calls = 9
    found = judge(runner)
    assert (found.verdict, found.interrupted, found.rounds) == (CANNOT_TELL, True, [])
    assert found.table()


def rounds(near_one, far_one, near_full, far_full, depth=32.0):
    scatter = (0.99, 1.0, 1.01, 1.0, 0.995)
    return [
        {
            "near_one_ns": near_one * by,
            "far_one_ns": far_one,
            "near_full_ns": near_full,
            "far_full_ns": far_full * by,
            "near_depth": depth,
            "far_depth": depth,
        }
        for by in scatter
    ]


def test_the_figure_tells_parallel_service_from_reordering():
    # Four servers in parallel, each in order: all is four times as fast, and the crossing costs what it did.
    parallel = conclude(rounds(6e6, 12e6, 1.5e6, 3e6), 32, 0.0)
    assert (parallel.verdict, parallel.kept["mean"]) == (IN_ORDER, pytest.approx(1, abs=0.02))
    # The same with ends out of order is neither.
    assert conclude(rounds(6e6, 12e6, 1.5e6, 3e6), 32, 0.4).verdict == CANNOT_TELL
    assert conclude(rounds(6e6, 12e6, 3e6, 3.3e6), 32, 0.7).verdict == REORDERS
    # Hardly any crossing left, and yet nobody overtaken: that fits nothing.
    assert conclude(rounds(6e6, 12e6, 3e6, 3.3e6), 32, 0.0).verdict == CANNOT_TELL


def test_what_cannot_tell_says_why():
    flash = conclude(rounds(1e5, 1.01e5, 1e4, 1e4), 32, 0.6)
    assert flash.verdict == CANNOT_TELL
    assert "hardly depends on where it goes" in flash.reason
    scattered = rounds(6e6, 9e6, 3e6, 3.3e6)
    scattered[0] |= {"far_one_ns": 5e6}
    assert "the rounds scatter too far" in conclude(scattered, 32, 0.6).reason
    shallow = conclude(rounds(6e6, 12e6, 3e6, 3.3e6, depth=4.0), 32, 0.7)
    assert "only 4.0 were outstanding" in shallow.reason
    told = conclude(rounds(6e6, 12e6, 3e6, 3.3e6), 32, 0.7, suspicion="it is a loop device")
    assert (told.verdict, told.reason) == (CANNOT_TELL, "it is a loop device")


def test_who_was_overtaken_is_counted_and_what_came_together_is_not():
    def log(*ends: int) -> list[dict[str, int]]:
        return [{"id": place, "completed_ns": end} for place, end in enumerate(ends)]

    assert overtaken_of(log(1, 2, 3)) == (0, 3)
    assert overtaken_of(log(3, 2, 1)) == (2, 3)
    assert overtaken_of(log(2, 2, 2)) == (0, 3)
    assert overtaken_of(list(reversed(log(5, 1, 2, 3)))) == (1, 4)
    assert overtaken_of([]) == (0, 0)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "name a TARGET that is measured, or a --drive that is simulated: one of the two"),
        (("--drive", "wd-4tb-7200", "--rounds", "2"), "2 rounds: 3 at least"),
        (("--drive", "wd-4tb-7200", "--iodepth", "2"), "a depth of 2: with fewer than 4"),
        (("file", "--set", "target.rpm=1"), "--set is for a simulated --drive"),
    ],
)
def test_what_is_wrong_is_told(run, words, said):
    done = run("measure", "reorder", *words)
    assert done.returncode == 2
    assert said in done.stderr
