"""`drivelab help`: a verb, a key, a section, a topic or a term of the glossary, explained."""

from __future__ import annotations

import difflib
import re
from typing import Annotated, Any

import typer

from drivelab.cli import completion
from drivelab.cli.exits import Exit
from drivelab.cli.output import emit, emit_json
from drivelab.cli.run_options import Quiet
from drivelab.errors import InputError
from drivelab.scenarios import reference
from drivelab.scenarios.reference import Key, Section

# The keys of any job are those of the reference's one.
JOB = re.compile(r"^(workload\.job\.)[^.]+")


def help_(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TOPIC]",
            help="A verb, a key, a section, a column, a topic, or a term",
            autocompletion=completion.help_topics,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The same as JSON")] = False,
    quiet: Quiet = False,  # noqa: ARG001 - every verb has it
) -> int:
    """Explain a verb, a key such as target.queue.order, a section, or a term such as SPTF."""
    verbs = _verbs(context)
    topic = " ".join(words) if words else None
    if topic in verbs:
        command = verbs[topic]
        # Its own help, as `drivelab VERB --help` prints it.
        with typer.Context(command, info_name=topic, parent=context.parent) as inner:
            emit(command.get_help(inner))
        return Exit.OK
    explained = _index(verbs) if topic is None else _explained(topic, list(verbs))
    if as_json:
        emit_json(explained)
    else:
        emit(_text(explained))
    return Exit.OK


def _verbs(context: typer.Context) -> dict[str, Any]:
    group = context.find_root().command
    return dict(group.commands)  # type: ignore[attr-defined]


def _index(verbs: dict[str, Any]) -> dict[str, Any]:
    return {
        "verbs": {name: command.get_short_help_str(90) for name, command in verbs.items()},
        "sections": sorted(path for path in reference.all_sections() if path),
        "topics": list(reference.topics()),
    }


def _explained(topic: str, verbs: list[str]) -> dict[str, Any]:
    """What is known under a name; an error with what is near where there is nothing."""
    sections = reference.all_sections()
    keys = {key.path: key for section in sections.values() for key in section.keys.values()}
    topics, terms = reference.topics(), reference.terms()
    # A job has any name; keys of a drive file may be written as they stand in one.
    topic = JOB.sub(r"\1NAME", topic)
    for path in (topic, reference.DRIVE + topic):
        if path in sections and path:
            return _of_section(sections[path])
        if path in keys:
            return _of_key(keys[path])
    if topic.lower() in topics:
        return {"topic": topic.lower(), "text": topics[topic.lower()]}
    plain = reference.found_term(topic, terms)
    ending = sorted(path for path in keys if path.endswith(f".{topic}"))
    if plain is not None:
        found: dict[str, Any] = {"term": topic, "meaning": terms[plain]}
        # What a result calls so, and a scenario too.
        return found | ({"keys": [_of_key(keys[path]) for path in ending]} if ending else {})
    if ending:
        return {"keys": [_of_key(keys[path]) for path in ending]}
    known = dict.fromkeys([*verbs, *sections, *keys, *topics, *terms])
    near = difflib.get_close_matches(topic, known, n=3)
    remedy = f"did you mean {' or '.join(near)}?" if near else "`drivelab help` lists what there is"
    raise InputError(f"nothing is known under {topic!r}: {remedy}")


def _of_key(key: Key) -> dict[str, Any]:
    found: dict[str, Any] = {"key": key.path, "meaning": key.meaning, "value": key.value}
    if key.default:
        found["left out"] = key.default
    if key.names:
        found["names"] = dict(key.names)
    return found


def _of_section(section: Section) -> dict[str, Any]:
    return {
        "section": section.path,
        "meaning": section.meaning,
        "keys": [_of_key(key) for key in section.keys.values()],
    }


def _text(explained: dict[str, Any]) -> str:
    """The same for people."""
    if "verbs" in explained:
        verbs = [f"  {name:16}{words}" for name, words in explained["verbs"].items()]
        lines = ["Verbs:", *verbs, "", "Sections, each with its keys:"]
        lines += [f"  {path}" for path in explained["sections"]]
        lines += ["", f"Topics: {', '.join(explained['topics'])}; any term of the glossary, such as sptf"]
        return "\n".join(lines)
    if "text" in explained:
        return str(explained["text"])
    if "term" in explained:
        text = f"{explained['term']}: {explained['meaning']}"
        return "\n\n".join([text, *(_key_text(key, short=False) for key in explained.get("keys", ()))])
    if "section" in explained:
        head = [f"[{explained['section']}]", explained["meaning"], ""]
        return "\n".join([*head, *(_key_text(key, short=True) for key in explained["keys"])])
    keys = explained.get("keys", [explained])
    return "\n\n".join(_key_text(key, short=False) for key in keys)


def _key_text(key: dict[str, Any], *, short: bool) -> str:
    name = key["key"].rsplit(".", 1)[-1] if short else key["key"]
    value = f"{key['value']}".replace("`", "")
    left_out = f"; left out: {key['left out']}" if "left out" in key else ""
    lines = [f"{name}: {key['meaning']}", f"    {value}{left_out}".replace("`", "")]
    if not short:
        lines += [f"    {name}: {words}" for name, words in key.get("names", {}).items()]
    return "\n".join(lines)
