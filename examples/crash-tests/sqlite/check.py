"""Check that the database is sound and has every row that was committed."""

import os
import sqlite3
import sys

committed = int(os.environ["DRIVELAB_COMMITTED"] or 0)
if committed == 0:
    sys.exit(0)
try:
    base = sqlite3.connect(os.environ["DRIVELAB_MOUNT"] + "/a.db")
    sound = base.execute("pragma integrity_check").fetchone()[0]
    last = base.execute("select max(n) from t").fetchone()[0] or 0
except sqlite3.DatabaseError as error:
    print(error)
    sys.exit(1)
print(f"{sound}: the last row is {last}, and {committed} was committed")
sys.exit(sound != "ok" or last < committed)
