"""Profiles of DiskSpd in XML as scenarios: the same as the command line that says it, and every message."""

from __future__ import annotations

import json
import random
import re
import tomllib
from collections.abc import Mapping

import pytest

from drivelab import InputError
from drivelab.diskspd import is_profile, scenario_of

# As DiskSpd writes a job with nothing but its defaults (`-RpXml`), which has most elements.
TARGET = {
    "Path": "x.dat", "BlockSize": "65536", "BaseFileOffset": "0", "SequentialScan": "false",
    "RandomAccess": "false", "TemporaryFile": "false", "UseLargePages": "false", "DisableOSCache": "true",
    "WriteBufferContent": "<Pattern>sequential</Pattern>", "ParallelAsyncIO": "false", "StrideSize": "65536",
    "InterlockedSequential": "false", "ThreadStride": "0", "MaxFileSize": "0", "RequestCount": "2",
    "WriteRatio": "0", "Throughput": "0", "ThreadsPerFile": "1", "IOPriority": "3", "Weight": "1",
}  # fmt: skip
SPAN = {
    "CompletionRoutines": "false", "MeasureLatency": "false", "CalculateIopsStdDev": "false",
    "DisableAffinity": "false", "Duration": "10", "Warmup": "5", "Cooldown": "0", "ThreadCount": "0",
    "RequestCount": "0", "IoBucketDuration": "1000", "RandSeed": "0",
}  # fmt: skip


def written(elements: Mapping[str, str | None]) -> str:
    """Elements as XML; a name may have attributes behind it, and None leaves one out."""
    lines = (f"<{name}>{text}</{name.split()[0]}>" for name, text in elements.items() if text is not None)
    return "\n".join(lines)


def profile(
    target: Mapping[str, str | None] | None = None, span: Mapping[str, str | None] | None = None
) -> str:
    inner = written({**TARGET, **(target or {})})
    around = written({**SPAN, **(span or {})})
    return (
        "<Profile>\n<Progress>0</Progress>\n<ResultFormat>text</ResultFormat>\n<Verbose>false</Verbose>\n<TimeSpans>\n"
        f"<TimeSpan>\n{around}\n<Targets>\n<Target>\n{inner}\n</Target>\n</Targets>\n</TimeSpan>\n</TimeSpans>\n</Profile>"
    )


def of_profile(
    target: Mapping[str, str | None] | None = None, span: Mapping[str, str | None] | None = None
) -> dict:
    return tomllib.loads(scenario_of(profile(target, span), "job.xml").text)


def of_command(words: str) -> dict:
    return tomllib.loads(scenario_of(f"diskspd {words} x.dat", "job.txt").text)


UNCACHED = {"DisableOSCache": None}
RANDOM = {"StrideSize": None, "InterlockedSequential": None}


