"""The parameters of one block, read by type. Every error names the parameter, its file and its line."""

from __future__ import annotations

from decimal import ROUND_DOWN, Decimal
from difflib import get_close_matches

from drivelab.disksim.syntax import Block, Entry, Items, Word
from drivelab.disksim.text import DisksimError, Place

# Maximum number of characters of a value in a message.
_SHOWN_MAX = 60


class Parameters:
    """The parameters of a block. Those that were never read are reported as unknown."""

    def __init__(self, block: Block) -> None:
        """Take a block."""
        self.block = block
        self._asked: set[str] = set()

    def has(self, key: str) -> bool:
        """Whether a parameter is present."""
        self._asked.add(key)
        return key in self.block.entries

    def entry(self, key: str) -> Entry:
        """A required parameter."""
        if not self.has(key):
            what = f"{self.block.type} {self.block.name}".rstrip()
            raise self.block.place.error(f"{what} has no parameter {key!r}")
        return self.block.entries[key]

    def place(self, key: str) -> Place:
        """The place of a parameter."""
        return self.entry(key).place

    def number(self, key: str) -> Decimal:
        """A number."""
        return as_number(self.entry(key))

    def time(self, key: str) -> Decimal:
        """Milliseconds, zero or more."""
        number = self.number(key)
        if number < 0:
            raise self.wrong(key, "a time is not negative")
        return number

    def count(self, key: str, least: int = 0) -> int:
        """An integer from `least` on; DiskSim truncates a number with a fraction."""
        return as_count(self.entry(key), least)

    def flag(self, key: str) -> bool:
        """0 or 1."""
        number = self.number(key)
        if number not in (0, 1):
            raise self.wrong(key, "0 or 1 is wanted")
        return number == 1

    def one_of(self, key: str, values: tuple[int, ...]) -> int:
        """One of a few integers."""
        number = self.number(key)
        if number not in values:
            *first, last = map(str, values)
            raise self.wrong(key, f"{', '.join(first)} or {last} is wanted")
        return int(number)

    def word(self, key: str) -> str:
        """A name."""
        match self.entry(key).value:
            case Word(text):
                return text
        raise self.wrong(key, "a name is wanted")

    def within(self, key: str) -> Block:
        """A block."""
        match self.entry(key).value:
            case Block() as block:
                return block
        raise self.wrong(key, "a block is wanted: type { .. }, or source FILE")

    def items(self, key: str) -> list[Entry]:
        """A list."""
        match self.entry(key).value:
            case Items(items):
                return items
        raise self.wrong(key, "a list is wanted: [ .. ]")

    @staticmethod
    def list_of(entry: Entry) -> list[Entry]:
        """A list in a list."""
        match entry.value:
            case Items(items):
                return items
        raise wrong(entry, "a list is wanted: [ .. ]")

    def only(self, key: str, value: int, why: str) -> None:
        """Refuse any other value of a parameter, if it is present: it asks for something that is not modelled."""
        if self.has(key) and self.number(key) != value:
            raise self.wrong(key, f"only {value} can be imported: {why}")

    def ignore(self, *keys: str) -> None:
        """Accept parameters that have no effect."""
        self._asked.update(keys)

    def check_all_known(self) -> None:
        """Refuse parameters that were never read."""
        for entry in self.block.entries.values():
            if entry.key not in self._asked:
                key = entry.key[:_SHOWN_MAX]
                close = get_close_matches(key, self._asked, n=1)
                hint = f"; did you mean {close[0]!r}?" if close else ""
                raise entry.place.error(f"{self.block.type} has no parameter {key!r}{hint}")

    def wrong(self, key: str, what: str) -> DisksimError:
        """A parameter whose value cannot be used."""
        return wrong(self.entry(key), what)


def wrong(entry: Entry, what: str) -> DisksimError:
    """A value that cannot be used."""
    return entry.place.error(f"{entry.key!r} is {_shown(entry)}: {what}")


def _shown(entry: Entry) -> str:
    match entry.value:
        case Items(items):
            return f"a list of {len(items)}"
        case Block(type_):
            return f"a block {type_}"
        case value:
            text = str(value)
            return text if len(text) <= _SHOWN_MAX else text[: _SHOWN_MAX - 3] + "..."


def as_number(entry: Entry) -> Decimal:
    """A value as a number."""
    if isinstance(entry.value, Decimal):
        return entry.value
    raise wrong(entry, "a number is wanted")


def as_count(entry: Entry, least: int = 0) -> int:
    """A value as an integer from `least` on."""
    number = as_number(entry)
    if not least <= number < 2**63:
        raise wrong(entry, f"a whole number from {least} on is wanted")
    return int(number.to_integral_value(ROUND_DOWN))
