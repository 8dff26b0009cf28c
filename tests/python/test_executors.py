"""Where work runs: a checkpoint that a command goes on from, and a Ray cluster that gives the same record."""

from __future__ import annotations

import importlib.util
import json
import pickle
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from processes import until_it_runs

from drivelab import _core, executors, simulate
from drivelab.errors import RunError
from drivelab.executors import tasks
from drivelab.executors.checkpoint import Checkpoint
from drivelab.executors.local import Done
from drivelab.executors.running import Running
from drivelab.executors.tasks import ChunkTask, PointTask, Sent, Task

SWEEP = (
    "simulate", "--drive", "seagate-cheetah-9lp", "--rw", "randread", "--bs", "4k",
    "--iodepth", "1,2,3,4,5,6,7,8", "--number-ios", "2000", "--json", "--quiet",
)  # fmt: skip
HISTORIES = (
    "durability", "--level", "raid6", "--members", "8", "--drive-life", "weibull:1.1:400000h",
    "--rebuild", "20h(18h..23h)", "--histories", "70000", "--json", "--quiet",
)  # fmt: skip


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


@pytest.mark.parametrize("command", [SWEEP, HISTORIES], ids=["sweep", "histories"])
def test_a_checkpoint_is_gone_on_from(run, tmp_path: Path, command):
    plain = run(*command).stdout
    kept = tmp_path / "kept.jsonl"
    assert run(*command, "--checkpoint", kept).stdout == plain
    whole = lines(kept)
    assert len(whole) > 4
    # Ended in the middle of a line: that result is found again, and those before it are not.
    kept.write_text("\n".join(whole[:3]) + "\n" + whole[3][:50])
    assert run(*command, "--checkpoint", kept).stdout == plain
    assert lines(kept)[:3] == whole[:3]
    assert sorted(lines(kept)) == sorted(whole)
    # What is kept is believed, so nothing ran again.
    assert run(*command, "--checkpoint", kept).stdout == plain
    assert len(lines(kept)) == len(whole)


def test_a_plan_goes_on_from_a_checkpoint(run, tmp_path: Path):
    given = (
        "plan", "--capacity", "20GB", "--drive", "seagate-cheetah-9lp", "--level", "raid10,raid5", "--members", "4",
        "--rate-iops", "30", "--number-ios", "500", "--ramp-time", "1s", "--drive-price", "80USD", "--afr", "3%",
        "--latent", "1e-4/h", "--json", "--quiet",
    )  # fmt: skip
    kept = tmp_path / "kept.jsonl"
    plain = run(*given).stdout
    assert run(*given, "--checkpoint", kept).stdout == plain
    assert len(lines(kept)) > 30
    assert run(*given, "--checkpoint", kept).stdout == plain


def test_other_work_is_not_taken_for_the_same(run, tmp_path: Path):
    kept = tmp_path / "kept.jsonl"
    run(*SWEEP, "--checkpoint", kept)
    before = len(lines(kept))
    other = run(*SWEEP, "--randseed", "2", "--checkpoint", kept)
    assert other.stdout == run(*SWEEP, "--randseed", "2").stdout
    assert len(lines(kept)) == 2 * before - 1


