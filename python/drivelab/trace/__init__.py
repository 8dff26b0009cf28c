"""Traces of I/O requests: statistics, the first requests, and conversion to another format or shape.

`info`, `head`, `convert` and `cut` read every public format that drivelab supports; the parsing is in Rust. Start with
reading.py, on how a trace is named and read.
"""

from drivelab.trace.copying import Copied, Shape, convert, cut
from drivelab.trace.info import Info, info
from drivelab.trace.reading import FORMATS, WRITTEN, Head, Reading, head

__all__ = [
    "FORMATS",
    "WRITTEN",
    "Copied",
    "Head",
    "Info",
    "Reading",
    "Shape",
    "convert",
    "cut",
    "head",
    "info",
]
