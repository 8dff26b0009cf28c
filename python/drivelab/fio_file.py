"""fio's job files: recognised, so that a message can say what to do. They cannot be read yet."""

from __future__ import annotations

import configparser
import shlex

from drivelab.scenario import WORDS

_SYNONYMS = {"blocksize": "bs", "readwrite": "rw"}


def options_of(text: str) -> list[str] | None:
    """What the first job of a job file says, as options; None where the text is no job file.

    A job file is an INI file whose sections have words of fio's, with values as they are, without quotation marks.
    """
    parser = configparser.ConfigParser(
        allow_no_value=True, interpolation=None, comment_prefixes=("#", ";"), strict=False, default_section=""
    )
    try:
        parser.read_string(text)
    except configparser.Error:
        return None
    jobs = [name for name in parser.sections() if name != "global"]
    found: dict[str, str] = {}
    for section in [*(["global"] if parser.has_section("global") else []), *jobs[:1]]:
        found |= {_SYNONYMS.get(key, key): value or "" for key, value in parser.items(section)}
    is_bare = any(found.get(key, '"')[:1].isalpha() for key in ("rw", "ioengine", "filename"))
    if not is_bare:
        return None
    kept = {
        key: value
        for key, value in found.items()
        if key in WORDS and key not in {"name", "ioengine"} and value
    }
    kept.pop("time_based", None)
    return [f"--{key} {shlex.quote(value)}" for key, value in kept.items()]


def refusal(origin: str, options: list[str]) -> str:
    """What is said of a job file."""
    words = " ".join(["drivelab simulate --drive NAME", *options])
    return (
        f"{origin} is a job file of fio, which cannot be read yet: give its first job as options, with units where "
        f"fio has none: {words}"
    )
