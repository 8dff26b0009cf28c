"""Faults that a served device refuses, with the reason, and goes on."""

from __future__ import annotations

import json
import socket
from pathlib import Path

from devices import DRIVE, RAID5, Device

from drivelab.runs.emulation import CONTROL_SUFFIX


def _fault(device: Device, words: str) -> str:
    return device.fault(*words.split()).stdout


def _asked(device: Device, line: str) -> dict[str, object]:
    """The answer to a line that a program writes to the control socket."""
    with socket.socket(socket.AF_UNIX) as control:
        control.settimeout(60)
        control.connect(str(device.socket) + CONTROL_SUFFIX)
        control.sendall(line.encode() + b"\n")
        return json.loads(control.makefile().readline())


def test_a_time_without_measure_does_not_end_the_session(serve):
    with serve(RAID5) as device:
        for action in ("lie", "hang", "fail", "power-cut"):
            answer = _asked(device, json.dumps({"action": action, "for_ns": 2**64 - 1}))
            assert not answer["ok"]
            assert str(answer["error"]).startswith("for_ns: the longest time is 366 days")
        assert _fault(device, "status").endswith("requests under way; the array is healthy\n")
        assert device.end()["failure"] is None


def test_a_request_that_is_no_action_is_refused_with_what_there_is(serve):
    with serve(DRIVE) as device:
        answer = _asked(device, json.dumps({"action": "fial", "member": 0}))
        assert str(answer["error"]).startswith(
            "fial: there is no such action; there are media, corrupt, slow, "
        )
        answer = _asked(device, json.dumps({"action": "fail", "mebmer": 0}))
        assert str(answer["error"]).startswith(
            "mebmer: an action has no such field; there are action, member, "
        )
        for sectors, why in (
            (2**64, "sectors: 1.8446744073709552e+19 is not a whole number from 0 to 18446744073709551615"),
            (2**64 - 1, "drive 0 does not have 18446744073709551615 sectors from sector 0 on"),
        ):
            assert why in _fault(device, f"media --lba 0 --sectors {sectors}")
        assert device.end()["failure"] is None


def test_without_the_model_the_clock_is_the_reason(serve):
    with serve(DRIVE, clock="untimed") as device:
        for words in ("slow --by 1s", "fail", "lie", "replace", "reset", "scrub"):
            assert "the clock untimed is without the model, and without the drives" in _fault(device, words)
        assert _fault(device, "status").endswith("requests under way\n")


def test_what_changes_nothing_is_refused(serve):
    with serve(RAID5) as device:
        assert "--member: power-cut, scrub, rebuild, start and status are of" in _fault(
            device, "power-cut --member 3"
        )
        assert _fault(device, "fail --member 1") == "done\n"
        assert _fault(device, "fail --member 2") == "done\n"
        assert "the array has lost data: it has stopped, and a new" in _fault(device, "replace --member 1")


def test_the_power_of_a_pool_with_write_caches_is_not_cut(serve, run, tmp_path: Path):
    pool, help_ = RAID5.replace("raid5", "raidz1"), "set target.write_cache = false"
    with serve(pool) as device:
        said = _fault(device, "power-cut")
        assert "a power cut of a pool whose drives keep writes in their caches is not modelled" in said
        assert help_ in said
    (tmp_path / "pool.toml").write_text(pool)
    words = ["crashtest", str(tmp_path / "pool.toml"), "--run", f"touch {tmp_path}/begun", "--check", "true"]
    done = run(*words, "--cuts", "1", "-q")
    assert done.returncode == 2
    assert "error: the target: a power cut of a pool" in done.stderr
    assert help_ in done.stderr
    assert not (tmp_path / "begun").exists()
