"""The recipes of docs/how-to/ci.md run: the slow disk, and campaigns that find a planted fault, or lose nothing."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import ci_files
import pytest
import small_yaml

WORKFLOW = ".github/workflows/storage.yml"
CUTS = "4"
NO_SYNC = {"sh write.sh": "sh write.sh --no-sync", "load.py wal full": "load.py wal off"}


@pytest.fixture
def job(command, environment, tmp_path) -> tuple[Path, dict[str, str]]:
    """A folder with the files of a job, and its environment: `drivelab` on PATH is that of this tree."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "drivelab").write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
    (programs / "drivelab").chmod(0o755)
    folder = tmp_path / "job"
    folder.mkdir()
    for path in (*ci_files.EXAMPLES.glob("fio/*.sh"), *ci_files.EXAMPLES.glob("sqlite/*.py")):
        shutil.copy(path, folder)
    for name in ("bench.sh", "job.sh"):
        (folder / name).write_text(ci_files.blocks()[name])
    (folder / "results").mkdir()
    return folder, {**environment, "PATH": f"{programs}:{environment['PATH']}", "CUTS": CUTS, "SEED": "1"}


@pytest.fixture
def fio(request) -> None:
    """Skip, by the test's name, without fio and its engine for NBD."""
    if shutil.which("fio") is None:
        pytest.skip(f"{request.node.name}: no fio")
    engines = subprocess.run(["fio", "--enghelp"], capture_output=True, encoding="utf-8", check=False)
    if "nbd" not in engines.stdout.split():
        pytest.skip(f"{request.node.name}: this fio has no engine for NBD")


def faulty(text: str) -> str:
    """A command with the planted fault in place of its workload."""
    for sound, planted in NO_SYNC.items():
        text = text.replace(sound, planted)
    return text


def steps(name: str) -> dict[str, str]:
    """What a job of the workflow gives to an action of the repository."""
    (step,) = [
        one for one in ci_files.recipe(WORKFLOW)["jobs"][name]["steps"] if "drivelab" in one.get("uses", "")
    ]
    assert step["uses"].startswith("OWNER/drivelab/.github/actions/")
    # The drivelab of this tree in place of a wheel.
    return {key: value for key, value in step["with"].items() if key != "wheel"}


def check_campaign(done, folder: Path, report: str, *, is_faulty: bool) -> None:
    """Exit status and artefacts of a campaign."""
    said = done.stdout + done.stderr
    assert done.returncode == (3 if is_faulty else 0), said
    losses = r"[1-9]\d* with loss" if is_faulty else "none with loss"
    assert re.search(f"^{CUTS} cuts: {losses}", report, re.MULTILINE), report
    session = folder / "session"
    assert {path.name for path in session.iterdir()} == {"data", "session.json", "session.trace"}
    assert (f"--from {session.parent.name}/session " in report) == is_faulty


def check_slow(done, record: Path) -> None:
    """Exit status and record of a slow disk."""
    assert done.returncode == 0, done.stdout + done.stderr
    assert "IOPS=" in done.stdout
    assert json.loads(record.read_text())["kind"] == "emulate"


def test_github_a_slow_disk(fio, job):
    folder, environment = job
    done = ci_files.run_action("slow-disk", steps("slow-disk"), folder, environment)
    check_slow(done, folder / "drivelab-slow-disk" / "record.json")
    assert (folder / "GITHUB_OUTPUT").read_text() == "exit-code=0\n"


def test_github_a_crash_campaign_that_finds_a_planted_fault(fio, job):
    folder, environment = job
    given = {**steps("crash-test"), "cuts": CUTS}
    given["run"] = faulty(given["run"])
    done = ci_files.run_action("crash-test", given, folder, environment)
    kept = folder / "drivelab-crash-test"
    check_campaign(done, kept, (kept / "crashtest.txt").read_text(), is_faulty=True)
    assert (folder / "GITHUB_OUTPUT").read_text() == "exit-code=3\n"
    assert f"    {CUTS} cuts: " in (folder / "GITHUB_STEP_SUMMARY").read_text()
    assert "::error::a power cut has lost" in done.stdout


def test_github_a_crash_campaign_on_ext4(mounts, job):
    folder, environment = job
    given = {**steps("crash-test-on-ext4"), "cuts": CUTS}
    done = ci_files.run_action("crash-test", given, folder, environment, privileged=True)
    kept = folder / "drivelab-crash-test"
    check_campaign(done, kept, (kept / "crashtest.txt").read_text(), is_faulty=False)
    assert (folder / "GITHUB_OUTPUT").read_text() == "exit-code=0\n"
    assert "::error::" not in done.stdout


def gitlab(name: str) -> tuple[str, list[str]]:
    """The script of a job, and the folders that it keeps, with what it extends."""
    jobs = ci_files.recipe(".gitlab-ci.yml")
    found: dict[str, object] = {}
    while True:
        found = {**jobs[name], **found}
        if "extends" not in jobs[name]:
            break
        name = jobs[name]["extends"]
    assert [line.split()[0] for line in found["before_script"]] == [
        *("apt-get", "apt-get", "python3", ".drivelab/bin/pip", "export", "mkdir")
    ]
    return "\n".join(found["script"]), found["artifacts"]["paths"]


def test_gitlab_a_slow_disk(fio, job):
    folder, environment = job
    script, kept = gitlab("slow-disk")
    assert kept == ["results"]
    check_slow(ci_files.shell(script, folder, environment), folder / "results" / "record.json")


