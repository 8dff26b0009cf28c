"""What a shell offers behind an option: names of the catalogue, and the names that a key of a scenario takes.

A list is a sweep, so the last name of `a,b` is the one that is completed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from drivelab import _core
from drivelab.scenarios import reference

Complete = Callable[[str], list[str]]


def _offering(names: Callable[[], Iterable[str]]) -> Complete:
    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        return [f"{before}{comma}{name}" for name in names() if name.startswith(last)]

    return complete


def _of_catalogue(kind: str) -> Complete:
    return _offering(lambda: [entry["name"] for entry in _core.entries(kind)])


def _of_key(*path: str) -> Complete:
    """The names that the schema has for a key."""
    return _offering(lambda: _choices(_node(path)))


@cache
def _schema() -> dict[str, Any]:
    return _core.schema()


def _node(path: Iterable[str]) -> dict[str, Any]:
    found = _schema()
    for name in path:
        found = next(one["properties"][name] for one in _below(found) if name in one.get("properties", {}))
    return found


def _below(node: dict[str, Any]) -> Iterable[dict[str, Any]]:
    """A part of the schema, and the parts that may stand in its place."""
    if reference := node.get("$ref"):
        target = _schema()
        for name in reference.removeprefix("#/").split("/"):
            target = target[name]
        yield from _below(target)
    yield node
    for other in (*node.get("anyOf", ()), *node.get("oneOf", ())):
        yield from _below(other)


def _choices(node: dict[str, Any]) -> list[str]:
    names = [
        name
        for one in _below(node)
        for name in (*one.get("enum", ()), *([one["const"]] if "const" in one else ()))
        if isinstance(name, str)
    ]
    return list(dict.fromkeys(names))


drives = _of_catalogue("drives")
controllers = _of_catalogue("controllers")
patterns = _of_catalogue("workloads")
experiments = _offering(_core.experiments)
everything = _offering(lambda: [entry["name"] for kind in _core.kinds() for entry in _core.entries(kind)])
kinds = _of_key("workload", "rw")
loads = _offering(lambda: ["read", "write", "rw", "randread", "randwrite", "randrw"])
surface_kinds = _offering(lambda: ["read", "write"])
levels = _of_key("target", "array", "level")
paces = _of_key("workload", "trace", "pace")
remaps = _of_key("workload", "trace", "remap")
rate_processes = _of_key("workload", "rate_process")


def _help_topics() -> Iterable[str]:
    """Everything that `drivelab help` explains by one word, but the verbs."""
    sections = reference.all_sections()
    keys = [key.path for section in sections.values() for key in section.keys.values()]
    one_word = [term for term in reference.terms() if " " not in term]
    return dict.fromkeys([*(path for path in sections if path), *keys, *reference.topics(), *one_word])


def settings(incomplete: str) -> list[str]:
    """KEY= for `--set`."""
    if "=" in incomplete:
        return []
    sections = reference.all_sections()
    keys = [key.path for section in sections.values() for key in section.keys.values()]
    return [f"{key}=" for key in keys if key.startswith(incomplete)]


def help_topics(incomplete: str) -> list[str]:
    """What `drivelab help` knows."""
    return [name for name in _help_topics() if name.startswith(incomplete)]


distributions = _offering(lambda: ["random", "zipf:", "pareto:", "normal:", "zoned:", "zoned_abs:"])
