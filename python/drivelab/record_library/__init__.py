"""A library of records: what was measured and simulated, kept in a database, to be found and compared again.

Start in entry.py (what is known of a record), then database.py (SQLite, or PostgreSQL by its URL), shelf.py (the
operations), exchange.py (the file that libraries exchange), anonymous.py (personal and machine data in a record).
"""
