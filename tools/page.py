"""Builds the page for browsers, in build/page: the core as WebAssembly, web/ around it, and the published tables.

A copy goes into the package, where `drivelab page` finds it and a wheel takes it along.

Run `make page`, or `.venv/bin/python tools/page.py`. Nothing is fetched but what Cargo.lock and web/package-lock.json
name, and through rustup the target for WebAssembly where that is not installed. Where something is missing that this
cannot fetch, it says so in one line and exits with 3.
"""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WEB = ROOT / "web"
OUT = ROOT / "build/page"
PACKED = ROOT / "python/drivelab/served/site"
"""The copy in the package."""
BUILT_FROM = ROOT / "build/page.sha256"
"""A file with the fingerprint of what the page was built from."""
TARGET = "wasm32-unknown-unknown"
NODE_MAJOR = 20
LACKING = 3
CORE_MAX_BYTES = 1_500_000
"""What every visitor loads: the core may not be longer than this, as gzip sends it."""
PAGE_MAX_BYTES = 900_000
"""The same for all else that a visitor may load, but for LAZY."""
LAZY = {"core.wasm", "offline.js", "studies.js"}
"""The core, and what only some visitors load."""


def lacking() -> str | None:
    """What this machine lacks to build the page, in one line; None if nothing is missing."""
    for program, why in (("cargo", "Rust"), ("node", f"Node.js {NODE_MAJOR} or newer"), ("npm", "npm")):
        if shutil.which(program) is None:
            return f"the page needs {why}: {program} is not found"
    if importlib.util.find_spec("drivelab") is None:
        return "the page needs the package for its published tables: `make setup`, then .venv/bin/python tools/page.py"
    version = _output(["node", "--version"])
    major = re.match(r"v(\d+)", version)
    if not major or int(major[1]) < NODE_MAJOR:
        return f"the page needs Node.js {NODE_MAJOR} or newer, and this is {version or 'none'}"
    if _has_target() or _has_sources():
        return None
    if shutil.which("rustup") is not None:
        added = subprocess.run(
            ["rustup", "--quiet", "target", "add", TARGET], cwd=ROOT, capture_output=True, check=False
        )
        if added.returncode == 0:
            return None
        return f"the page needs Rust's target {TARGET}, and rustup cannot add it"
    return (
        f"the page needs Rust's target {TARGET}: install it with rustup, or Debian's rustc-web, cargo-web, "
        "rust-web-src and lld"
    )


def _output(command: list[str]) -> str:
    try:
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def _library(*parts: str) -> Path:
    return Path(_output(["rustc", "--print", "sysroot"]), "lib/rustlib", *parts)


def _has_target() -> bool:
    """Whether the standard library is there for WebAssembly."""
    return _library(TARGET, "lib").is_dir()


def _has_sources() -> bool:
    """Whether the sources of the standard library are there, and a linker for it."""
    return _library("src/rust/library/std").is_dir() and shutil.which("wasm-ld") is not None


def core() -> Path:
    """Build the core for WebAssembly; returns the module. Raises CalledProcessError."""
    command = [os.environ.get("CARGO", "cargo"), "rustc", "--quiet", "--locked", "--profile", "page"]
    command += ["--target", TARGET, "--package", "drivelab-web", "--lib", "--crate-type", "cdylib"]
    environment = dict(os.environ)
    if not _has_target():
        command += ["-Z", "build-std=std,panic_abort"]
        environment |= {"RUSTC_BOOTSTRAP": "1", "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER": "wasm-ld"}
    subprocess.run(command, cwd=ROOT, env=environment, check=True)
    return ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / TARGET / "page/drivelab_web.wasm"


def packages() -> None:
    """Install what web/package-lock.json names, where it is not there yet. Raises CalledProcessError."""
    lock, done = WEB / "package-lock.json", WEB / "node_modules/.done"
    if done.is_file() and done.read_bytes() == lock.read_bytes():
        return
    npm = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error"]
    subprocess.run(npm, cwd=WEB, check=True)
    shutil.copy(lock, done)


def gzipped(path: Path) -> int:
    """The bytes of a file as a server sends it."""
    return len(gzip.compress(path.read_bytes(), 9, mtime=0))


def sizes() -> dict[str, tuple[int, int]]:
    """Each file of the built page, its bytes and its bytes as gzip sends them."""
    return {path.name: (path.stat().st_size, gzipped(path)) for path in sorted(OUT.iterdir())}


def without_core(found: dict[str, tuple[int, int]]) -> int:
    """The bytes of all files that any visitor may load, but for the core, as gzip sends them."""
    return sum(sent for name, (_, sent) in found.items() if name not in LAZY)


def fingerprint(module: Path) -> str:
    """What the page is built from: the module, web/, and the package and catalogue with the published tables."""
    of_page = (path for path in WEB.rglob("*") if not {"node_modules", "tests"} & set(path.parts))
    of_tables = [*(ROOT / "python/drivelab").rglob("*.py"), *(ROOT / "catalogue").rglob("*.toml")]
    sources = [*of_page, *of_tables, module, ROOT / "tools/page_studies.py"]
    found = hashlib.sha256()
    for path in sorted(path for path in sources if path.is_file()):
        found.update(f"{path}\0{path.stat().st_size}\0".encode())
        found.update(path.read_bytes())
    return found.hexdigest()


def build() -> None:
    """Build the page, where anything has changed since. Raises CalledProcessError."""
    module = core()
    packages()
    now = fingerprint(module)
    is_there = all((folder / "index.html").is_file() for folder in (OUT, PACKED))
    if is_there and BUILT_FROM.is_file() and BUILT_FROM.read_text(encoding="utf-8") == now:
        return
    BUILT_FROM.unlink(missing_ok=True)
    subprocess.run(["node", "build.mjs", str(module), str(OUT)], cwd=WEB, check=True)
    subprocess.run([sys.executable, str(ROOT / "tools/page_studies.py"), str(OUT)], check=True)
    shutil.rmtree(PACKED, ignore_errors=True)
    shutil.copytree(OUT, PACKED)
    BUILT_FROM.write_text(now, encoding="utf-8")


def main() -> int:
    """Build the page and print the sizes of its files. Return the exit code."""
    why = lacking()
    if why is not None:
        print(why, file=sys.stderr)
        return LACKING
    try:
        build()
    except subprocess.CalledProcessError as error:
        print(f"the page cannot be built: {error.cmd[0]} has failed", file=sys.stderr)
        return 1
    found = sizes()
    for name, (whole, sent) in found.items():
        print(f"{name:12} {whole:>9,} bytes {sent:>9,} gzipped")
    rest = without_core(found)
    print(
        f"the page without its core and its studies: {rest:,} bytes gzipped; build/page/index.html opens it"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
