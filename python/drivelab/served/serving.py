"""The page at an address of this machine: where it listens, what opens it, and how it ends."""

from __future__ import annotations

import importlib.util
import socket
import tempfile
import threading
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from drivelab.errors import InputError, OutputError, ref
from drivelab.served import site
from drivelab.served.door import HEAD_MAX_BYTES, Door, Keys
from drivelab.served.shelf import Shelf

if TYPE_CHECKING:
    from drivelab.served.app import Served

PORT = 8417
LOOPBACK = "127.0.0.1"
_PORT_MAX = 65_535
_BACKLOG = 64
_CONNECTIONS_MAX = 64
_END_S = 5


def check_extra() -> None:
    """That what the page is served with is installed. Raises InputError."""
    lacking = [name for name in ("fastapi", "uvicorn") if importlib.util.find_spec(name) is None]
    if lacking:
        raise InputError(
            f"serving the page needs {' and '.join(lacking)}, not installed here: pip install 'drivelab[page]'; "
            "`drivelab page --export FOLDER` needs neither"
        )


def address_of(text: str) -> tuple[str, int]:
    """The address and the port of `[ADDRESS:]PORT`, on this machine alone. Raises InputError."""
    host, _, number = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]") or LOOPBACK
    if not number.isascii() or not number.isdigit() or int(number) > _PORT_MAX:
        raise InputError(f"{ref('port', text)}: give a number up to {_PORT_MAX}, 0 for a free port")
    if host not in (LOOPBACK, "::1", "localhost"):
        raise InputError(
            f"{ref('port', text)}: the page is served to this machine alone, at {LOOPBACK} or [::1]: for another one "
            f"forward the port, as `ssh -L {number}:{LOOPBACK}:{number}` does, or export the page"
        )
    return LOOPBACK if host == "localhost" else host, int(number)


@contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """A socket that takes connections from now on. Raises OutputError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as found:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            found.bind((host, port))
            found.listen(_BACKLOG)
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            raise OutputError(
                f"the page cannot be served at {host}, port {port}: {why}; {ref('port', 0)} takes any free port"
            ) from error
        yield found


def serve(
    host: str,
    port: int,
    place: str | None,
    given: Sequence[str],
    ready: Callable[[str], object],
    *,
    opens: bool,
) -> None:
    """Serve the page until a signal comes, which is raised again. Raises InputError, OutputError."""
    check_extra()
    import uvicorn  # noqa: PLC0415 - an extra

    from drivelab.served.app import Served, application  # noqa: PLC0415 - it takes the extra

    files = site.files(site.folder())
    with listening(host, port) as found, tempfile.TemporaryDirectory(prefix="drivelab-page-") as folder:
        port = found.getsockname()[1]
        keys = Keys.new(port)
        served = Served(Shelf(place), given)
        door = Door(application(served, files), keys, site.policy(files[""]))
        shown = f"[{host}]" if ":" in host else host
        address = f"http://{shown}:{port}/#machine?token={keys.token}"
        ready(address)
        if opens:
            open_browser(address, Path(folder))
        config = uvicorn.Config(
            door,
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            limit_concurrency=_CONNECTIONS_MAX,
            h11_max_incomplete_event_size=HEAD_MAX_BYTES,
            timeout_graceful_shutdown=_END_S,
        )
        _server(uvicorn.Server, served)(config).run(sockets=[found])


def _server(plain: type, served: Served) -> type:
    """A server whose streams end with it."""

    class Ending(plain):  # type: ignore[misc]
        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            served.stopping.set()
            await super().shutdown(sockets)

    return Ending


def open_browser(address: str, folder: Path) -> threading.Thread:
    """Open the address in the browser. Others see what a program is called with: it gets a file that only the user can
    read, and that leads to the address.
    """
    leads = folder / "open.html"
    leads.write_text(
        f'<!DOCTYPE html><meta charset="utf-8"><title>drivelab</title><meta http-equiv="refresh" '
        f'content="0; url={escape(address)}"><p><a href="{escape(address)}">drivelab</a>',
        encoding="utf-8",
    )
    opening = threading.Thread(target=webbrowser.open, args=(leads.as_uri(),), daemon=True)
    opening.start()
    return opening
