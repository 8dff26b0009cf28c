"""The ready answers, a file each: `drivelab answer NAME` is the module of that name here.

A new answer is one new file, see `drivelab/answering/registry.py`; what several need is in that room.
"""
