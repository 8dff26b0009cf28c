#!/bin/sh
# Says in one line what this machine lacks, and nothing where it lacks nothing.
#
#   sh tools/preflight.sh check [lint]   prints what is missing (for `lint`, also what only the checks need)
#   sh tools/preflight.sh python         prints the interpreter that the environment is made with
#
# PYTHON=... names the interpreter; otherwise the newest of those below that runs and is new enough is taken.
# What .venv holds needs no interpreter from outside, so a tree that is set up asks for none.

set -u
cd "$(dirname "$0")/.." || exit 1

version_of() { # a program's first version number
    "$@" 2>/dev/null | sed -n 's/^[^0-9]*\([0-9][0-9]*\.[0-9][0-9]*\).*/\1/p;q'
}

at_least() { # $1 >= $2, both MAJOR.MINOR
    [ -n "$1" ] && { [ "${1%%.*}" -gt "${2%%.*}" ] ||
        { [ "${1%%.*}" -eq "${2%%.*}" ] && [ "${1#*.}" -ge "${2#*.}" ]; }; }
}

missing() {
    printf '%s\n' "$1"
    exit 1
}

python_needed=$(sed -n 's/^requires-python *= *">=\([0-9.]*\)".*/\1/p' pyproject.toml)
rust_needed=$(sed -n 's/^rust-version *= *"\([0-9.]*\)".*/\1/p' Cargo.toml)

python_version() {
    version_of "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])'
}

find_python() {
    if [ -n "${PYTHON:-}" ]; then
        set -- "$PYTHON"
    else
        set -- python3.13 python3.12 python3.11 python3
    fi
    for candidate in "$@"; do
        if at_least "$(python_version "$candidate")" "$python_needed"; then
            printf '%s\n' "$candidate"
            return 0
        fi
    done
    return 1
}

check_python() {
    if [ -f .venv/folder ]; then
        [ "$(cat .venv/folder)" = "$(pwd -P)" ] || missing ".venv was made in another folder: make clean, then again"
        [ -n "$(python_version .venv/bin/python)" ] || missing ".venv lost its interpreter: make clean, then again"
        if [ -n "${PYTHON:-}" ] && [ "$(python_version "$PYTHON")" != "$(python_version .venv/bin/python)" ]; then
            missing ".venv was made with another Python than $PYTHON: make clean, then again"
        fi
        return 0
    fi
    found=$(find_python) ||
        missing "Python $python_needed or newer is missing (looked for ${PYTHON:-python3.13, 3.12, 3.11, python3}): install it, or name it with PYTHON=..."
    "$found" -c 'import ensurepip, venv' 2>/dev/null ||
        missing "$found has no venv module: install it (on Debian: apt-get install python3-venv)"
}

check_rust() {
    for tool in cargo rustc; do
        version=$(version_of "$tool" --version)
        [ -n "$version" ] || missing "$tool is missing: install Rust $rust_needed or newer with rustup"
        at_least "$version" "$rust_needed" || missing "$tool $version is too old: rustup update brings $rust_needed or newer"
    done
    command -v cc >/dev/null 2>&1 || missing "a C linker (cc) is missing: install gcc or clang"
}

case "${1:-}" in
python) find_python ;;
check)
    check_rust
    check_python
    [ "${2:-}" != lint ] || for tool in fmt clippy; do
        cargo "$tool" --version >/dev/null 2>&1 || missing "cargo $tool is missing: rustup component add rustfmt clippy"
    done
    ;;
*) missing "usage: preflight.sh check [lint] | python" ;;
esac
