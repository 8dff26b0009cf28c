"""Compares what this tree and another version of it come to, over thousands of random scenarios.

For work that must leave every figure as it is: each scenario of the fuzzer is run by both, and digests and whole
records must be equal, plain and with log and checks.

    tools/unchanged.py REVISION [COUNT]     this tree beside REVISION, COUNT scenarios [1000]

The other version is built in build/unchanged; what it comes to is kept there, by revision. Exit code 0: all are equal.
1: a version does not build or run. 3: some differ; the first are printed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "build" / "unchanged"
SHOWN = 10


def ledger(tree: Path, target: Path, path: Path, count: int) -> list[str]:
    """The lines of a tree's ledger: written anew."""
    environment = {
        **os.environ,
        "DRIVELAB_LEDGER": str(path),
        "DRIVELAB_FUZZ": str(count),
        "CARGO_TARGET_DIR": str(target),
    }
    command = ["cargo", "test", "--release", "--locked", "--package", "drivelab-simulate", "--test", "fuzz"]
    subprocess.run(
        [*command, "--quiet", "--", "--ignored", "ledger"],
        cwd=tree,
        env=environment,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return path.read_text(encoding="utf-8").splitlines()


def before(revision: str, count: int) -> list[str]:
    """The ledger of another revision, which is written once."""
    named = subprocess.run(
        ["git", "rev-parse", "--short=12", f"{revision}^{{commit}}"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    kept = WORK / f"{named}-{count}.txt"
    if kept.exists():
        return kept.read_text(encoding="utf-8").splitlines()
    tree = WORK / "tree"
    if not tree.exists():
        subprocess.run(["git", "clone", "--quiet", "--shared", str(ROOT), str(tree)], check=True)
    subprocess.run(["git", "fetch", "--quiet", "origin"], cwd=tree, check=True)
    subprocess.run(["git", "checkout", "--quiet", "--detach", named], cwd=tree, check=True)
    passing = kept.with_suffix(".tmp")
    lines = ledger(tree, WORK / "cargo", passing, count)
    passing.replace(kept)
    return lines


def main(arguments: list[str]) -> int:
    """Run the comparison; returns the exit code."""
    if not 1 <= len(arguments) <= 2 or arguments[0].startswith("-"):
        print(__doc__)
        return 2
    count = int(arguments[1]) if len(arguments) == 2 else 1_000
    WORK.mkdir(parents=True, exist_ok=True)
    try:
        old = before(arguments[0], count)
        new = ledger(ROOT, ROOT / "target", WORK / "now.txt", count)
    except subprocess.CalledProcessError as error:
        print(f"{' '.join(map(str, error.cmd))}: exit code {error.returncode}", file=sys.stderr)
        return 1
    by_run = [{tuple(line.split(" ", 2)[:2]): line for line in lines} for lines in (old, new)]
    runs = sorted(by_run[0].keys() | by_run[1].keys(), key=lambda run: (int(run[0]), int(run[1])))
    unlike = [run for run in runs if by_run[0].get(run) != by_run[1].get(run)]
    for run in unlike[:SHOWN]:
        print(
            f"seed {run[0]}, point {run[1]}:", *(f"  {one.get(run, 'not run')}" for one in by_run), sep="\n"
        )
    print(f"{len(runs)} runs, {len(unlike)} differ from {arguments[0]}")
    return 3 if unlike else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
