"""References to keys inside messages. A key is an option of the command line, an argument of a function, or a key of a
file: what shows the message replaces the reference with the key as its reader gives it.

A message is plain text; a reference in it stands between two control characters, which no name and no value has. Rust
writes the same (`drivelab_units::key`).
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Collection

BEGIN, VALUE, END = "\x0e", "\x1f", "\x0f"

Say = Callable[[str, str | None], str | None]
"""How a key of this name is given, with a value to give or without; None leaves the reference as it is."""

_REFERENCE = re.compile(f"{BEGIN}([^{BEGIN}{VALUE}{END}]*)(?:{VALUE}([^{BEGIN}{END}]*))?{END}")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?|\[.*\]|\.\.", re.ASCII)
_SHELL = set("*?$ \t\n'\"\\")
"""What a shell would change in a value."""
_OF_TRACE = "trace."

WORDS = {
    "name": "name",
    "drive": "target.drive",
    "level": "target.array.level",
    "members": "target.array.members",
    "stripe_unit": "target.array.stripe_unit",
    "pattern": "workload.pattern",
    "rw": "workload.rw",
    "bs": "workload.bs",
    "bssplit": "workload.bssplit",
    "iodepth": "workload.iodepth",
    "numjobs": "workload.numjobs",
    "rwmixread": "workload.rwmixread",
    "percentage_random": "workload.percentage_random",
    "random_distribution": "workload.random_distribution",
    "zonemode": "workload.zonemode",
    "max_open_zones": "workload.max_open_zones",
    "rate_iops": "workload.rate_iops",
    "rate_process": "workload.rate_process",
    "thinktime": "workload.thinktime",
    "fsync": "workload.fsync",
    "direct": "workload.direct",
    "size": "workload.size",
    "offset": "workload.offset",
    "runtime": "run.duration",
    "ramp_time": "run.warmup",
    "number_ios": "run.ios",
    "randseed": "run.seed",
    "ioengine": "workload.ioengine",
    "time_based": "workload.time_based",
    "trace": "workload.trace.file",
    "pace": "workload.trace.pace",
    "trace_format": "workload.trace.format",
    "trace_columns": "workload.trace.columns",
    "trace_device": "workload.trace.device",
    "scale_time": "workload.trace.scale_time",
    "remap": "workload.trace.remap",
    "of": "workload.trace.of",
    "lenient": "workload.trace.lenient",
    "sort": "workload.trace.sort",
}
"""The workload in fio's words, and the array, as options and keyword arguments: the key that each replaces."""

_OPTIONS = {
    "seed": "--randseed", "kept": "--from", "from_": "--from", "place": "--library",
    "confidence_percent": "--confidence", "threshold_percent": "--threshold", "worse_only": "--worse",
    "for_ns": "--for", "by_ns": "--by", "over_ns": "--over", "every_ns": "--every", "share_ppm": "--share",
}  # fmt: skip
"""Options with another name than their argument."""
_WORD_OF = {key: word for word, key in WORDS.items()}


def ref(name: str, value: object = None) -> str:
    """The reference to a key: of a verb by its name, such as `fs_size`; of a scenario by its path, such as
    `workload.bs`; of a trace as `trace.format`. With a `value` that the reader has given or is to give.
    """
    return f"{BEGIN}{name}{END}" if value is None else f"{BEGIN}{name}{VALUE}{value}{END}"


def name_of(text: str) -> str | None:
    """The name of the key if the text is a reference without a value, and nothing else."""
    found = _REFERENCE.fullmatch(text)
    return found[1] if found and found[2] is None else None


def said(text: str, say: Say) -> str:
    """A message with its references as `say` has them."""
    if BEGIN not in text:
        return text
    return _REFERENCE.sub(lambda found: _or_as_it_is(say(found[1], found[2]), found[0]), text)


def as_arguments(text: str) -> str:
    """A message for the caller of a function: `bs`, `bs="4k"`, or `**{"run.seed": 2}` where there is no argument."""
    return said(text, _argument)


def as_keys(text: str) -> str:
    """A message for the reader of a file: `workload.bs`, or `workload.bs = "4k"`."""
    return said(text, lambda name, value: _in_file(_path(name), value))


def _in_file(path: str, value: str | None) -> str:
    return path if value is None else f"{path} = {_in_toml(value)}"


def as_options(text: str, options: Collection[str]) -> str:
    """A message for the command line of a verb that has these options: `--bs`, `--bs 4k`, `--set run.seed=2`
    where it has no such option, and `run.seed` without a value.
    """
    return said(text, lambda name, value: _option(name, value, options))


def key_of_trace(name: str, value: str | None) -> str | None:
    """A key of a trace as a scenario's table of it has it: `format`, or `format = "csv"`."""
    return _in_file(name.removeprefix(_OF_TRACE), value) if name.startswith(_OF_TRACE) else None


def of_trace(text: str) -> str:
    """A message for verbs and functions of traces, whose keys are `format` and so on."""
    return text.replace(BEGIN + _OF_TRACE, BEGIN)


def _argument(name: str, value: str | None) -> str:
    path = _path(name)
    word = _WORD_OF.get(path, path)
    if "." not in word:
        return word if value is None else f"{word}={_in_python(value)}"
    return word if value is None else f'**{{"{word}": {_in_python(value)}}}'


def _option(name: str, value: str | None, options: Collection[str]) -> str:
    path = _path(name)
    option = _OPTIONS.get(path) or "--" + _WORD_OF.get(path, path).replace("_", "-")
    if "." not in path or option in options:
        return _flag(option, value)
    if name.startswith(_OF_TRACE) and (path not in _WORD_OF or "--set" not in options):
        own = "--" + name.removeprefix(_OF_TRACE).replace("_", "-")
        return f"{_flag(own, value)} of `drivelab trace convert`"
    return path if value is None else f"--set {_typed(f'{path}={value}')}"


def _flag(option: str, value: str | None) -> str:
    return option if value is None or value == "true" else f"{option} {_typed(value)}"


def _typed(value: str) -> str:
    """A value as a shell takes it."""
    return shlex.quote(value) if _SHELL & set(value) else value


def _path(name: str) -> str:
    """The path in a scenario of a key of a trace."""
    return f"workload.{name}" if name.startswith(_OF_TRACE) else name


def _in_python(value: str) -> str:
    return value.capitalize() if value in {"true", "false"} else _quoted(value)


def _in_toml(value: str) -> str:
    return value if value in {"true", "false"} else _quoted(value)


def _quoted(value: str) -> str:
    return value if _NUMBER.fullmatch(value) else json.dumps(value, ensure_ascii=False)


def _or_as_it_is(text: str | None, found: str) -> str:
    return found if text is None else text
