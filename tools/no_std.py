"""Asks the compiler whether the no_std rooms, with all their dependencies, link no std.

`#![no_std]` applies to one crate only: a dependency, or a feature of one, can bring std back unnoticed. So a probe, a
crate without std and with its own panic handler, is checked with them as dependencies. If std is linked, there are
two panic handlers, and the compiler refuses.

They are also checked for a target that has no std at all and for WebAssembly, if such targets are installed; if one
is not, the run says that it skipped this, and how to get it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Other targets: what an installed target's name must contain, its description, and one that may be installed.
TARGETS = [
    ("-none", "a target without std", "thumbv7em-none-eabihf"),
    ("wasm32", "WebAssembly", "wasm32-unknown-unknown"),
]

PROBE_MANIFEST = """
[package]
name = "no-std-probe"
edition = "2024"

[lib]
path = "lib.rs"

[dependencies]
{package} = {{ path = {path} }}

[workspace]
"""

PROBE_SOURCE = """
#![no_std]
extern crate {crate};

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {{
    loop {{}}
}}
"""


def cargo_check(arguments: list[str], target_dir: Path, more: Mapping[str, str] | None = None) -> str | None:
    """cargo's error; None if there is none. `more` are variables of its environment."""
    command = [os.environ.get("CARGO", "cargo"), "check", "--quiet", "--offline", *arguments]
    environment = {**os.environ, "CARGO_TARGET_DIR": str(target_dir), **(more or {})}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else done.stderr.strip()


def check_probe(room: Path, target_dir: Path, package: str = "drivelab-core") -> str | None:
    """The compiler's error on linking the crate at `room` without std; None if there is none."""
    with tempfile.TemporaryDirectory(prefix="no-std-probe-") as name:
        probe = Path(name)
        manifest = PROBE_MANIFEST.format(package=package, path=json.dumps(str(room)))
        (probe / "Cargo.toml").write_text(manifest, encoding="utf-8")
        source = PROBE_SOURCE.format(crate=package.replace("-", "_"))
        (probe / "lib.rs").write_text(source, encoding="utf-8")
        # The same versions as in the workspace; cargo drops those that the probe does not need.
        shutil.copy(ROOT / "Cargo.lock", probe / "Cargo.lock")
        return cargo_check(["--manifest-path", str(probe / "Cargo.toml")], target_dir)


def installed_targets() -> list[str]:
    """The installed targets; empty without rustup."""
    try:
        command = ["rustup", "target", "list", "--installed"]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    except (OSError, subprocess.CalledProcessError):
        return []


def main() -> int:
    """Run all checks. Return the exit code."""
    target_dir = ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "no-std"
    # This room uses all the others.
    refusal = check_probe(ROOT / "crates/data", target_dir, "drivelab-data")
    if refusal is not None:
        print(
            f"{refusal}\nno_std: core or data brings std in, or does not compile: take out what needs it",
            file=sys.stderr,
        )
        return 1
    print("no_std: probe ok", file=sys.stderr)
    installed = installed_targets()
    for mark, what, example in TARGETS:
        target = next((target for target in installed if mark in target), None)
        if target is None:
            reason = f"rustup has none; `rustup target add {example}` installs one"
            print(f"no_std: check for {what} skipped: {reason}", file=sys.stderr)
            continue
        refusal = cargo_check(["--package", "drivelab-data", "--target", target], target_dir)
        if refusal is not None:
            print(f"{refusal}\nno_std: data or core does not compile for {target}", file=sys.stderr)
            return 1
        print(f"no_std: {target} ok", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
