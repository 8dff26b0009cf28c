"""Command duration limits of a drive of 22 TB, held to what its maker published with cdl-tools.

fio, random reads of 128 KiB, 300 s a point: 20 % of them with a guideline of 50 ms, or 10 % with 100 ms and 20 % with
300 ms. The figures are read off the plots of benchmark/README.md there to 1 ms and 1 I/O a second; those of 50 ms at 32
outstanding are printed. Nothing is fitted here: the drive's own guideline follows from its latencies without limits.
"""

from __future__ import annotations

import json

import pytest

from drivelab import simulate
from drivelab.errors import ScenarioError

OF_50_MS = {4: (97, 68, 55), 8: (107, 132, 59), 16: (131, 236, 61), 24: (143, 337, 65), 32: (154.3, 434, 68)}
"""At this many outstanding: I/Os a second in all; p99 without a limit and with it, ms."""
OF_100_AND_300_MS = {
    4: (52, 92, 281),
    8: (82, 98, 293),
    16: (168, 104, 296),
    24: (269, 107, 299),
    32: (369, 107, 302),
}
"""p99 without a limit, with 100 ms, with 300 ms."""


def limited(depth: int, split: str, duration: str = "200s", **queue: object) -> dict:
    limits = {"read": [{"guideline": f"{within}ms"} for within in (50, 100, 200, 300, 400, 500)]}
    own = {"age_share": 1.5, "duration_limits": limits} | queue
    workload = {"rw": "randread", "bs": "128KiB", "iodepth": depth, "prioritysplit": split}
    target = {"drive": "wd-ultrastar-dc-hc580-24tb", "queue": own}
    return simulate(
        {"target": target, "workload": workload, "run": {"warmup": "30s", "duration": duration, "seed": 1}}
    ).points[0]


def p99_ms(point: dict, name: str) -> float:
    return point["priorities"][name]["latency_ns"]["p99"] / 1e6


@pytest.mark.parametrize("depth", OF_50_MS)
def test_a_limit_of_50_ms_costs_what_was_measured(depth):
    rate, without, within = OF_50_MS[depth]
    point = limited(depth, "limit-1/20")
    assert point["iops"] == pytest.approx(rate, rel=0.06)
    assert p99_ms(point, "normal") == pytest.approx(without, rel=0.08)
    assert p99_ms(point, "limit-1") == pytest.approx(within, rel=0.22)


@pytest.mark.parametrize("depth", OF_100_AND_300_MS)
def test_a_limit_longer_than_the_drives_own_makes_a_command_wait(depth):
    without, hundred, three_hundred = OF_100_AND_300_MS[depth]
    point = limited(depth, "limit-2/10:limit-4/20")
    assert p99_ms(point, "normal") == pytest.approx(without, rel=0.12)
    assert p99_ms(point, "limit-2") == pytest.approx(hundred, rel=0.2)
    assert p99_ms(point, "limit-4") == pytest.approx(three_hundred, rel=0.04)


def test_the_priorities_of_a_record_add_up_to_it():
    point = limited(16, "limit-2/10:limit-4/20", "60s")
    parts = point["priorities"]
    assert list(parts) == ["normal", "limit-2", "limit-4"]
    assert sum(part["ios"] for part in parts.values()) == point["read"]["ios"]
    shares = {name: part["ios"] / point["read"]["ios"] for name, part in parts.items()}
    assert shares["limit-2"] == pytest.approx(0.1, abs=0.02)
    assert shares["limit-4"] == pytest.approx(0.2, abs=0.02)


def test_one_priority_is_no_split():
    workload = {"rw": "randread", "iodepth": 4, "priority": "high"}
    point = simulate({"target": {"drive": "wd-ultrastar-dc-hc580-24tb"}, "workload": workload}).points[0]
    assert "priorities" not in point


def test_what_a_limit_ends_is_an_error_of_its_own_kind():
    limits = {"read": [{"guideline": "20ms", "guideline_policy": "complete-unavailable"}]}
    point = limited(16, "limit-1/20", "30s", duration_limits=limits)
    ended = point["priorities"]["limit-1"]["errors"]
    assert ended > 0
    assert point["errors_by_outcome"] == {"unavailable": ended}
    assert point["priorities"]["normal"]["errors"] == 0


def test_the_table_has_a_row_for_each_priority(run):
    done = run(
        "simulate", "--drive", "wd-ultrastar-dc-hc580-24tb", "--rw", "randread", "--iodepth", "8",
        "--set", "workload.prioritysplit=high/10", "--runtime", "20s",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "priority" in done.stdout.splitlines()[0]
    assert any(line.split()[:1] == ["high"] for line in done.stdout.splitlines()), done.stdout


def test_a_limit_that_the_drive_does_not_have_is_told():
    with pytest.raises(ScenarioError, match="no descriptor 1 of duration limits for a read"):
        simulate({"target": {"drive": "wd-ultrastar-dc-hc580-24tb"}, "workload": {"priority": "limit-1"}})


def test_a_record_with_priorities_is_json():
    assert json.loads(json.dumps(limited(4, "high/10", "5s")))["priorities"]["high"]["ios"] > 0
