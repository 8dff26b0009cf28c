"""What the import of `dm_layout_g4` is compared with: DiskSim's own way through such a layout, block by block.

The text is read here without the importer's parser, and nothing is turned into a drive file.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate

from hypothesis import strategies as st

Place = tuple[int, int, int, Fraction]
"""Cylinder, head, sector and angle."""


@dataclass(frozen=True)
class Entry:
    """A track or a node, repeated."""

    lbn: int
    cyl: int
    off: Fraction
    len: int
    cyllen: int
    alen: Fraction
    runlen: int
    cylrunlen: int
    child: int
    head: int | None
    """None where the child is a node."""

    def text(self) -> str:
        """As the file has it."""
        what = f"IDX, {self.child}" if self.head is None else f"TRACK, {self.child}, {self.head}"
        off, alen = (f"{float(angle):.6f}" for angle in (self.off, self.alen))
        numbers = (self.lbn, self.cyl, off, self.len, self.cyllen, alen, self.runlen, self.cylrunlen)
        return ", ".join(map(str, (*numbers, what)))


@dataclass(frozen=True)
class G4:
    """A layout."""

    tracks: list[tuple[int, int, int]]
    nodes: list[list[Entry]]
    slips: list[tuple[int, int]]

    @property
    def slots(self) -> int:
        """Of the whole drive."""
        last = self.nodes[-1][-1]
        return last.lbn + last.runlen

    @property
    def blocks(self) -> int:
        """The same without those that hold none."""
        return self.slots - sum(count for _, count in self.slips)

    def place(self, lbn: int) -> Place:
        """Where DiskSim has a block."""
        begins, skipped = self._slipped
        return self.place_of_slot(lbn + skipped[bisect_right(begins, lbn)])

    @cached_property
    def _slipped(self) -> tuple[list[int], list[int]]:
        """The first block after each slip, and the slots that hold none before as many slips."""
        skipped = [0, *accumulate(count for _, count in self.slips)]
        return [
            position - before for (position, _), before in zip(self.slips, skipped, strict=False)
        ], skipped

    def place_of_slot(self, x: int) -> Place:
        """The same for a slot, whether it holds a block or not."""
        node, cylinder, angle = self.nodes[-1], 0, Fraction(0)
        while True:
            entry = next(entry for entry in node if entry.lbn <= x < entry.lbn + entry.runlen)
            instance, x = divmod(x - entry.lbn, entry.len)
            cylinder += entry.cyl + (-1 if entry.cylrunlen < 0 else 1) * instance * entry.cyllen
            angle += entry.off + instance * entry.alen
            if entry.head is not None:
                low, _, per_track = self.tracks[entry.child]
                return cylinder, entry.head, low + x, (angle + Fraction(x, per_track)) % 1
            node = self.nodes[entry.child]

    def track_ends(self) -> Iterator[tuple[int, int]]:
        """First and last slot of each track, in the order of the slots."""
        begin = 0
        for length in self._lengths(len(self.nodes) - 1, self.slots):
            yield begin, begin + length - 1
            begin += length

    def _lengths(self, node: int, slots: int) -> Iterator[int]:
        for entry in self.nodes[node]:
            left = min(entry.runlen, slots - entry.lbn)
            while left > 0:
                taken = min(entry.len, left)
                if entry.head is None:
                    yield from self._lengths(entry.child, taken)
                else:
                    yield taken
                left -= taken

    def text(self) -> str:
        """The block in a file."""
        tracks = ", ".join(f"{low}, {high}, {spt}" for low, high, spt in self.tracks)
        nodes = ",\n".join(f"[ {', '.join(entry.text() for entry in node)} ]" for node in self.nodes)
        slips = ", ".join(f"{position}, {count}" for position, count in self.slips)
        return f"dm_layout_g4 {{\nTP = [ {tracks} ],\nIDX = [\n{nodes}\n],\nSlips = [ {slips} ],\nRemaps = [ ]\n}}"


def read(text: str) -> G4:
    """A layout's text."""

    def items(key: str) -> list[object]:
        tokens = re.findall(r"[\[\]]|[^\s\[\],]+", text[re.search(rf"\b{key}\s*=", text).end() :])
        open_: list[list[object]] = [[]]
        for word in tokens:
            if word == "[":
                open_.append([])
            elif word == "]":
                closed = open_.pop()
                open_[-1].append(closed)
                if len(open_) == 1:
                    return closed
            else:
                open_[-1].append(word)
        raise ValueError(key)

    def groups(found: list[object], each: int) -> list[tuple[int, ...]]:
        return [tuple(map(int, found[at : at + each])) for at in range(0, len(found), each)]

    def entries(words: list[str]) -> Iterator[Entry]:
        at = 0
        while at < len(words):
            is_node = words[at + 8] == "IDX"
            lbn, cyl, off, length, cyllen, alen, runlen, cylrunlen = words[at : at + 8]
            whole = (int(cyllen), Fraction(alen), int(runlen), int(cylrunlen), int(words[at + 9]))
            head = None if is_node else int(words[at + 10])
            yield Entry(int(lbn), int(cyl), Fraction(off), int(length), *whole, head)
            at += 10 if is_node else 11

    nodes = [list(entries(node)) for node in items("IDX")]
    return G4(groups(items("TP"), 3), nodes, groups(items("Slips"), 2))


@st.composite
def layouts(draw: st.DrawFn, heads: int = 3) -> G4:
    """Patterns in patterns, forwards and backwards, cut short where nothing says that they may not be."""
    angles = st.integers(0, 999_999).map(lambda millionths: Fraction(millionths, 1_000_000))
    tracks = []
    for _ in range(draw(st.integers(1, 3))):
        per_track = draw(st.integers(1, 9))
        low = draw(st.integers(0, per_track - 1))
        tracks.append((low, draw(st.integers(low, per_track - 1)), per_track))
    nodes: list[list[Entry]] = []
    for number in range(draw(st.integers(1, 4))):
        node: list[Entry] = []
        end = 0
        for _ in range(draw(st.integers(1, 4))):
            if number and draw(st.booleans()):
                child, head = draw(st.integers(0, number - 1)), None
                holds = nodes[child][-1].lbn + nodes[child][-1].runlen
            else:
                child, head = draw(st.integers(0, len(tracks) - 1)), draw(st.integers(0, heads - 1))
                holds = tracks[child][1] - tracks[child][0] + 1
            length = draw(st.sampled_from([holds, holds, draw(st.integers(1, holds))]))
            count = draw(st.integers(1, 4))
            runlen = draw(st.sampled_from([length * count, draw(st.integers(1, length * count))]))
            step = draw(st.integers(0, 3))
            back = draw(st.booleans())
            # Far enough in for all steps back.
            cyl = draw(st.integers(0, 5)) + (4 * step if back else 0)
            sign = -1 if back else 1
            off, alen = draw(angles), draw(angles)
            node.append(
                Entry(end, cyl, off, length, step, alen, runlen, sign * step * count or sign, child, head)
            )
            end += runlen
        nodes.append(node)
    slips, at, slots = [], 0, nodes[-1][-1].lbn + nodes[-1][-1].runlen
    for gap, count in draw(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 3)), max_size=6)):
        if at + gap + count < slots:
            slips.append((at + gap, count))
            at += gap + count
    return G4(tracks, nodes, slips)
