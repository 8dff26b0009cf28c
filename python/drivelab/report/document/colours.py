"""The colours of charts on a dark page.

A chart is drawn once, on white. On a dark page a rule of the style sheet replaces each of its colours: greys change
places, bright ones become dark, and a colour that would be hard to see there becomes lighter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

PAPER, INK = (0x14, 0x17, 0x1C), (0xE8, 0xEA, 0xED)
"""The dark page and its text, as in style.css."""
ON_PAINT = "on_paint_"
"""The class of marks that lie on other marks begins so: they keep their colour."""
CONTRAST_MIN = 4.0
"""Of a mark against the page: WCAG 2 asks for 3."""
_BRIGHT = 0.78
"""A colour of more luminance is an area behind something, and becomes dark."""
_GREY = 24
"""Channels that are so close to each other make a grey."""
_NAMED = {"white": "#ffffff", "black": "#000000", "gray": "#808080", "grey": "#808080"}
_PAINT = re.compile(r'\b(fill|stroke|stop-color)="(#[0-9a-fA-F]{3,6}|rgb\([^"()]*\)|white|black|gr[ae]y)"')

_Colour = tuple[int, int, int]


def dark_rules(drawings: Iterable[str]) -> str:
    """The rules for each colour of these drawings, in order; empty without any."""
    paints = sorted({found for drawing in drawings for found in _PAINT.findall(drawing)})
    rules = [
        f'  figure svg :not([class*="{ON_PAINT}"] > *)[{name}="{text}"] {{ {name}: {_hex(dark(colour))}; }}\n'
        for name, text in paints
        if (colour := _parsed(text)) is not None
    ]
    return f"@media screen and (prefers-color-scheme: dark) {{\n{''.join(rules)}}}\n" if rules else ""


def dark(colour: _Colour) -> _Colour:
    """What a dark page shows in place of a colour of a white one."""
    if max(colour) - min(colour) <= _GREY:
        return _blended(INK, PAPER, sum(colour) / (3 * 255))
    if _luminance(colour) > _BRIGHT:
        return _blended(colour, PAPER, 0.7)
    share = 0.0
    while contrast(found := _blended(colour, (255, 255, 255), share), PAPER) < CONTRAST_MIN:
        share += 0.05
    return found


def contrast(one: _Colour, other: _Colour) -> float:
    """The contrast of two colours, 1 to 21, as WCAG 2 defines it."""
    high, low = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: _Colour) -> float:
    linear = [
        value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4
        for value in (channel / 255 for channel in colour)
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _blended(one: _Colour, other: _Colour, share: float) -> _Colour:
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(one, other, strict=True))
    return red, green, blue


def _parsed(text: str) -> _Colour | None:
    if text.startswith("rgb"):
        found = [round(float(part)) for part in re.findall(r"[\d.]+", text)]
        return (found[0], found[1], found[2]) if len(found) == 3 else None
    digits = _NAMED.get(text, text)[1:]
    if len(digits) == 3:
        digits = "".join(digit * 2 for digit in digits)
    if len(digits) != 6:
        return None
    return int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:], 16)


def _hex(colour: _Colour) -> str:
    return "#" + "".join(f"{channel:02x}" for channel in colour)
