"""Insert rows, each in a transaction of its own, and say when each is committed."""

import os
import sqlite3
import sys

base = sqlite3.connect(os.environ["DRIVELAB_MOUNT"] + "/a.db", isolation_level=None)
base.execute(f"pragma journal_mode = {sys.argv[1]}")
base.execute(f"pragma synchronous = {sys.argv[2]}")
base.execute("create table t (n integer primary key, x blob)")
for number in range(1, 41):
    base.execute("insert into t values (?, randomblob(900))", (number,))
    print("committed", number, flush=True)
