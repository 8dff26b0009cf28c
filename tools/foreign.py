"""Asks the compiler whether the extension compiles for macOS and Windows, without warnings; nothing is linked or run.

One crate cannot be built for another system without a C compiler for it: ring, of TLS, which compiles C and assembler
before it is checked. A check links nothing, so here a program that does nothing stands for that compiler: what is held
is the Rust, ours and that of the dependencies.

A target that is not installed is skipped by name, with how to get it.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from no_std import ROOT, cargo_check, installed_targets

TARGETS = {"aarch64-apple-darwin": "macOS", "x86_64-pc-windows-msvc": "Windows"}
PACKAGE = "drivelab-py"
# Ends well, whatever it is told.
_NO_COMPILER = "true"


def refusal(target: str, target_dir: Path, arguments: tuple[str, ...] = ("--package", PACKAGE)) -> str | None:
    """The compiler's errors for a target, warnings among them; None if there are none. No C is compiled."""
    name = target.replace("-", "_")
    own = {f"{tool}_{name}": _NO_COMPILER for tool in ("CC", "AR")}
    command = ["--locked", "--target", target, *arguments]
    return cargo_check(command, target_dir, {**own, "RUSTFLAGS": "-Dwarnings"})


def main() -> int:
    """Check all targets. Return the exit code."""
    if shutil.which(_NO_COMPILER) is None:
        print(f"foreign: skipped: there is no program `{_NO_COMPILER}`, as Unix has it", file=sys.stderr)
        return 0
    # With what the tests have built: programs of this machine that run while others are compiled.
    target_dir = ROOT / os.environ.get("CARGO_TARGET_DIR", "target")
    installed = installed_targets()
    for target, system in TARGETS.items():
        if target not in installed:
            reason = f"rustup has it not; `rustup target add {target}` installs it"
            print(f"foreign: check for {system} skipped: {reason}", file=sys.stderr)
            continue
        found = refusal(target, target_dir)
        if found is not None:
            remedy = "what one system lacks has a module in its place there, as crates/emulate/src/fuse/elsewhere.rs"
            print(f"{found}\nforeign: {PACKAGE} does not compile for {system}: {remedy}", file=sys.stderr)
            return 1
        print(f"foreign: {target} ok", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