@pytest.mark.parametrize(
    ("words", "target", "span"),
    [
        ("-Su", {}, {}),
        # What is left out is what DiskSpd does.
        ("-Su", dict.fromkeys(set(TARGET) - {"Path", "DisableOSCache"}), dict.fromkeys(SPAN)),
        ("-Su -b4K -s4K", {"BlockSize": "4096", "StrideSize": "4096"}, {}),
        ("-Su -b4K -r", {**RANDOM, "BlockSize": "4096", "Random": "4096"}, {}),
        # Beside Random a stride is nothing.
        ("-Su -b4K -r8K", {"BlockSize": "4096", "Random": "8192"}, {}),
        ("-Su -rs30", {**RANDOM, "Random": "65536", "RandomRatio": "30"}, {}),
        (
            "-Su -rdpct60/10:40/90",
            {
                **RANDOM,
                "Random": "65536",
                "Distribution": '<Percent><Range IO="60">10</Range><Range IO="40">90</Range></Percent>',
            },
            {},
        ),
        (
            "-Su -rdabs60/10G",
            {
                **RANDOM,
                "Random": "65536",
                "Distribution": '<Absolute><Range IO="60">10737418240</Range></Absolute>',
            },
            {},
        ),
        ("-Su -t4 -si", {"ThreadsPerFile": "4", "InterlockedSequential": "true"}, {}),
        (
            "-Su -t4 -si -g9i",
            {
                "ThreadsPerFile": "4",
                "InterlockedSequential": "True",
                "Throughput": None,
                'Throughput unit="IOPS"': "9",
            },
            {},
        ),
        ("-Su -t4 -o8 -w30", {"ThreadsPerFile": "4", "RequestCount": "8", "WriteRatio": "30"}, {}),
        ("-Su -F4 -O8", {}, {"ThreadCount": "4", "RequestCount": "8"}),
        ("-Su -F4 -o8", {"RequestCount": "8"}, {"ThreadCount": "4"}),
        ("-Sh -w100", {"WriteThrough": "true", "WriteRatio": "100"}, {}),
        ("-Sh -w100", {**UNCACHED, "DisableAllCache": "true", "WriteRatio": "100"}, {}),
        ("-Su -c1G -f512M", {"FileSize": "1073741824", "MaxFileSize": "536870912"}, {}),
        ("-Su -B1G:2G", {"BaseFileOffset": "1073741824", "MaxFileSize": "3221225472"}, {}),
        ("-Su -g4096", {"Throughput": "4096"}, {}),
        ("-Su -g250i", {"Throughput": None, 'Throughput unit="IOPS"': "250"}, {}),
        ("-Su -i8 -j20", {"BurstSize": "8", "ThinkTime": "20"}, {}),
        ("-Su -d60 -W0 -C30 -z7", {}, {"Duration": "60", "Warmup": "0", "Cooldown": "30", "RandSeed": "7"}),
        ("-Su -L -D -n -x", {}, {"MeasureLatency": "true", "CompletionRoutines": "true"}),
    ],
)
def test_a_profile_is_what_its_command_line_is(words, target, span):
    assert of_profile(target, span) == of_command(words)


def test_any_command_line_and_its_profile_are_the_same():
    draw = random.Random(7)  # noqa: S311 - which jobs are tried
    for _ in range(150):
        block, depth, threads, writes = (
            512 * draw.randint(1, 256), draw.randint(1, 64), draw.randint(1, 8), draw.randint(0, 100),
        )  # fmt: skip
        words = [f"-b{block}", f"-o{depth}", f"-t{threads}", f"-w{writes}"]
        target: dict[str, str | None] = {
            "BlockSize": str(block), "StrideSize": str(block), "RequestCount": str(depth),
            "ThreadsPerFile": str(threads), "WriteRatio": str(writes),
        }  # fmt: skip
        if draw.random() < 0.5:
            align = draw.choice([block, 512, 4096])
            words.append(f"-r{align}")
            target |= {**RANDOM, "Random": str(align)}
            if draw.random() < 0.5:
                share = draw.randint(1, 99)
                words.append(f"-rs{share}")
                target["RandomRatio"] = str(share)
        if draw.random() < 0.5:
            words.append("-Suw")
            target["WriteThrough"] = "true"
        else:
            words.append("-Su")
        base, end = draw.randint(0, 9) << 30, draw.randint(10, 19) << 30
        if draw.random() < 0.7:
            words += [f"-B{base}", f"-f{end}"]
            target |= {"BaseFileOffset": str(base), "MaxFileSize": str(end)}
        if draw.random() < 0.3:
            words.append(f"-g{end >> 20}")
            target["Throughput"] = str(end >> 20)
        draw.shuffle(words)
        assert of_profile(target) == of_command(" ".join(words)), words


def test_notes_name_what_is_switched_on_and_changes_nothing():
    found = scenario_of(profile({"SequentialScan": "true"}, {"MeasureLatency": "true"}), "job.xml")
    assert found.notes[0] == (
        "without effect on a drive: ResultFormat, MeasureLatency, IoBucketDuration, SequentialScan, "
        "WriteBufferContent, Weight"
    )


