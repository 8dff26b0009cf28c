"""A device that stops answering is no healthy one: `drivelab measure` says so, in text, record and exit status."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Iterator

import pytest
from devices import DRIVE, Device, served

READS = ("--rw", "randread", "--bs", "4k", "--iodepth", "4")


@pytest.fixture
def device(command, environment, tmp_path) -> Iterator[Device]:
    with served(command, environment, tmp_path, DRIVE, clock="real") as found:
        yield found


def hung_after(run, device: Device, seconds: float) -> threading.Timer:
    timer = threading.Timer(seconds, lambda: run("fault", device.uri, "hang"))
    timer.start()
    return timer


def test_a_device_that_hangs_is_told_in_the_record_and_fails(process, device):
    timer = hung_after(process, device, 2.0)
    done = process("measure", "--target", device.uri, *READS, "--runtime", "5s", "--json")
    timer.join()
    assert done.returncode == 1
    document = json.loads(done.stdout)
    (point,) = document["points"]
    of = point["measured"]["under_way"]
    assert (of["commands"], of["unanswered"]) == (4, 4)
    assert 0.2e9 < of["oldest_ns"] < 5e9
    assert 4.9e9 < of["waited_ns"] < 6e9
    assert point["measured"]["failures"]["count"] == 0
    assert "unanswered" in {one["code"] for one in document["warnings"]}
    assert "error: 4 commands had no answer for" in done.stderr
    assert done.stderr.count("had no answer") == 1


def test_a_device_that_answers_again_is_a_warning(process, device):
    timers = [
        threading.Timer(seconds, device.process.send_signal, [number])
        for seconds, number in ((4.0, signal.SIGSTOP), (10.5, signal.SIGCONT))
    ]
    for timer in timers:
        timer.start()
    done = process("measure", "--target", device.uri, *READS, "--runtime", "6s", "--json")
    for timer in timers:
        timer.join()
    document = json.loads(done.stdout)
    of = document["points"][0]["measured"]["under_way"]
    assert (done.returncode, of["commands"], of["unanswered"]) == (0, 4, 0), done.stderr
    assert "warning: when the run ended, 4 commands had had no answer for up to" in done.stderr


def test_a_healthy_device_is_not_suspected(run, device):
    done = run("measure", "--target", device.uri, *READS, "--number-ios", "100", "--json")
    document = json.loads(done.stdout)
    assert done.returncode == 0
    assert document["points"][0]["measured"]["under_way"]["unanswered"] == 0
    assert "unanswered" not in {one["code"] for one in document["warnings"]}
