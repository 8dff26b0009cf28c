"""The block syntax of DiskSim's parameter files: from text to blocks of named values, each with its place.

    type name { key = value, key = value }

Keys contain blanks and signs. A value is a number, a word, a list `[a, b]` in which `disk0 .. disk3` stands for four
names, a block `type { .. }`, or `source FILE`:
one block from that file, whose path is relative to the folder of the file that names it. Besides blocks a file
contains `source FILE` (its blocks and statements), `instantiate [ device ] as BLOCK` and a topology.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TypeAlias

from drivelab.disksim.text import SIGNS, Place, Text
from drivelab.errors import InputError
from drivelab.host.files import read_text

_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
# Nesting of files and of blocks: deeper than in any description, and far from the interpreter's own limit.
_DEPTH_MAX = 24
# Far more than any description has: files that include each other repeatedly would never end.
_FILES_MAX = 64
_SIZE_MAX_BYTES = 4 * 2**20
# A name with a number: an end of a range.
_NUMBERED = re.compile(r"(\D+)(\d{1,9})")
# Maximum number of names in a range: more devices than any description has.
_RANGE_MAX = 4096
# Maximum number of digits before or after the point of any figure of a drive other than zero.
_MAGNITUDE_MAX = 15
# Maximum number of characters of a text in a message.
_SHOWN_MAX = 60


@dataclass(frozen=True)
class Word:
    """A word as a value: a name, or the path of a file."""

    text: str

    def __str__(self) -> str:
        """As it was written."""
        return self.text


@dataclass(frozen=True)
class Items:
    """A list of values, each with its place."""

    items: list[Entry]


@dataclass(frozen=True)
class Block:
    """`type name { .. }`; without a name if it is the value of a key."""

    type: str
    name: str
    entries: dict[str, Entry]
    place: Place


Value: TypeAlias = Decimal | Word | Items | Block


@dataclass(frozen=True)
class Entry:
    """A value and its place; `key` is empty in a list."""

    key: str
    value: Value
    place: Place


@dataclass(frozen=True)
class Node:
    """A component of the topology with the components below it."""

    type: str
    name: str
    place: Place
    below: list[Node]

    def walk(self, above: tuple[Node, ...] = ()) -> Iterator[tuple[Node, ...]]:
        """This node and all below it, each as its path from the top."""
        way = (*above, self)
        yield way
        for node in self.below:
            yield from node.walk(way)


@dataclass
class Description:
    """The contents of a file and of those that it names."""

    blocks: dict[str, Block] = field(default_factory=dict)
    instances: dict[str, Entry] = field(default_factory=dict)
    """The name of each device's block."""
    topology: Node | None = None
    files: list[Path] = field(default_factory=list)


def read(path: Path) -> Description:
    """Read a file with those that it names. Raises DisksimError, or InputError if it does not exist."""
    description = Description()
    _Parser(path, _small_text(path), description, 0).statements()
    return description


def _small_text(path: Path) -> str:
    """The text of a file. Raises InputError if it is longer than any description of a drive."""
    text = read_text(path)
    if len(text) > _SIZE_MAX_BYTES:
        raise InputError(f"cannot read {path}: larger than 4 MiB, so it describes no drive")
    return text


