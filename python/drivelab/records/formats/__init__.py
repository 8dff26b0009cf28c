"""Results of other tools as text, CSV, XML or HTML: one file for each format, and what they all return.

Start in shape.py (the common shape, and how a fault is told), then known.py (which format a text is). A reader is a
function from a `Text` to `Found`; fio's texts become the documents that fio's own JSON is, everything else `Results`,
which stored.py turns into a record. What a file does not say is in neither.
"""
