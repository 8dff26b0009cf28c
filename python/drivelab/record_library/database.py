"""The database of a library: SQLite in a file, or PostgreSQL by its URL, with the same tables and statements.

Statements use `?` for values; PostgreSQL's driver uses `%s`. Every change is one transaction: complete, or not done
at all.
"""

from __future__ import annotations

import sqlite3
import urllib.parse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from drivelab.errors import InputError, OutputError, ref

FORMAT_VERSION = 1
"""Version of the tables; raised when one changes."""
SCHEMES = ("postgresql", "postgres")
BUSY_S = 10.0
_SQLITE_BEGIN = b"SQLite format 3\0"

_TABLES = (
    "CREATE TABLE IF NOT EXISTS drivelab_library (format_version INTEGER NOT NULL)",
    """CREATE TABLE IF NOT EXISTS drivelab_records (
        number {serial},
        digest TEXT NOT NULL UNIQUE,
        kind TEXT NOT NULL,
        entry TEXT NOT NULL,
        content TEXT NOT NULL
    )""",
    """CREATE TABLE IF NOT EXISTS drivelab_tags (
        number INTEGER NOT NULL REFERENCES drivelab_records (number) ON DELETE CASCADE,
        tag TEXT NOT NULL,
        PRIMARY KEY (number, tag)
    )""",
)
# Until the end of the transaction nobody else creates tables.
_LOCK = {"sqlite": "BEGIN IMMEDIATE", "postgresql": "SELECT pg_advisory_xact_lock(7391826450)"}
_SERIAL = {"sqlite": "INTEGER PRIMARY KEY AUTOINCREMENT", "postgresql": "SERIAL PRIMARY KEY"}


class Database:
    """An open database."""

    def __init__(self, where: str, *, create: bool = True) -> None:
        """Open the database at a path or URL; `create` creates it if missing. Raises InputError, OutputError."""
        self.where = where
        scheme = urllib.parse.urlsplit(where).scheme
        self.kind = "postgresql" if scheme in SCHEMES else "sqlite"
        if self.kind == "postgresql":
            self.shown = _without_password(where)
            self._connection, self._errors = _postgresql(where, self.shown)
        elif "://" in where:
            raise InputError(
                f"{ref('place', f'{scheme}://..')}: a library is a file, or a database of PostgreSQL such as "
                "postgresql://user@host/database"
            )
        else:
            self.shown = where
            self._connection, self._errors = _sqlite(Path(where), create=create)
        try:
            self._prepare(create=create)
        except BaseException:
            self.close()
            raise

    def _prepare(self, *, create: bool) -> None:
        """Check the version before anything is changed; create the tables if there are none and that is allowed."""
        if self._has_tables():
            versions = [int(row[0]) for row in self.run("SELECT format_version FROM drivelab_library")]
            if versions and max(versions) > FORMAT_VERSION:
                raise InputError(
                    f"library {self.shown} has format {max(versions)}, and this drivelab knows {FORMAT_VERSION}: "
                    "take a newer drivelab"
                )
            if versions:
                return
        elif not create:
            raise InputError(f"{self.shown} holds no library; `drivelab library add RECORD` makes one in it")
        with self.change():
            self.run(_LOCK[self.kind])
            # Another program may have created them since.
            if self._has_tables():
                return
            for statement in _TABLES:
                self.run(statement.format(serial=_SERIAL[self.kind]))
            self.run("INSERT INTO drivelab_library (format_version) VALUES (?)", FORMAT_VERSION)

    def _has_tables(self) -> bool:
        if self.kind == "postgresql":
            return self.run("SELECT to_regclass('drivelab_library')")[0][0] is not None
        return bool(self.run("SELECT 1 FROM sqlite_master WHERE name = 'drivelab_library'"))

    def run(self, statement: str, *values: object) -> list[Sequence[Any]]:
        """The rows of a statement, none for one that changes. Raises OutputError."""
        cursor = self._connection.cursor()
        try:
            cursor.execute(statement.replace("?", "%s") if self.kind == "postgresql" else statement, values)
            return list(cursor.fetchall()) if cursor.description else []
        except self._errors as error:
            raise OutputError(f"library {self.shown}: {_reason(error)}") from error
        finally:
            cursor.close()

    @contextmanager
    def change(self) -> Iterator[None]:
        """A transaction: statements run within are all done, or none."""
        try:
            yield
            self._connection.commit()
        except OutputError:
            self._connection.rollback()
            raise
        except self._errors as error:
            self._connection.rollback()
            raise OutputError(f"library {self.shown}: {_reason(error)}") from error
        except BaseException:
            self._connection.rollback()
            raise

    def close(self) -> None:
        """Close the database."""
        self._connection.close()


