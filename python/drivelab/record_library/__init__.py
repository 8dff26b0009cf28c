"""A library of records: what was measured and simulated, kept in a database, to be found and compared again.

Start in entry.py (what is known of a record), then database.py (SQLite, or PostgreSQL by its URL), shelf.py (what can
be done), exchange.py (the file that libraries exchange), anonymous.py (what a record tells of a person or a machine).
"""
