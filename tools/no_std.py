"""Asks the compiler whether the core, with everything that it uses, links no std.

`#![no_std]` binds one crate only: a dependency, or a feature of one, can bring std back unseen. So a probe, a
crate without std and with its own panic handler, is checked with the core in it. Where std is linked, there
are two panic handlers, and the compiler refuses.

The core is also checked for a target that has no std at all, where such a target is installed; where none is,
the run says that it skipped this, and how to get it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STD_LESS_MARK = "-none"

PROBE_MANIFEST = """
[package]
name = "no-std-probe"
edition = "2024"

[lib]
path = "lib.rs"

[dependencies]
drivelab-core = {{ path = {core} }}

[workspace]
"""

PROBE_SOURCE = """
#![no_std]
extern crate drivelab_core;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
"""


def cargo_check(arguments: list[str], target_dir: Path) -> str | None:
    """What cargo says against it, None where it says nothing."""
    command = [os.environ.get("CARGO", "cargo"), "check", "--quiet", "--offline", *arguments]
    environment = os.environ | {"CARGO_TARGET_DIR": str(target_dir)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else done.stderr.strip()


def check_probe(core: Path, target_dir: Path) -> str | None:
    """What the compiler says against linking the crate at `core` without std, None where it says nothing."""
    with tempfile.TemporaryDirectory(prefix="no-std-probe-") as name:
        probe = Path(name)
        (probe / "Cargo.toml").write_text(PROBE_MANIFEST.format(core=json.dumps(str(core))), encoding="utf-8")
        (probe / "lib.rs").write_text(PROBE_SOURCE, encoding="utf-8")
        # The same versions as ours; cargo drops what the probe does not need.
        shutil.copy(ROOT / "Cargo.lock", probe / "Cargo.lock")
        return cargo_check(["--manifest-path", str(probe / "Cargo.toml")], target_dir)


def std_less_target() -> str | None:
    """An installed target that has no std, None where there is none or no rustup to ask."""
    try:
        command = ["rustup", "target", "list", "--installed"]
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    return next((target for target in listed.split() if STD_LESS_MARK in target), None)


def main() -> int:
    """Run both checks. Return the exit code."""
    target_dir = ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "no-std"
    refusal = check_probe(ROOT / "crates/core", target_dir)
    if refusal is not None:
        print(
            f"{refusal}\nno_std: the core brings std in, or does not compile: take out what needs it",
            file=sys.stderr,
        )
        return 1
    target = std_less_target()
    if target is None:
        reason = "rustup has no such target; `rustup target add thumbv7em-none-eabihf` installs one"
        print(f"no_std: probe ok; check for a target without std skipped: {reason}", file=sys.stderr)
        return 0
    refusal = cargo_check(["--package", "drivelab-core", "--target", target], target_dir)
    if refusal is not None:
        print(f"{refusal}\nno_std: the core does not compile for {target}", file=sys.stderr)
        return 1
    print(f"no_std: probe ok; {target} ok", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