def test_gitlab_a_crash_campaign_that_finds_a_planted_fault(mounts, job):
    folder, environment = job
    script, kept = gitlab("crash-test-on-ext4")
    assert kept == ["results"]
    done = ci_files.shell(faulty(script), folder, environment, privileged=True)
    check_campaign(
        done, folder / "results", (folder / "results" / "crashtest.txt").read_text(), is_faulty=True
    )


def test_gitlab_runs_the_campaign_that_a_container_runs():
    script, kept = gitlab("crash-test")
    assert kept == ["results"]
    here = shlex.split(script.replace("$CUTS", "${CUTS:-100}").replace("$SEED", "${SEED:-1}"))
    there = shlex.split(ci_files.blocks()["job.sh"].replace("\\\n", ""))
    command = here[: here.index("2>&1")]
    at = there.index("crashtest") - command.index("crashtest")
    assert there[at : at + len(command)] == command


def test_a_container_without_privileges(fio, job):
    folder, environment = job
    done = ci_files.shell(f"sh -c {shlex.quote(ci_files.blocks()['job.sh'])}", folder, environment)
    check_slow(done, folder / "results" / "record.json")
    check_campaign(
        done, folder / "results", (folder / "results" / "crashtest.txt").read_text(), is_faulty=False
    )


def test_a_campaign_that_takes_too_long_reports_what_it_has_found(fio, job):
    folder, environment = job
    given = {"run": "sh write.sh --no-sync", "check": "sleep 60; exit 1", "drive": "seagate-exos-x16-16tb"}
    given |= {"time-limit": "3s", "cuts": "50"}
    done = ci_files.run_action("crash-test", given, folder, environment)
    assert done.returncode == 124, done.stdout + done.stderr
    assert "\ninterrupted " in (folder / "drivelab-crash-test" / "crashtest.txt").read_text()
    assert "the campaign has not ended after 3s" in done.stdout


def program(tmp_path: Path, name: str, script: str) -> None:
    """Put a program on PATH in place of the real one."""
    (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{script}\n")
    (tmp_path / "bin" / name).chmod(0o755)


def test_an_input_stays_one_argument_and_no_shell_of_the_action_reads_it(job, tmp_path):
    folder, environment = job
    program(tmp_path, "drivelab", "printf '%s\\n' \"$@\"")
    program(tmp_path, "sudo", 'echo by sudo\nexec "$@"')
    program(tmp_path, "id", "echo 1001")
    # By sudo, so that the user of the runner may upload what is root's.
    program(tmp_path, "chown", 'echo chown "$@"')
    nasty = "\"; touch owned; $(touch owned) `touch owned` '$HOME"
    given = {
        "run": nasty,
        "check": nasty,
        "drive": nasty,
        "cuts": nasty,
        "fs": "ext4",
        "options": f"--set\n{nasty}",
    }
    done = ci_files.run_action("crash-test", given, folder, environment)
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    assert said.count(nasty) == 5
    assert said[0] == "by sudo"
    assert "chown -R -- 1001:1001 drivelab-crash-test" in said
    given = {"run": nasty, "clock": nasty, "options": f"--set\n{nasty}\n"}
    done = ci_files.run_action("slow-disk", given, folder, environment)
    assert done.stdout.splitlines().count(nasty) == 3
    assert not (folder / "owned").exists()


def test_a_wheel_is_installed_for_the_steps_that_follow(job, tmp_path):
    folder, environment = job
    made = tmp_path / "drivelab" / "bin"
    at, own = shlex.quote(str(made)), shlex.quote(str(tmp_path / "bin"))
    # An interpreter whose environments have a pip that shows what it is asked, and installs a drivelab.
    program(tmp_path, "python3", f'test "$1" = -c || mkdir -p {at}; cp {own}/pip {at}/pip || true')
    program(tmp_path, "pip", f'printf "%s\\n" "$@"; cp {own}/drivelab {at}/drivelab')
    install = 'bash "$ACTIONS/install.sh"'
    environment |= {
        "ACTIONS": str(ci_files.ACTIONS),
        "RUNNER_TEMP": str(tmp_path),
        "GITHUB_PATH": str(tmp_path / "path"),
    }
    for wheel in ("drivelab-1-py3-none-any.whl", "--help; touch owned"):
        done = ci_files.shell(install, folder, {**environment, "DRIVELAB_WHEEL": wheel})
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[:-1] == [
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--",
            wheel,
        ]
        assert done.stdout.splitlines()[-1].startswith("drivelab ")
    assert (tmp_path / "path").read_text() == f"{made}\n{made}\n"
    program(tmp_path, "python3", "exit 1")
    done = ci_files.shell(install, folder, {**environment, "DRIVELAB_WHEEL": wheel})
    assert (done.returncode, done.stdout) == (
        1,
        "::error::drivelab needs Python 3.11 or later: put actions/setup-python before this action\n",
    )
    assert not (folder / "owned").exists()


def test_yaml_outside_of_the_part_that_is_read_is_refused():
    for text in (
        "a: {b: c}\n",
        "a: 'b'\n",
        "a: &b c\n",
        "a: b: c\n",
        "a: b\na: c\n",
        "a: b #c\n",
        "a: |+\n  b\n",
        "- a\nb: c\n",
    ):
        with pytest.raises(ValueError, match=r"[a-z]"):
            small_yaml.load(text)


def test_yaml_is_read_as_other_programs_read_it():
    yaml = pytest.importorskip("yaml", reason="no PyYAML: make ray brings it")
    texts = [text for name, text in ci_files.blocks().items() if name.endswith("yml")]
    texts += [path.read_text() for path in ci_files.ACTIONS.glob("*/action.yml")]
    assert len(texts) == 4
    for text in texts:
        # Without its types, as small_yaml has it.
        assert small_yaml.load(text) == yaml.load(text, Loader=yaml.BaseLoader)
