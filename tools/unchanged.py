"""Compares what this tree and another version of it come to, over thousands of random scenarios.

For work that must leave every figure as it is: each scenario of the fuzzer is run by both, and digests and whole
records must be equal, plain and with log and checks.

    tools/unchanged.py REVISION [COUNT]     this tree beside REVISION, COUNT scenarios [1000]

The other version is built in build/unchanged; what it comes to is kept there, by revision. A seed of which the two
versions draw different scenarios, because the schema has other keys, compares nothing: such drafts are counted apart.
Exit code 0: all figures are equal. 1: a version does not build or run, or no draft is the same in both. 3: some figures
differ; the first are printed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "build" / "unchanged"
SHOWN = 10


def ledger(tree: Path, target: Path, path: Path, count: int) -> list[str]:
    """The lines of a tree's ledger, written again."""
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


class Run(NamedTuple):
    """A run with different results, as in the ledgers."""

    seed: int
    point: int
    old: str
    new: str


class Found(NamedTuple):
    """The comparison of two ledgers."""

    compared: int
    unlike: list[Run]
    redrawn: list[int]
    """Seeds for which the two versions draw different scenarios."""


def by_seed(lines: list[str]) -> dict[int, tuple[str | None, dict[int, str]]]:
    """By seed: the hash of its draft, which older versions do not write, and the result of each point."""
    seeds: dict[int, tuple[str | None, dict[int, str]]] = {}
    for line in lines:
        seed, point, rest = line.split(" ", 2)
        draft = None
        if rest.startswith("draft="):
            draft, rest = rest.removeprefix("draft=").split(" ", 1)
        seeds.setdefault(int(seed), (draft, {}))[1][int(point)] = rest
    return seeds


def compare(old: list[str], new: list[str]) -> Found:
    """Compare the runs of two ledgers."""
    olds, news = by_seed(old), by_seed(new)
    compared, unlike, redrawn = 0, [], []
    for seed in sorted(olds.keys() | news.keys()):
        (was, before), (drawn, after) = (ledger.get(seed, (None, {})) for ledger in (olds, news))
        # A seed without a draft in one of two versions that both write drafts counts as a different scenario.
        tells = all(any(draft for draft, _ in ledger.values()) for ledger in (olds, news))
        if tells and was != drawn:
            redrawn.append(seed)
            continue
        for point in sorted(before.keys() | after.keys()):
            compared += 1
            one, other = (runs.get(point, "not run") for runs in (before, after))
            if one != other:
                unlike.append(Run(seed, point, one, other))
    return Found(compared, unlike, redrawn)


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
    found = compare(old, new)
    for run in found.unlike[:SHOWN]:
        print(f"seed {run.seed}, point {run.point}:", f"  {run.old}", f"  {run.new}", sep="\n")
    print(f"{found.compared} runs compared, {len(found.unlike)} differ from {arguments[0]}")
    if found.redrawn:
        seeds = ", ".join(map(str, found.redrawn[:SHOWN]))
        print(f"{len(found.redrawn)} drafts differ and compare nothing: seeds {seeds}")
    if found.unlike:
        return 3
    return 0 if found.compared else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