def test_after_ctrl_c_the_same_command_goes_on(command, environment, tmp_path: Path, run):
    words = [*SWEEP[:-4], "--number-ios", "100000", "--json", "--quiet", "--workers", "1"]
    kept = tmp_path / "kept.jsonl"
    ended = subprocess.Popen(
        [*command, *words, "--checkpoint", str(kept)], cwd=tmp_path, env=environment,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    until_it_runs(ended)
    until = time.monotonic() + 30
    while len(lines(kept)) < 3 and time.monotonic() < until:
        time.sleep(0.02)
    ended.send_signal(signal.SIGINT)
    out, said = ended.communicate(timeout=60)
    assert ended.returncode == 130, said
    before = lines(kept)
    assert 3 <= len(before) < 9
    assert json.loads(out)["points"] != []
    again = run(*words, "--checkpoint", kept)
    assert again.stdout == run(*words).stdout
    assert lines(kept)[: len(before)] == before


def test_two_processes_keep_their_results_in_one_file(command, environment, tmp_path: Path, run):
    kept = tmp_path / "kept.jsonl"
    words = [[*SWEEP, "--randseed", seed, "--checkpoint", str(kept)] for seed in ("1", "2")]
    running = [
        subprocess.Popen([*command, *given], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True)
        for given in words
    ]
    plain = [process.communicate(timeout=60)[0] for process in running]
    whole = lines(kept)
    assert len({json.loads(line)["key"] for line in whole[1:]}) == len(whole) - 1
    assert len(whole) == 1 + sum(len(json.loads(text)["points"]) for text in plain)
    assert [run(*given).stdout for given in words] == plain
    assert lines(kept) == whole


def test_what_one_has_written_stays_where_another_opens_and_writes(tmp_path: Path):
    path = tmp_path / "kept.jsonl"
    with closing(Checkpoint(path)) as one, closing(Checkpoint(path)) as other:
        for number in range(3):
            one.keep(f"one {number}", number)
            other.keep(f"other {number}", number)
        assert [one.get(f"one {number}") for number in range(3)] == [0, 1, 2]
        with path.open("ab") as ended:
            ended.write(b'{"key": "ended within')
        one.keep("one 3", 3)
        assert one.get("one 3") == 3
    with closing(Checkpoint(path)) as again:
        assert [again.get(f"other {number}") for number in range(3)] == [0, 1, 2]
        assert (again.get("one 3"), again.damaged) == (3, [8])


@pytest.mark.parametrize(
    "damaged", ["}{", '{"key": "a", "result": {"po{"key": "b"}', '{"key": 1, "result": 1}', ""]
)
def test_a_damaged_line_runs_again_and_the_others_do_not(run, tmp_path: Path, damaged):
    kept = tmp_path / "kept.jsonl"
    plain = run(*SWEEP, "--checkpoint", kept).stdout
    whole = lines(kept)
    kept.write_text("\n".join([*whole[:2], damaged, *whole[3:]]) + "\n")
    done = run(*SWEEP, "--checkpoint", kept)
    assert (done.returncode, done.stdout) == (0, plain)
    assert done.stderr == (f"note: {kept}: line 3 is damaged: left out, and what it was of runs again\n")
    assert lines(kept)[-1] == whole[2]
    assert len(lines(kept)) == len(whole) + 1


def test_a_full_disk_is_said_with_the_name_of_the_file(process, tmp_path: Path):
    kept = tmp_path / "kept.jsonl"

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000))

    done = process(*SWEEP, "--checkpoint", kept, preexec_fn=limit)
    assert done.returncode == 1
    assert done.stderr == f"error: --checkpoint {kept}: File too large\n"
    assert all(json.loads(line) for line in lines(kept))


def test_a_plan_is_pickled_with_its_drive_files_and_steps(tmp_path: Path):
    drive = tmp_path / "mine.toml"
    drive.write_text('base = "seagate-cheetah-9lp"\nrpm = "7200rpm"\n')
    text = '[target]\ndrive = "mine.toml"\n[workload]\nrw = "randread"\niodepth = [1, 2]\n[run]\nios = 200\n'
    plan = _core.Plan(text, "a.toml", str(tmp_path), [("run.seed", "3", "--randseed")]).with_own_seeds()
    drive.unlink()
    again = pickle.loads(pickle.dumps(plan.only(1)))  # noqa: S301 - our own
    assert again.scenario_hash == plan.scenario_hash
    assert again.axes == plan.axes[1:]
    assert _core.run([again], 1)[0] == _core.run([plan], 1)[0][1:]


def test_a_trace_that_differs_on_the_worker_is_no_result(tmp_path: Path):
    text = '[target]\ndrive = "seagate-cheetah-9lp"\n[workload]\ntrace = { file = "a.ascii", format = "disksim" }\n'
    trace = tmp_path / "a.ascii"
    trace.write_text("0.0 0 100 8 1\n5.0 0 900 8 1\n")
    plan = _core.Plan(text, "a.toml", str(tmp_path), [])
    task = PointTask(pickle.dumps(plan), plan.scenario_hash, 0, 0, False)
    assert task.run()["point"]["iops"] > 0
    trace.write_text("0.0 0 100 8 1\n5.0 0 800 8 1\n")
    # As another process would find it.
    tasks._plan.cache_clear()
    with pytest.raises(RunError, match="other bytes"):
        task.run()


def test_another_version_on_a_worker_is_refused():
    task = ChunkTask("{}", 0, 1)
    with pytest.raises(RunError, match=r"a worker has drivelab .*, and this is drivelab 0\.0, model 1"):
        Sent(task, ("0.0", 1, 1)).run()


class Backwards:
    """An executor that hands its results over from the last to the first."""

    name = "backwards"

    def run(self, tasks: Sequence[Task], done: Done, _workers: int) -> None:
        for place in reversed(range(len(tasks))):
            done(place, tasks[place].run())

    def close(self) -> None:
        pass


def test_results_are_in_the_order_of_their_input(monkeypatch, tmp_path: Path):
    monkeypatch.setattr("drivelab.executors.running.Local", Backwards)
    given: dict[str, Any] = {"drive": "seagate-cheetah-9lp", "rw": "randread", "iodepth": [1, 2, 4, 8]}
    plain = simulate(**given, number_ios=300)
    with executors.using(checkpoint=tmp_path / "kept.jsonl"):
        assert simulate(**given, number_ios=300).points == plain.points
    assert executors.current() is None