def _sqlite(path: Path, *, create: bool) -> tuple[Any, Any]:
    try:
        if path.is_dir():
            raise InputError(f"library {path} is a folder; name a file, such as {path / 'library.sqlite'}")
        if not path.exists():
            if not create:
                raise InputError(f"there is no library {path}; `drivelab library add RECORD` makes one")
            path.parent.mkdir(parents=True, exist_ok=True)
        elif path.stat().st_size:
            with path.open("rb") as file:
                if file.read(len(_SQLITE_BEGIN)) != _SQLITE_BEGIN:
                    raise InputError(
                        f"library {path} is no SQLite database; name another file with {ref('place')}"
                    )
        connection = sqlite3.connect(path, timeout=BUSY_S)
        connection.execute("PRAGMA foreign_keys = ON")
    except (OSError, sqlite3.Error) as error:
        raise OutputError(f"cannot open library {path}: {_reason(error)}") from error
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"library {str(path)!r}: {error}") from error
    return connection, sqlite3.Error


def _postgresql(url: str, shown: str) -> tuple[Any, Any]:
    try:
        from pg8000 import dbapi  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise InputError(
            'a library on PostgreSQL needs pg8000, which is not installed: pip install "drivelab[postgresql]"'
        ) from error
    parts = urllib.parse.urlsplit(url)
    query = dict(urllib.parse.parse_qsl(parts.query))
    try:
        given = {
            "user": urllib.parse.unquote(parts.username or "") or query.get("user") or _user(),
            "password": urllib.parse.unquote(parts.password) if parts.password else None,
            "database": urllib.parse.unquote(parts.path.lstrip("/")) or None,
            "timeout": BUSY_S,
        }
        port = parts.port or 5432
        host = urllib.parse.unquote(parts.hostname or "") or query.get("host", "localhost")
        if host.startswith("/"):
            given["unix_sock"] = f"{host}/.s.PGSQL.{query.get('port', port)}"
        else:
            given |= {"host": host, "port": int(query.get("port", port))}
    except ValueError as error:
        raise InputError(f"{ref('place', shown)}: {error}") from error
    try:
        connection = dbapi.connect(**given)
    except (dbapi.Error, OSError) as error:
        raise OutputError(f"cannot open library {shown}: {_reason(error)}") from error
    return connection, (dbapi.Error, OSError)


def _user() -> str:
    import getpass  # noqa: PLC0415

    return getpass.getuser()


def _without_password(url: str) -> str:
    parts = urllib.parse.urlsplit(url)
    if not parts.password:
        return url
    return url.replace(f":{parts.password}@", ":***@", 1)


# Parts of the databases' messages, with a remedy for each.
_REMEDIES = {
    "database is locked": "another program is writing to it; try again when it has ended",
    "malformed": "the file is damaged; restore it from a backup, or import an export into a new library",
    "readonly": f"it may be read only; name another with {ref('place')}",
    "read-only": f"it may be read only; name another with {ref('place')}",
    "disk is full": f"make room, or name another place with {ref('place')}",
}


def _reason(error: BaseException) -> str:
    """The reason in plain words, with a remedy if one is known. PostgreSQL's driver has a dictionary of fields."""
    detail = error.args[0] if error.args else error
    if isinstance(detail, dict):
        text = str(detail.get("M", detail))
    elif isinstance(error, OSError) and error.strerror:
        text = error.strerror.lower()
    else:
        text = str(detail).partition(" (timeout is ")[0]
    remedy = next((words for part, words in _REMEDIES.items() if part in text), "")
    return f"{text}: {remedy}" if remedy else text