class _Parser:
    """One file being read into a description."""

    def __init__(self, path: Path, text: str, description: Description, depth: int) -> None:
        self.text = Text(path, text)
        self.description = description
        self.depth = depth
        description.files.append(path)

    def statements(self) -> None:
        """Blocks and statements up to the end of the file."""
        while not self.text.at_end():
            place = self.text.place()
            match self.text.word():
                case "source":
                    self._source(place).statements()
                case "instantiate":
                    self._instantiate(place)
                case "topology":
                    self.description.topology = self._node(place)
                case "":
                    raise place.error(f"no statement begins with {self.text.peek()!r}")
                case type_:
                    self._add(self._block(type_, self._name(f"after {type_}"), place))

    def one_block(self) -> Block:
        """The one block of a file that is the value of a key."""
        place = self.text.place()
        type_ = self._name("at the begin of the file")
        block = self._block(type_, self.text.word(), place)
        if not self.text.at_end():
            raise self.text.place().error("there is more than one block in the file")
        return block

    @contextmanager
    def _inside(self, place: Place) -> Iterator[None]:
        if self.depth == _DEPTH_MAX:
            raise place.error("blocks, lists and files lie too deep in each other")
        self.depth += 1
        yield
        self.depth -= 1

    def _name(self, where: str) -> str:
        place = self.text.place()
        if name := self.text.word():
            return name
        raise place.error(f"a name is missing {where}")

    def _source(self, place: Place) -> _Parser:
        with self._inside(place):
            path = place.path.parent / self._name("after source")
            if len(self.description.files) == _FILES_MAX:
                raise place.error(f"more than {_FILES_MAX} files are named; a description has a handful")
            try:
                text = _small_text(path)
            except InputError as error:
                raise place.error(str(error)) from error
            return _Parser(path, text, self.description, self.depth)

    def _add(self, block: Block) -> None:
        if before := self.description.blocks.get(block.name):
            raise block.place.error(f"there is a block {block.name} already, in {before.place}")
        self.description.blocks[block.name] = block

    def _instantiate(self, place: Place) -> None:
        self.text.expect("[", "after instantiate")
        words = self.text.until(SIGNS.replace(",", "")).replace(",", " ").replace("..", " .. ").split()
        devices: list[str] = []
        for at, word in enumerate(words):
            if at and words[at - 1] == "..":
                devices += names_between(place, devices.pop() if devices else "", word)
            elif word != "..":
                devices.append(word)
        if words and words[-1] == "..":
            raise place.error(f"the last device after {words[-2] if len(words) > 1 else ''} .. is missing")
        self.text.expect("]", "after the devices")
        if self.text.word() != "as":
            raise place.error("write instantiate [ device ] as BLOCK")
        name = self._name("after as")
        for device in devices:
            self.description.instances[device] = Entry(device, Word(name), place)

    def _node(self, place: Place) -> Node:
        with self._inside(place):
            type_, name = self._name("in the topology"), self._name("in the topology")
            self.text.expect("[", f"after {name}")
            below = []
            while not self.text.take("]"):
                below.append(self._node(self.text.place()))
                self.text.take(",")
            return Node(type_, name, place, below)

    def _block(self, type_: str, name: str, place: Place) -> Block:
        with self._inside(place):
            self.text.expect("{", f"after {name or type_}")
            entries: dict[str, Entry] = {}
            while not self.text.take("}"):
                entry = self._entry(type_)
                if before := entries.get(entry.key):
                    raise entry.place.error(
                        f"{_shortened(entry.key)} is there already, in line {before.place.line}"
                    )
                entries[entry.key] = entry
                self._comma(entry.key, "}")
            return Block(type_, name, entries, place)

    def _entry(self, type_: str) -> Entry:
        place = self.text.place()
        key = self.text.until(SIGNS)
        if not key:
            raise place.error(f"the name of a parameter of {type_} is missing")
        self.text.expect("=", f"after {_shortened(key)}")
        return Entry(key, self._value(key), place)

    def _value(self, key: str) -> Value:
        place = self.text.place()
        if self.text.take("["):
            return self._items(key, place)
        word = self.text.word()
        if word == "source":
            return self._source(place).one_block()
        if self.text.peek() == "{":
            return self._block(word, "", place)
        if not word:
            raise place.error(f"{_shortened(key)} has no value")
        return _plain(place, key, word)

    def _items(self, key: str, place: Place) -> Items:
        with self._inside(place):
            items = []
            while not self.text.take("]"):
                found = self.text.item()
                inside = found[0] if found else self.text.place()
                value = _plain(inside, key, found[1]) if found else self._value(key)
                items += [
                    Entry("", each, inside) for each in self._range(inside, value, has_comma=bool(found))
                ]
                if not found:
                    self._comma(key, "]")
            return Items(items)

    def _range(self, place: Place, value: Value, *, has_comma: bool) -> list[Value]:
        """The names that a range in a list stands for; any other value is itself."""
        if not isinstance(value, Word):
            return [value]
        first, dots, last = value.text.partition("..")
        if not dots and not has_comma and self.text.take_dots():
            first, dots, last = value.text, "..", self.text.word()
        elif dots and not last and not has_comma:
            last = self.text.word()
        if not dots or not first or "/" in value.text:
            return [value]
        return [Word(name) for name in names_between(place, first, last)]

    def _comma(self, key: str, end: str) -> None:
        if not self.text.take(",") and self.text.peek() != end:
            missing = repr(end) if self.text.at_end() else "a comma"
            raise self.text.place().error(f"{missing} is missing after the value of {_shortened(key)}")


def names_between(place: Place, first: str, last: str) -> list[str]:
    """The names of a range such as disk0 .. disk17. Raises DisksimError."""
    begin, end = (_NUMBERED.fullmatch(name) for name in (first, last))
    if begin is None or end is None or begin[1] != end[1]:
        raise place.error(
            f"{_shortened(f'{first} .. {last}')} is no range; write one such as disk0 .. disk17"
        )
    low, high = int(begin[2]), int(end[2])
    if not low <= high < low + _RANGE_MAX:
        raise place.error(
            f"{_shortened(f'{first} .. {last}')}: a range goes up, by {_RANGE_MAX} names at most"
        )
    return [f"{begin[1]}{at}" for at in range(low, high + 1)]


def _plain(place: Place, key: str, word: str) -> Value:
    """A value of one word."""
    return number(place, key, word) if _NUMBER.fullmatch(word) else Word(word)


def number(place: Place, key: str, word: str) -> Decimal:
    """The number that a word stands for. Raises DisksimError for one that no figure of a drive can have."""
    try:
        found = Decimal(word)
    except InvalidOperation:  # an exponent that the interpreter has no room for
        found = Decimal("Infinity")
    if not found:
        return Decimal(0)
    # The exponent is checked first: any arithmetic with an exponent of nine digits overflows, or never ends.
    if len(word) > _SHOWN_MAX or not found.is_finite() or abs(found.adjusted()) > _MAGNITUDE_MAX:
        what = f"{_shortened(key)} is {_shortened(word)[1:-1]}"
        raise place.error(f"{what}: no figure of a drive has such a size; write one from 1e-15 to 1e15")
    return found


def _shortened(text: str) -> str:
    return repr(text if len(text) <= _SHOWN_MAX else text[: _SHOWN_MAX - 3] + "...")
