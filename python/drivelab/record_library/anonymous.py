"""A record without personal and machine data: host and user names, serial numbers, paths, addresses, times of the day.

A value is removed if its key names such data, and wherever else it occurs as a word of a text; paths, e-mail and
network addresses are recognised by their form. Each is replaced by its own placeholder (`path-1`), the same
everywhere, so that axes still distinguish points. Dates stay, without the time of the day: see `stamps.py`.
"""

from __future__ import annotations

import contextlib
import getpass
import json
import re
import socket
from collections.abc import Iterable, Mapping
from typing import Any

from drivelab.record_library.entry import canonical
from drivelab.record_library.stamps import Stamps, without_times

# Keys whose values name a host, a user or a device; compared without case, blanks, - and _.
_KEYS = {
    "hostname": "host",
    "host": "host",
    "nodename": "host",
    "fqdn": "host",
    "domain": "host",
    "machineid": "host",
    "user": "user",
    "username": "user",
    "login": "user",
    "owner": "user",
    "serial": "serial",
    "serialnumber": "serial",
    "wwn": "serial",
    "wwid": "serial",
    "uuid": "serial",
    "partuuid": "serial",
    "eui": "serial",
    "nguid": "serial",
    "macaddress": "serial",
    "mac": "serial",
    "assettag": "serial",
    "path": "path",
    "device": "path",
    "devicepath": "path",
    "filename": "path",
    "directory": "path",
    "file": "path",
    "cwd": "path",
    "home": "path",
    "mountpoint": "path",
    "ip": "address",
    "address": "address",
}
# For these only what looks like a path: `device` may be a model too.
_PATHS_BY_FORM = {"device", "file"}
# Keys whose values are not prose: base64 contains slashes.
_NO_TEXTS = {"histogram", "hdr", "digest", "scenariohash", "generator"}
_FORMS = {
    # A scheme with the rest of its URL, e-mail, IPv4, IPv6 and MAC addresses, then absolute and home-relative
    # paths.
    "address": re.compile(
        r"\b[a-z][a-z0-9+.-]*://\S+|[\w.+-]+@[\w-]+(?:\.[\w-]+)*|\b(?:\d{1,3}\.){3}\d{1,3}\b"
        r"|\b(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b|\b(?:[0-9a-f]{1,4}:){4,7}[0-9a-f]{1,4}\b",
        re.IGNORECASE,
    ),
    "path": re.compile(r"(?<![\w./~])(?:~|\.{1,2})?/[^\s'\":,;|<>()\[\]{}]+|\b[A-Za-z]:\\[^\s'\"]+"),
}
# Shorter names occur in other words too.
_WORD_MIN = 3
# Host and user names of a machine without its own.
_NO_NAMES = {"localhost", "root", "none", "unknown", ""}


def anonymous(objects: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The same record without the names of persons and machines."""
    # Placeholders are numbered in the order of the sorted keys, so that equal records stay equal.
    kept = json.loads(canonical(list(objects)))
    stamps = Stamps(kept)
    kept = [stamps.moved(one) for one in kept]
    names = _Names()
    for word, what in _own_names():
        names.word(word, what)
    for one in kept:
        _collect(one, names)
        names.target(_measured_path(one))
    return [{key: _cleaned(value, key, names) for key, value in one.items()} for one in kept]


class _Names:
    """The placeholder of each value."""

    def __init__(self) -> None:
        self.known: dict[str, str] = {}
        self.words: dict[str, str] = {}
        self.counts: dict[str, int] = {}
        self.pattern: re.Pattern[str] | None = None
        self.targets: dict[str, str] = {}
        self.target_pattern: re.Pattern[str] | None = None

    def named(self, value: str, what: str) -> str:
        """The placeholder of a value."""
        if value not in self.known:
            self.counts[what] = self.counts.get(what, 0) + 1
            self.known[value] = f"{what}-{self.counts[what]}"
        return self.known[value]

    def word(self, value: str, what: str) -> None:
        """A value that must also be removed from other texts."""
        if len(value) >= _WORD_MIN and value.lower() not in _NO_NAMES:
            self.words[value] = self.named(value, what)
            longest = sorted(self.words, key=len, reverse=True)
            self.pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest))})(?!\w)")

    def target(self, path: str) -> None:
        """The path of what was measured: a bare or a relative name is not known by its form."""
        if not path:
            return
        self.targets[path] = self.named(path, "path")
        self.known.setdefault(f"./{path}", self.known[path])
        longest = "|".join(re.escape(one) for one in sorted(self.targets, key=len, reverse=True))
        self.target_pattern = re.compile(rf"(?<![\w./~-])(?:\./)?({longest})(?![\w/-]|\.\w)")

    def without(self, text: str) -> str:
        """A text without the words, addresses, paths and times."""
        text = without_times(text)
        # A single word is often a key or a code, `read`, and a file may have that name.
        if self.target_pattern and re.search(r"\s", text):
            text = self.target_pattern.sub(lambda found: self.targets[found[1]], text)
        if self.pattern:
            text = self.pattern.sub(lambda found: self.words[found[0]], text)
        for what, form in _FORMS.items():
            text = form.sub(lambda found, what=what: self.named(found[0], what), text)  # type: ignore[misc]
        return text


def _measured_path(document: Mapping[str, Any]) -> str:
    """The path of the target of a measured record; empty if it has none."""
    found: object = document
    for key in ("environment", "target", "path"):
        found = found.get(key) if isinstance(found, Mapping) else None
    return found if isinstance(found, str) else ""


def _own_names() -> list[tuple[str, str]]:
    """The names of the machine and the user of this process."""
    host = socket.gethostname()
    found = [(host, "host"), (host.partition(".")[0], "host")]
    # A user without a name has none to remove.
    with contextlib.suppress(KeyError, OSError):
        found.append((getpass.getuser(), "user"))
    return found


def _key(key: str) -> str:
    return re.sub(r"[\s_-]", "", key.rpartition(".")[2]).lower()


def _collect(value: object, names: _Names) -> None:
    """Collect the values that are identified by their keys, wherever they are."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            what = _KEYS.get(_key(str(key)))
            if (
                what in {"host", "user", "serial"}
                and isinstance(inner, str | int)
                and not isinstance(inner, bool)
            ):
                names.word(str(inner), what or "")
            else:
                _collect(inner, names)
    elif isinstance(value, list):
        for inner in value:
            _collect(inner, names)


def _cleaned(value: Any, key: str, names: _Names) -> Any:  # noqa: ANN401 - whatever JSON has
    what = _KEYS.get(_key(key))
    if isinstance(value, Mapping):
        return {names.without(str(inner)): _cleaned(one, str(inner), names) for inner, one in value.items()}
    if isinstance(value, list):
        return [_cleaned(one, key, names) for one in value]
    if isinstance(value, str):
        if _key(key) in _NO_TEXTS:
            return value
        if key == "target" and value in names.targets:
            return names.targets[value]
        is_whole = what and value and (_key(key) not in _PATHS_BY_FORM or re.search(r"[/\\]", value))
        return names.named(value, what or "") if is_whole else names.without(value)
    if what in {"host", "user", "serial"} and isinstance(value, int) and not isinstance(value, bool):
        return names.named(str(value), what or "")
    return value
