"""The placement of blocks: a layout `dm_layout_g4` as the `patterns` of a drive file's section `geometry`.

`TP` lists kinds of tracks, `IDX` nodes; a node is a sequence of entries, each a track or a lower node repeated. `len`
is the number of slots that an instance uses of it, `runlen` the total of all instances. Where an instance uses only a
part, or the total is not a whole number of instances, a drive file needs a shorter pattern: one is made of the node's
first slots. The last node is the drive.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, TypeAlias

from drivelab.disksim.parameters import Parameters, as_count, as_number, wrong
from drivelab.disksim.syntax import Block, Entry, Word
from drivelab.disksim.text import Place

G4 = "dm_layout_g4"
# No drive has more of these: a description of a few lines could request any number.
_RUNS_MAX = 2**19
_SECTORS_MAX = 65535
_BLOCKS_MAX = 2**60
_COUNT_MAX = 2**22
_DEPTH_MAX = 32
_WHOLE_TURN = 1 - Decimal(2) ** -33
_NUMBERS = ("lbn", "cyl", "off", "len", "cyllen", "alen", "runlen", "cylrunlen")

Run: TypeAlias = dict[str, Any]
"""An entry of a drive file's `geometry.patterns[].runs`."""


@dataclass(frozen=True)
class _Track:
    """A kind of tracks: sectors `low` to `high` of `per_track` hold blocks."""

    low: int
    high: int
    per_track: int


@dataclass(frozen=True)
class _Entry:
    """A track or a node, repeated."""

    place: Place
    cylinder: int
    offset: Decimal
    each: int
    step: int
    skew: Decimal
    slots: int
    child: int
    """The index of a kind of tracks, or of a node."""
    head: int | None
    """None if the child is a node."""


@dataclass
class Patterns:
    """A whole drive's layout in the terms of a drive file."""

    patterns: list[list[Run]] = field(default_factory=list)
    skips: list[list[int]] = field(default_factory=list)
    blocks: int = 0
    """Blocks that all tracks hold together."""


def patterns(block: Block, heads: int) -> Patterns:
    """The layout of a drive with this many heads."""
    whole = Parameters(block)
    tracks = list(_tracks(whole))
    nodes = _nodes(whole, tracks, heads)
    if not nodes:
        raise whole.wrong("IDX", "there is no node")
    found = Patterns()
    if whole.items("Remaps"):
        raise whole.wrong("Remaps", "blocks that are mapped elsewhere cannot be imported")
    slots = sum(entry.slots for entry in nodes[-1])
    found.skips = list(_skips(whole, slots))
    found.blocks = slots - sum(count for _, count in found.skips)
    if found.blocks < 1:
        raise whole.wrong("Slips", "they leave no block")
    whole.check_all_known()
    _Writer(nodes, tracks, found.patterns).write(len(nodes) - 1, slots, nodes[-1][0].place)
    return found


def _tracks(whole: Parameters) -> Iterator[_Track]:
    for low, high, per_track in _groups(whole, "TP", 3):
        track = _Track(as_count(low), as_count(high), as_count(per_track, 1))
        if not track.low <= track.high < track.per_track <= _SECTORS_MAX:
            what = f"{track.low} to {track.high} of {track.per_track} sectors"
            raise low.place.error(f"no track holds its blocks in sectors {what}")
        yield track


def _groups(whole: Parameters, key: str, each: int) -> Iterator[Sequence[Entry]]:
    items = whole.items(key)
    if len(items) % each:
        raise whole.wrong(key, f"groups of {each} numbers are wanted")
    for first in range(0, len(items), each):
        yield items[first : first + each]


def _skips(whole: Parameters, slots: int) -> Iterator[list[int]]:
    """Slots that hold no block. A slip skips its number of slots from its position on."""
    end = 0
    for position, count in _groups(whole, "Slips", 2):
        skip = [as_count(position), as_count(count, 1)]
        if skip[0] < end:
            raise wrong(position, "a slip begins before the one before it ends")
        end = sum(skip)
        if end > slots:
            raise wrong(position, f"a slip is behind the layout's {slots} slots")
        yield skip


def _nodes(whole: Parameters, tracks: Sequence[_Track], heads: int) -> list[list[_Entry]]:
    nodes: list[list[_Entry]] = []
    listed = whole.items("IDX")
    total = 0
    for number, node in enumerate(listed):
        items = Parameters.list_of(node)
        entries = list(_entries(node.place, items, number, nodes, tracks, heads))
        total += len(entries)
        if not entries:
            raise node.place.error(f"node {number} has no entries")
        if total > _RUNS_MAX:
            raise node.place.error(f"more than {_RUNS_MAX} entries: no drive needs so many")
        nodes.append(entries)
    return nodes


