"""Fuzzes what takes bytes from outside: scenarios, drive files, traces, NBD from both ends, targets, devices with data.

`python tools/fuzz.py [NAME ...] [--seconds 600]` (or `make fuzz`) builds fuzz/driver with the compiler's coverage
counters and runs each fuzzer under libFuzzer, from the files in fuzz/corpus/NAME on. What it finds new is kept in
build/fuzz/NAME; `--keep` puts the smallest set with the same coverage into fuzz/corpus/NAME, which the tests replay.
A crash ends the run with the file that repeats it. Needs a C++ compiler; memory is limited to 2 GB, one input to 20 s.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DRIVER = ROOT / "fuzz/driver"
# The flags that cargo-fuzz passes to the compiler, without the sanitizers, which need an unstable one.
COVERAGE = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Ccodegen-units=1",
]
# Longer than any input that the readers treat differently from a shorter one.
LONGEST = 65_536


def names() -> list[str]:
    """The fuzzers, as fuzz/src/lib.rs lists them."""
    text = (ROOT / "fuzz/src/lib.rs").read_text(encoding="utf-8")
    return re.findall(r'^    \("([\w-]+)", ', text, re.MULTILINE)


def build() -> Path:
    """Builds the driver; returns its executable."""
    target_dir = ROOT / "build/fuzz-driver"
    environment = os.environ | {"RUSTFLAGS": " ".join(COVERAGE), "CARGO_TARGET_DIR": str(target_dir)}
    # The flags apply to the fuzzer, not to build scripts: cargo needs an explicit target for that.
    host = subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=True).stdout
    triple = next(line.removeprefix("host: ") for line in host.splitlines() if line.startswith("host: "))
    command = [os.environ.get("CARGO", "cargo"), "build", "--release", "--locked", "--target", triple]
    subprocess.run(command, cwd=DRIVER, env=environment, check=True)
    return target_dir / triple / "release/drivelab-fuzz-driver"


def run(program: Path, name: str, arguments: list[str]) -> int:
    """One run of libFuzzer; returns its exit code."""
    environment = os.environ | {"DRIVELAB_FUZZ_TARGET": name}
    return subprocess.run([program, *arguments], cwd=ROOT, env=environment, check=False).returncode


def main() -> int:
    """Fuzz the named targets. Return the exit code: 1 if something crashed."""
    known = names()
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(known)}; all by default")
    parser.add_argument("--seconds", type=int, default=600, help="for each fuzzer")
    parser.add_argument("--keep", action="store_true", help="put what is new into the corpus")
    asked = parser.parse_args()
    if unknown := [name for name in asked.names if name not in known]:
        parser.error(f"no such fuzzer: {', '.join(unknown)}; there are {', '.join(known)}")
    program, crashed = build(), []
    for name in asked.names or known:
        found, kept = ROOT / "build/fuzz" / name, ROOT / "fuzz/corpus" / name
        found.mkdir(parents=True, exist_ok=True)
        print(f"fuzz: {name} for {asked.seconds} s", flush=True)
        limits = [
            f"-max_total_time={asked.seconds}",
            f"-max_len={LONGEST}",
            "-timeout=20",
            "-rss_limit_mb=2048",
        ]
        artifacts = f"-artifact_prefix={found.parent}/{name}-"
        if run(program, name, [*limits, artifacts, "-print_final_stats=1", str(found), str(kept)]):
            crashed.append(name)
        elif asked.keep:
            merged = found.parent / f"{name}.merged"
            shutil.rmtree(merged, ignore_errors=True)
            merged.mkdir()
            if (
                run(program, name, ["-merge=1", f"-max_len={LONGEST}", str(merged), str(kept), str(found)])
                == 0
            ):
                shutil.rmtree(kept)
                shutil.copytree(merged, kept)
    if crashed:
        print(f"fuzz: crashed: {', '.join(crashed)}; what repeats it is named above", file=sys.stderr)
        return 1
    print("fuzz: no crash, no hang", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
