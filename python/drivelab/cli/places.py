"""Where a verb writes: options that name a place, and whether it can be written to, before anything runs."""

from __future__ import annotations

import os
from pathlib import Path

import typer

from drivelab.errors import InputError, OutputError
from drivelab.report.pictures import SUFFIXES


def place(text: str) -> Path:
    """A path as it was typed. The empty one is refused here: as a Path it would be the current folder."""
    if not text.strip():
        raise typer.BadParameter("the name is empty; for the current folder write .")
    return Path(text)


def check_picture(option: str, path: Path) -> None:
    """Refuse a picture that could not be written. Raises InputError (its suffix) and OutputError."""
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(f"{option} {path}: a picture ends in {', '.join(SUFFIXES)}")
    check_file(option, path)


def check_file(option: str, path: Path) -> None:
    """Refuse a file that could not be written. Raises InputError (no name at all) and OutputError."""
    try:
        if path.is_dir():
            raise OutputError(f"{option} {path}: cannot write: is a directory")
        if not path.parent.is_dir():
            raise OutputError(f"{option} {path}: cannot write: there is no folder {path.parent}")
    except ValueError as error:  # a NUL in the name
        raise InputError(f"{option} {str(path)!r}: {error}") from error
    if not os.access(path.parent, os.W_OK):
        raise OutputError(f"{option} {path}: cannot write: permission denied in the folder {path.parent}")