def _entries(
    node: Place,
    items: Sequence[Entry],
    number: int,
    below: Sequence[Sequence[_Entry]],
    tracks: Sequence[_Track],
    heads: int,
) -> Iterator[_Entry]:
    at, end = 0, 0
    while at < len(items):
        place = items[at].place
        kind = items[at + 8].value if at + 8 < len(items) else None
        length = {Word("IDX"): 10, Word("TRACK"): 11}.get(kind) if isinstance(kind, Word) else None
        if length is None or at + length > len(items):
            wanted = f"{', '.join(_NUMBERS)}, then IDX and a node, or TRACK, a kind of tracks and a head"
            raise place.error(f"an entry of node {number} is not {wanted}")
        given = items[at : at + length]
        entry = _entry(given, number, below, tracks, heads)
        if as_count(given[0]) != end:
            raise wrong(given[0], f"the entries of node {number} do not follow each other: {end} is wanted")
        end += entry.slots
        if end > _BLOCKS_MAX:
            raise place.error(f"node {number} has more slots than any drive")
        at += length
        yield entry
    if not items:
        raise node.error(f"node {number} is empty")


def _entry(
    given: Sequence[Entry],
    number: int,
    below: Sequence[Sequence[_Entry]],
    tracks: Sequence[_Track],
    heads: int,
) -> _Entry:
    each, slots = as_count(given[3], 1), as_count(given[6], 1)
    child = as_count(given[9])
    head = as_count(given[10]) if len(given) == 11 else None
    if head is None:
        if child >= number:
            raise wrong(given[9], f"node {number} can only repeat nodes that stand before it")
        holds = sum(entry.slots for entry in below[child])
    else:
        if child >= len(tracks):
            raise wrong(given[9], f"there are {len(tracks)} kinds of tracks")
        if head >= heads:
            raise wrong(given[10], f"the drive has {heads} heads")
        holds = tracks[child].high - tracks[child].low + 1
    if each > holds:
        raise wrong(given[3], f"what it repeats holds {holds}")
    if -(-slots // each) > _COUNT_MAX:
        raise wrong(given[6], f"no drive has more than {_COUNT_MAX} cylinders")
    step = as_count(given[4])
    if step > _COUNT_MAX or as_count(given[1]) > _COUNT_MAX:
        raise given[1].place.error(f"no drive has more than {_COUNT_MAX} cylinders")
    return _Entry(
        place=given[0].place,
        cylinder=as_count(given[1]),
        offset=as_number(given[2]),
        each=each,
        # A negative value counts downwards from the first; the number of cylinders follows from the rest.
        step=-step if as_number(given[7]) < 0 else step,
        skew=as_number(given[5]),
        slots=slots,
        child=child,
        head=head,
    )


class _Writer:
    """Writes nodes as patterns, each after those that it repeats, and only those that the drive needs."""

    def __init__(
        self, nodes: Sequence[Sequence[_Entry]], tracks: Sequence[_Track], out: list[list[Run]]
    ) -> None:
        self.nodes = nodes
        self.tracks = tracks
        self.out = out
        self.known: dict[tuple[int, int], int] = {}
        self.runs = 0

    def write(self, node: int, slots: int, place: Place, depth: int = 1) -> int:
        """The index of the pattern of a node's first slots."""
        if (node, slots) in self.known:
            return self.known[node, slots]
        if depth > _DEPTH_MAX:
            raise place.error(f"nodes lie more than {_DEPTH_MAX} deep in each other")
        runs: list[Run] = []
        left = slots
        for entry in self.nodes[node]:
            if not left:
                break
            taken = min(left, entry.slots)
            left -= taken
            runs += self._runs(entry, taken, depth)
        self.runs += len(runs)
        if self.runs > _RUNS_MAX:
            raise place.error(f"more than {_RUNS_MAX} runs: no drive needs so many")
        self.out.append(runs)
        self.known[node, slots] = len(self.out) - 1
        return self.known[node, slots]

    def _runs(self, entry: _Entry, slots: int, depth: int) -> Iterator[Run]:
        """This many slots of an entry: whole instances, and the beginning of one more."""
        count, rest = divmod(slots, entry.each)
        if count:
            yield self._run(entry, 0, count, entry.each, depth)
        if rest:
            yield self._run(entry, count, 1, rest, depth)

    def _run(self, entry: _Entry, first: int, count: int, slots: int, depth: int) -> Run:
        run: Run
        if entry.head is None:
            run = {"pattern": self.write(entry.child, slots, entry.place, depth + 1)}
        else:
            track = self.tracks[entry.child]
            run = {"head": entry.head, "sectors_per_track": track.per_track}
            if track.low:
                run["first_sector"] = track.low
            if slots < track.per_track - track.low:
                run["sectors"] = slots
        cylinder = entry.cylinder + first * entry.step
        if cylinder < 0:
            raise entry.place.error("it runs below the cylinder that its node begins at")
        run |= {"cylinder": cylinder} if cylinder else {}
        start = _turns(entry.offset + first * entry.skew)
        run |= {"start": start} if start != "0rev" else {}
        if count > 1:
            run["count"] = count
            run |= {"step": abs(entry.step)} if abs(entry.step) != 1 else {}
            run |= {"back": True} if entry.step < 0 else {}
            skew = _turns(entry.skew)
            run |= {"skew": skew} if skew != "0rev" else {}
        return run


def _turns(angle: Decimal) -> str:
    """An angle as a drive file writes it, modulo one revolution."""
    turned = angle % 1 + (1 if angle % 1 < 0 else 0)
    # An angle closer to a revolution than the resolution of a drive file's angles counts as a whole one.
    text = f"{Decimal(0) if turned > _WHOLE_TURN else turned:.12f}"
    return text.rstrip("0").rstrip(".") + "rev"
