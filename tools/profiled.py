"""The profile by which a released extension is optimised: built with counters, it runs a workload; they are merged.

`maturin build --pgo` does the same with one linker for both builds (`make wheel`). Here only the second build is linked
by zig, which does not take what the counters need. The build with counters goes without link-time optimisation: they
are counted before it, in each crate by itself.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SEPARATOR = "\x1f"
TARGET_FOLDER = "target/profiled"


def profdata() -> Path | None:
    """The program that merges counters, of rustup's llvm-tools; None if they are not installed."""
    command = ["rustc", "--print", "sysroot"]
    sysroot = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
    return next((Path(sysroot) / "lib" / "rustlib").glob("*/bin/llvm-profdata"), None)


def with_flags(env: Mapping[str, str], flags: Sequence[str]) -> dict[str, str]:
    """An environment in which more flags are given to the compiler."""
    before = [env["CARGO_ENCODED_RUSTFLAGS"]] if env.get("CARGO_ENCODED_RUSTFLAGS") else []
    return {**env, "CARGO_ENCODED_RUSTFLAGS": SEPARATOR.join([*before, *flags])}


def counted(merge: Path, target: str, env: Mapping[str, str]) -> Path:
    """Build with counters for this machine, run the workload, merge what was counted; the file of the profile.

    Its name changes with its contents, so that cargo builds again what depends on it.
    """
    folder = ROOT / "build" / "profile"
    shutil.rmtree(folder, ignore_errors=True)
    counts = folder / "counts"
    counts.mkdir(parents=True)
    counting = with_flags(env, [f"-Cprofile-generate={counts}"])
    command = [
        "maturin",
        "build",
        "--release",
        "--locked",
        "--target",
        target,
        "--interpreter",
        sys.executable,
    ]
    command += ["--auditwheel", "skip", "--target-dir", TARGET_FOLDER, "--out", str(folder)]
    subprocess.run(command, cwd=ROOT, env={**counting, "CARGO_PROFILE_RELEASE_LTO": "off"}, check=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as files:
        files.extractall(folder / "package")
    running = {
        **env,
        "PYTHONPATH": str(folder / "package"),
        "LLVM_PROFILE_FILE": str(counts / "%m_%p.profraw"),
    }
    subprocess.run([sys.executable, "tools/training_run.py"], cwd=ROOT, env=running, check=True)
    found = [path for path in counts.glob("*.profraw") if path.stat().st_size]
    if not found:
        raise RuntimeError("the build with counters has counted nothing: see tools/training_run.py")
    merged = folder / "merged.profdata"
    subprocess.run([str(merge), "merge", "-o", str(merged), *map(str, found)], check=True)
    named = ROOT / TARGET_FOLDER / f"{hashlib.sha256(merged.read_bytes()).hexdigest()[:16]}.profdata"
    shutil.copyfile(merged, named)
    return named


def optimised(profile: Path, env: Mapping[str, str]) -> dict[str, str]:
    """The environment of a build by a profile."""
    return with_flags(env, [f"-Cprofile-use={profile}"])
