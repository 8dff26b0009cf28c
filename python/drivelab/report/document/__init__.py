"""A report: one HTML file with the answer, the tables, the charts, the notes, the provenance and the record itself.

It needs no network and no script. `content.py` is what a report has, `page.py` writes it, `embedded.py` puts the record
into it and takes it out again.
"""