def test_a_long_log_is_not_kept_and_is_the_same(tmp_path: Path):
    given: dict[str, Any] = {"drive": "seagate-cheetah-9lp", "rw": "randread", "number_ios": 3000}
    plain = simulate(**given, log=3000)
    with executors.using(checkpoint=tmp_path / "kept.jsonl"):
        assert simulate(**given, log=3000).points == plain.points
    assert len(lines(tmp_path / "kept.jsonl")) == 1


def test_a_run_that_fails_fails_alone_and_is_kept(tmp_path: Path):
    text = '[target]\ndrive = "seagate-cheetah-9lp"\n[workload]\niodepth = [1, 2]\nrw = "randread"\n[run]\nios = 50\n'
    plan = _core.Plan(text, "a.toml", str(tmp_path), [])
    first, second = (PointTask(pickle.dumps(plan), plan.scenario_hash, place, 0, False) for place in (0, 1))
    with closing(Checkpoint(tmp_path / "kept.jsonl")) as kept:
        running = Running(Backwards(), kept)
        kept.keep(first.key, {"error": "the model stood still"})
        (entries,) = running.points([plan], lambda _, found: found, 1, None, log=0, check_data=False)
        assert str(entries[0]) == "the model stood still"
        assert entries[1] == second.run()["point"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--ray", "head"), "--ray head: it is HOST:PORT of the head of a cluster, ray://HOST:PORT, or auto"),
        (("--ray", "127.0.0.1:9"), "no Ray cluster answers there"),
        (("--ray", "127.0.0.1:9", "--checkpoint", "a.jsonl"), "or leave --ray out"),
        (
            ("--checkpoint", "no.toml"),
            "--checkpoint no.toml: it is no checkpoint of drivelab: give another name",
        ),
        (("--checkpoint", "none/a.jsonl"), "--checkpoint none/a.jsonl: No such file or directory"),
        (("--capture", "a.trace", "--checkpoint", "a.jsonl"), "leave --ray and --checkpoint out"),
    ],
)
def test_what_is_wrong_is_said_with_a_remedy(run, tmp_path: Path, given, said):
    (tmp_path / "no.toml").write_text("a = 1\n")
    words = [*SWEEP[:7], "--iodepth", "1"] if "--capture" in given else SWEEP
    done = run(*words, *given)
    assert done.returncode in {1, 2}
    assert done.stderr.startswith("error: ")
    assert said in done.stderr
    assert (tmp_path / "no.toml").read_text() == "a = 1\n"


def test_without_ray_it_is_said_what_to_install(monkeypatch, run):
    monkeypatch.setitem(sys.modules, "ray", None)
    done = run(*SWEEP, "--ray", "auto")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "error: --ray auto: ray is not installed: pip install 'drivelab[ray]', or leave --ray out\n"
    )


@contextmanager
def cluster(folder: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    program = Path(__file__).with_name("ray_cluster.py")
    with subprocess.Popen(
        [sys.executable, str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True, cwd=folder,
    ) as found:  # fmt: skip
        assert found.stdin is not None
        assert found.stdout is not None
        try:
            yield found.stdout.readline().strip(), found
        finally:
            found.stdin.close()
            found.wait(timeout=60)


@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="ray is not installed: `make ray`")
@pytest.mark.xdist_group("ray")
def test_a_cluster_of_two_nodes_that_loses_one_finds_the_same_record(
    command, environment, tmp_path: Path, run
):
    words = [*SWEEP[:-4], "--number-ios", "60000", "--json", "--quiet"]
    plain = run(*words).stdout
    # Ray's own warnings are not ours.
    quiet = {**environment, "PYTHONWARNINGS": "ignore"}
    kept = tmp_path / "kept.jsonl"
    with cluster(tmp_path) as (address, program):
        assert program.stdin is not None
        assert program.stdout is not None
        far = subprocess.Popen(
            [*command, *words, "--ray", address, "--checkpoint", str(kept)], cwd=tmp_path, env=quiet,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        until = time.monotonic() + 60
        while len(lines(kept)) < 2 and far.poll() is None and time.monotonic() < until:
            time.sleep(0.02)
        assert len(lines(kept)) < 9, "it was over before a node could die"
        program.stdin.write("kill\n")
        program.stdin.flush()
        assert program.stdout.readline() == "killed\n"
        out, said = far.communicate(timeout=300)
        assert far.returncode == 0, said
        assert out == plain
        assert len(lines(kept)) == 9
        histories = subprocess.run(
            [*command, *HISTORIES, "--ray", address], cwd=tmp_path, env=quiet, capture_output=True, text=True,
            timeout=300, check=False,
        )  # fmt: skip
        assert histories.stdout == run(*HISTORIES).stdout, histories.stderr
