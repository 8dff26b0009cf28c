"""The first test: the same seed gives the same digests, twice, in debug and in another build.

    tools/determinism.py             debug, and as `make setup` builds the extension
    tools/determinism.py release     debug, and as it is released

A room takes part with a test program `tests/determinism.rs` that prints lines `digest NAME HEX` (NAME has no blanks).
It is run twice in each build; the first line that differs is shown with both of its values. That a digest is the same
as in the past, and on other machines, is asserted by the test program itself: it contains the value.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from itertools import zip_longest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIGEST = re.compile(r"\bdigest (\S+) ([0-9a-f]{8,})\b")
BUILDS = ("editable", "release")
RUNS_PER_BUILD = 2

Digests = list[tuple[str, str]]


def digests(output: str) -> Digests:
    """The digests that a test program printed, in its order."""
    return DIGEST.findall(output)


def first_difference(one: Digests, other: Digests) -> str | None:
    """The first difference between two runs; None if there is none."""
    for left, right in zip_longest(one, other):
        if left != right:
            shown = [" ".join(side) if side else "nothing" for side in (left, right)]
            return f"{shown[0]} against {shown[1]}"
    return None


def run(flags: list[str]) -> Digests:
    """Run the test programs of all rooms once. Exit if one fails or none prints a digest."""
    cargo = os.environ.get("CARGO", "cargo")
    # Of the workspace, not of a package: dependencies keep their features, and nothing is compiled for this alone.
    command = [cargo, "test", "--quiet", "--locked", "--workspace", "--test", "determinism", *flags]
    # One thread: the order of the lines is then the order of the tests.
    command += ["--", "--nocapture", "--test-threads=1"]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{done.stdout}\ndeterminism: a test fails: {' '.join(command)}")
    found = digests(done.stdout)
    if not found:
        sys.exit("determinism: no room prints a line `digest NAME HEX`")
    return found


def main(arguments: list[str]) -> int:
    """Compare every run with the first one. Return the exit code."""
    builds = arguments or [BUILDS[0]]
    if len(builds) > 1 or builds[0] not in BUILDS:
        print(
            f"determinism: {' '.join(builds)} is no build: name one of {', '.join(BUILDS)}", file=sys.stderr
        )
        return 1
    flags_of = {"debug": [], builds[0]: ["--profile", builds[0]]}
    reference: Digests | None = None
    for build, flags in flags_of.items():
        for number in range(1, RUNS_PER_BUILD + 1):
            found = run(flags)
            reference = reference or found
            difference = first_difference(reference, found)
            if difference is not None:
                where = f"debug run 1 and {build} run {number}"
                print(f"determinism: the digests of {where} differ: {difference}", file=sys.stderr)
                return 1
    print(f"determinism: {len(reference or [])} digests, the same in {RUNS_PER_BUILD} runs of each build")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
