"""Traces of I/O requests: what is in one, its first requests, the same in another format or shape.

`info`, `head` and `convert` read every public format that drivelab knows; the reading is in Rust. Start with
reading.py, which says how a trace is named and read.
"""

from drivelab.trace.copying import Copied, Shape, convert
from drivelab.trace.info import Info, info
from drivelab.trace.reading import FORMATS, WRITTEN, Head, Reading, head

__all__ = ["FORMATS", "WRITTEN", "Copied", "Head", "Info", "Reading", "Shape", "convert", "head", "info"]
