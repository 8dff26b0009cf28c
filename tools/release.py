"""Make what a release offers for download, in dist/: wheels for Linux, source distribution, parts list, checksums.

`python tools/release.py` (or `make release`) builds a wheel for each of TARGETS. zig links them, so that the C library
of this machine does not matter: a wheel needs that of its tag or a newer one. The wheel for glibc on this machine's own
processor is optimised by a profile (tools/profiled.py) where llvm-tools are installed. What cannot be built is said by
name, with the remedy, and the exit code is then 1.

Each wheel is audited: by maturin, which builds none that breaks the policy of its tag, by auditwheel, and by the
versions of the symbols in its ELF file. What was built, how, and what it needs of a system is in dist/BUILD.txt.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.metadata
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import man_pages
import profiled
import sbom
from drivelab import __version__

ROOT = Path(__file__).resolve().parent.parent
# Where maturin looks, by the name of the extension, for what a wheel installs outside the package.
DATA = ROOT / "drivelab._core.data"
# A target of Rust, and the tag that its wheel gets: the oldest C library on which it runs.
TARGETS = {
    "x86_64-unknown-linux-gnu": "manylinux_2_17",
    "aarch64-unknown-linux-gnu": "manylinux_2_17",
    "x86_64-unknown-linux-musl": "musllinux_1_2",
    "aarch64-unknown-linux-musl": "musllinux_1_2",
}
# The one that runs this, by name: where it is not of the target, maturin knows what to build for. The wheel is for the
# stable ABI of 3.11 whichever it is.
PYTHON = f"python{sys.version_info.major}.{sys.version_info.minor}"
WHEEL_MAX_BYTES = 12_000_000
SUMS = "SHA256SUMS"
# The attribute that a tag of a library has, of which the types of pyelftools know nothing.
NEEDED = "needed"


class LackingError(Exception):
    """What this machine lacks for a wheel, with the remedy."""


@dataclass(frozen=True)
class Needs:
    """What the extension in a wheel needs of a system."""

    libraries: tuple[str, ...]
    glibc: str | None
    """The newest version of a symbol of glibc that it uses."""


def output(*command: str) -> str:
    """What a command prints."""
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def own_target() -> str:
    """The target of this machine, for glibc."""
    return f"{platform.machine()}-unknown-linux-gnu"


def check_target(target: str) -> None:
    """Raise LackingError unless the standard library of a target and a linker are installed."""
    if importlib.util.find_spec("ziglang") is None:
        raise LackingError("no zig: pip install --require-hashes -r requirements/release.txt")
    found = Path(output("rustc", "--print", "target-libdir", "--target", target).strip())
    if not found.is_dir():
        raise LackingError(f"Rust has no standard library for it: rustup target add {target}")


def environment() -> dict[str, str]:
    """The environment of the builds: the pinned tools first, and nothing of this machine in what is built.

    The time of a file in a wheel is that of the commit, and a message names a crate, not where it lies here.
    """
    found = {**os.environ, "PATH": f"{sysconfig.get_path('scripts')}{os.pathsep}{os.environ['PATH']}"}
    if "SOURCE_DATE_EPOCH" not in found and shutil.which("git") and (ROOT / ".git").exists():
        found["SOURCE_DATE_EPOCH"] = output("git", "log", "-1", "--format=%ct").strip()
    if "CARGO_ENCODED_RUSTFLAGS" in found or "RUSTFLAGS" in found:
        raise SystemExit("release: RUSTFLAGS would replace the flags of .cargo/config.toml: unset it")
    # A new registry has its folder from here on.
    subprocess.run(["cargo", "fetch", "--quiet", "--locked"], cwd=ROOT, check=True)
    settings = tomllib.loads((ROOT / ".cargo" / "config.toml").read_text(encoding="utf-8"))
    home = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    moved = dict.fromkeys(sorted((home / "registry" / "src").glob("*")), "registry") | {ROOT: "."}
    remapped = [f"--remap-path-prefix={old}={new}" for old, new in moved.items()]
    return profiled.with_flags(found, [*settings["build"]["rustflags"], *remapped])


def built(target: str, dist: Path, env: Mapping[str, str], parts: Path) -> Path:
    """Build the wheel of a target; its path."""
    before = set(dist.glob("*.whl"))
    command = [
        "maturin",
        "build",
        "--release",
        "--locked",
        "--zig",
        "--target",
        target,
        "--interpreter",
        PYTHON,
    ]
    command += ["--compatibility", TARGETS[target], "--sbom-include", str(parts), "--out", str(dist)]
    if target == own_target() and (merge := profiled.profdata()):
        env = profiled.optimised(profiled.counted(merge, target, env), env)
        # A folder of its own: what is built by a profile does not replace what is built without.
        command += ["--target-dir", profiled.TARGET_FOLDER]
    subprocess.run(command, cwd=ROOT, env=env, check=True)
    (wheel,) = set(dist.glob("*.whl")) - before
    return wheel


def needs(wheel: Path) -> Needs:
    """What the extension in a wheel needs, read from its ELF file."""
    from elftools.elf.dynamic import DynamicSection  # noqa: PLC0415 - the other tools do without
    from elftools.elf.elffile import ELFFile  # noqa: PLC0415
    from elftools.elf.gnuversions import GNUVerNeedSection  # noqa: PLC0415

    with zipfile.ZipFile(wheel) as files:
        (name,) = (
            name for name in files.namelist() if name.startswith("drivelab/_core") and name.endswith(".so")
        )
        elf = ELFFile(BytesIO(files.read(name)))
    libraries: list[str] = []
    section: Any
    versions: list[str] = []
    for section in elf.iter_sections():
        if isinstance(section, DynamicSection):
            libraries += [str(getattr(tag, NEEDED)) for tag in section.iter_tags("DT_NEEDED")]
        if isinstance(section, GNUVerNeedSection):
            versions += [one.name for _, needed in section.iter_versions() for one in needed]
    glibc = [name.removeprefix("GLIBC_") for name in versions if name.startswith("GLIBC_")]
    return Needs(tuple(libraries), max(glibc, key=version_key, default=None))


def version_key(version: str) -> tuple[int, ...]:
    """A version as numbers, to be compared."""
    return tuple(int(part) for part in version.split(".") if part.isdecimal())


def audited(wheel: Path, tag: str) -> Needs:
    """What a wheel needs. Raises ValueError where that is more than its tag promises, or the wheel is too large."""
    found = needs(wheel)
    if wheel.stat().st_size > WHEEL_MAX_BYTES:
        raise ValueError(
            f"{wheel.name} has {wheel.stat().st_size} bytes, {WHEEL_MAX_BYTES} allowed: see what grew"
        )
    if tag.startswith("manylinux"):
        floor = tag.removeprefix("manylinux_").replace("_", ".")
        if found.glibc is None or version_key(found.glibc) > version_key(floor):
            raise ValueError(
                f"{wheel.name} needs glibc {found.glibc}, its tag promises {floor}: link it with zig"
            )
        report = output(sys.executable, "-m", "auditwheel", "show", str(wheel))
        if tag not in " ".join(report.split()):
            raise ValueError(f"auditwheel does not find {tag} in {wheel.name}:\n{report}")
    elif found.glibc is not None or any(name.startswith("libc.so.") for name in found.libraries):
        raise ValueError(f"{wheel.name} needs glibc, its tag promises musl: link it with zig")
    return found


def described(wheel: Path, target: str) -> Iterator[str]:
    """How a wheel was built, and what it needs of a system."""
    found = audited(wheel, TARGETS[target])
    how = "release build without a profile"
    if target == own_target():
        remedy = " (rustup component add llvm-tools: with one)"
        how = "optimised by a profile" if profiled.profdata() else how + remedy
    yield f"{wheel.name}: {wheel.stat().st_size / 1e6:.2f} MB, {how}"
    system = f"glibc {found.glibc} or newer" if found.glibc else "musl"
    yield f"    needs {system}; libraries: {', '.join(found.libraries)}"


def wheels(targets: list[str], dist: Path, env: Mapping[str, str], parts: Path) -> Iterator[str]:
    """Build and audit the wheels; lines about each. Raises LackingError, at the end, where one is not to be built."""
    lacking = []
    for target in targets:
        try:
            check_target(target)
        except LackingError as error:
            lacking.append(f"skipped: {target}: {error}")
            continue
        yield from described(built(target, dist, env, parts), target)
    if lacking:
        raise LackingError("\n".join(lacking))


def checksums(dist: Path) -> str:
    """A line for each file of a folder, as `sha256sum --check` reads it."""
    names = sorted(path.name for path in dist.iterdir() if path.is_file() and path.name != SUMS)
    return "".join(f"{hashlib.sha256((dist / name).read_bytes()).hexdigest()}  {name}\n" for name in names)


def tools() -> Iterator[str]:
    """What a release is built with."""
    yield f"drivelab {__version__}"
    yield output("rustc", "--version").strip()
    for name in ("maturin", "ziglang"):
        yield f"{name} {importlib.metadata.version(name)}"


def main() -> int:
    """Build everything. Return the exit code."""
    parser = argparse.ArgumentParser(description="Make what a release offers for download, in dist/.")
    parser.add_argument("--target", action="append", choices=TARGETS, help="this wheel alone; repeatable")
    targets = parser.parse_args().target or list(TARGETS)
    dist = ROOT / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    dist.mkdir()
    env = environment()
    if epoch := env.get("SOURCE_DATE_EPOCH"):
        os.environ["SOURCE_DATE_EPOCH"] = epoch
    shutil.rmtree(DATA, ignore_errors=True)
    man_pages.write(DATA / "data" / "share")
    parts = dist / f"drivelab-{__version__}.cdx.json"
    parts.write_text(sbom.text(), encoding="utf-8")
    lines, lacking = list(tools()), ""
    try:
        for line in wheels(targets, dist, env, parts):
            print(line, flush=True)
            lines.append(line)
    except LackingError as error:
        lacking = str(error)
        lines.append(lacking)
    subprocess.run(["maturin", "sdist", "--out", str(dist)], cwd=ROOT, env=env, check=True)
    (dist / "BUILD.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (dist / SUMS).write_text(checksums(dist), encoding="utf-8")
    if lacking:
        print(lacking, file=sys.stderr)
    return 1 if lacking else 0


if __name__ == "__main__":
    sys.exit(main())