def test_a_namespace_and_a_declaration_change_nothing():
    head = '\n<?xml version="1.0" encoding="utf-16"?>\n<!-- of a fleet -->\n'
    text = (
        profile().replace("<Profile>", '<ds:Profile xmlns:ds="urn:x">').replace("</Profile>", "</ds:Profile>")
    )
    assert scenario_of(head + text, "job.xml").text == scenario_of(profile(), "job.xml").text


def line_of(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


@pytest.mark.parametrize(
    ("target", "span", "at", "says"),
    [
        ({"DisableOSCache": "false"}, {}, "<Target>", "I/Os go through the system's cache without DisableOSCache"),
        ({"DisableOSCache": "1"}, {}, "<DisableOSCache>", "DisableOSCache: '1': DiskSpd takes only true as on"),
        (
            {"InterlockedSequential": "yes"}, {}, "<Interlocked",
            "InterlockedSequential: 'yes': DiskSpd takes only true as on",
        ),
        (
            {"InterlockedSequential": "true", "ThreadsPerFile": "2", "BurstSize": "5", "ThinkTime": "5"}, {},
            "<Target>", "InterlockedSequential and BurstSize and ThinkTime: each thread",
        ),
        ({"BlockSize": "4K"}, {}, "<BlockSize>", "BlockSize: '4K': a whole number from 1 is wanted"),
        ({"RequestCount": "9" * 5000}, {}, "<RequestCount>9", "RequestCount: '99999999999999999999': a whole number"),
        ({"WriteRatio": "101"}, {}, "<WriteRatio>", "WriteRatio: a whole number from 0 to 100"),
        ({"ParallelAsyncIO": "true"}, {}, "<ParallelAsyncIO>", "ParallelAsyncIO: several I/Os at the same offset"),
        ({"ThreadStride": "4096"}, {}, "<ThreadStride>", "ThreadStride: threads that begin at different places"),
        ({"MemoryMappedIo": "true"}, {}, "<MemoryMappedIo>", "MemoryMappedIo: memory-mapped I/O"),
        ({"IOPriority": "1"}, {}, "<IOPriority>", "IOPriority: the priority of I/Os"),
        ({"StrideSize": "131072"}, {}, "<StrideSize>", "StrideSize: a stride that is not the block"),
        ({"RandomRatio": "30"}, {}, "<RandomRatio>", "RandomRatio: it belongs to random I/O"),
        ({"Random": "65536", "InterlockedSequential": "true"}, {}, "<Target>", "Sequential and Random contradict"),
        ({"Random": "65536", "Distribution": ""}, {}, "<Distribution>", "a distribution is an element Percent"),
        (
            {"Random": "65536", "Distribution": '<Percent><Range IO="x">1</Range></Percent>'}, {},
            "<Distribution>", "Distribution: a distribution is written",
        ),
        ({'Throughput unit="MBPS"': "1", "Throughput": None}, {}, "<Throughput", "unit 'MBPS': there are IOPS"),
        ({"ThinkTime": "5"}, {}, "<Target>", "BurstSize and ThinkTime belong together"),
        ({"BurstSize": "5", "ThinkTime": "5", "Throughput": "9"}, {}, "<Target>", "Throughput and BurstSize"),
        ({"BaseFileOffset": "2048", "FileSize": "1024"}, {}, "<Target>", "BaseFileOffset begins behind the end"),
        ({"ThreadTargets": "<ThreadTarget/>"}, {}, "<ThreadTargets>", "ThreadTargets: threads that use one target"),
        ({"Path": ""}, {}, "<Target>", "Target: there is no Path"),
        ({"Made_up": "1"}, {}, "<Made_up>", "Made_up: DiskSpd has no such element here"),
        ({}, {"RequestCount": "8"}, "<RequestCount>8", "RequestCount: it belongs to ThreadCount"),
        ({}, {"Duration": "0"}, "<Duration>", "Duration: a whole number from 1"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_told_with_line_and_element(target, span, at, says):
    text = profile(target, span)
    with pytest.raises(InputError, match=re.escape(says)) as caught:
        scenario_of(text, "job.xml")
    assert str(caught.value).startswith(f"job.xml:{line_of(text, at)}: ")


SECOND_TARGET = profile().replace("</Targets>", "<Target><Path>y</Path></Target></Targets>")
SECOND_SPAN = profile().replace("</TimeSpans>", "<TimeSpan/></TimeSpans>")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (SECOND_TARGET, "Target: a second Target: a scenario has one"),
        (SECOND_SPAN, "TimeSpan: a second TimeSpan: a scenario has one"),
        (profile({"Path": "x</Path><Path>y"}), "Path: there is a second one: keep one"),
        ("<Profile/>", "job.xml:1: Profile: there is no TimeSpans/TimeSpan in it"),
        (
            "<Profile><ExperimentFlags>1</ExperimentFlags>" + profile()[9:],
            "ExperimentFlags: experimental behaviour",
        ),
        ("<Results><Profile/></Results>", "job.xml:1: results of DiskSpd, no job: compare them with"),
        ('<!DOCTYPE Profile [<!ENTITY a "b">]><Profile>&a;</Profile>', "job.xml:1: it has a DOCTYPE"),
        ("<Profile>", "job.xml:1: this is no XML: no element found"),
        ("\n\n<Profile>\n</Profil>", "job.xml:4: this is no XML: mismatched tag"),
        ("<Profile>" + "<a>" * 40, "job.xml:1: more than 32 elements within each other"),
        ("<Profile>" + "<a/>" * 20_001, "20,000 in all"),
        ("<Profile>" + "a" * 200_000, "Profile: more than 100,000 characters"),
        ("<Profile>\n\ud800</Profile>", "job.xml:2: this is no UTF-8 text"),
    ],
)
def test_what_is_no_profile_of_one_job_is_refused(text, says):
    with pytest.raises(InputError, match=re.escape(says)):
        scenario_of(text, "job.xml")


def test_a_profile_is_known_by_its_first_element():
    assert is_profile(profile())
    assert is_profile('<?xml version="1.0"?>\n<!-- x -->\n<ds:Profile xmlns:ds="urn:x">')
    assert is_profile("<Results>")
    assert not is_profile("diskspd -b4K <Profile>")
    assert not is_profile("<Other><Profile/></Other>")
    assert not is_profile("[Profile]\n")


def test_comments_before_another_element_are_passed_over_once():
    comments = "<!-- of a fleet -->\n" * 2_000
    assert is_profile(f"{comments}<Profile>")
    assert not is_profile(f"{comments}<Other/>")
    assert not is_profile(f"{comments}<!-- open")
    assert not is_profile(f"{' ' * 100_000}x")


def test_true_and_false_are_in_letters_of_either_size():
    found = scenario_of(profile({"DisableOSCache": "TRUE", "ParallelAsyncIO": "False"}), "job.xml")
    assert found.text == scenario_of(profile(), "job.xml").text
    assert "SequentialScan" not in scenario_of(profile({"SequentialScan": "FALSE"}), "job.xml").notes[0]


def test_a_changed_profile_is_read_or_refused():
    draw, whole = random.Random(11), profile({"Random": "4096"})  # noqa: S311 - which letters change
    for _ in range(300):
        text = whole
        for _ in range(draw.randint(1, 4)):
            at = draw.randrange(len(text))
            text = (
                text[:at]
                + draw.choice(["", "9", "<", "/>", "é", "&", text[at : at + 30]])
                + text[at + draw.randint(0, 9) :]
            )
        try:
            tomllib.loads(scenario_of(text, "job.xml").text)
        except InputError as error:
            assert str(error).startswith("job.xml:")  # noqa: PT017 - either is right


def test_it_runs_from_the_command_line(run, tmp_path):
    job = tmp_path / "vm.xml"
    job.write_text(profile({**RANDOM, "Random": "4096", "BlockSize": "4096"}, {"Duration": "5"}), "utf-8")
    done = run("simulate", job, "--drive", "wd-4tb-7200", "--json")
    assert done.returncode == 0, done.stderr
    assert "the target is the whole drive, for neither FileSize nor MaxFileSize" in done.stderr
    assert [point["depth"]["asked"] for point in json.loads(done.stdout)["points"]] == [2]
