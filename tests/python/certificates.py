"""Certificates for tests of TLS, made with openssl: an authority, a server, and clients good and bad."""

from __future__ import annotations

import ssl
import subprocess
from pathlib import Path

_LEAF = "basicConstraints=CA:FALSE\nsubjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1\n"
_CONFIG = """\
[ca]
default_ca = own
[own]
database = index.txt
default_md = sha256
crlnumber = number.txt
crl_extensions = list
[list]
authorityKeyIdentifier = keyid:always
"""

_LATE = """\
[ca]
default_ca = own
[own]
database = late.txt
serial = late.number
default_md = sha256
policy = any
[any]
commonName = supplied
"""


def _openssl(folder: Path, *words: str) -> None:
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)


class Authority:
    """An authority in a folder of its own: `ca-cert.pem`, its key, and what it signs."""

    def __init__(self, folder: Path, name: str = "drivelab tests") -> None:
        """Make it."""
        self.folder = folder
        folder.mkdir()
        key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "ca-key.pem")
        _openssl(folder, "req", "-x509", *key, "-out", "ca-cert.pem", "-days", "30", "-subj", f"/CN={name}")

    def sign(self, name: str, begins: str | None = None) -> None:
        """Make a key and a certificate: `NAME-key.pem`, `NAME-cert.pem`. `begins` is a time as 20990101000000Z; the
        certificate is valid until the end of that year then.
        """
        folder = self.folder
        (folder / "leaf.ext").write_text(_LEAF)
        key = (
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-keyout",
            f"{name}-key.pem",
        )
        _openssl(folder, "req", *key, "-out", f"{name}.csr", "-subj", f"/CN={name}")
        signs = ("-CA", "ca-cert.pem", "-CAkey", "ca-key.pem", "-CAcreateserial", "-extfile", "leaf.ext")
        out = ("-out", f"{name}-cert.pem", "-days", "30")
        if begins is None:
            _openssl(folder, "x509", "-req", "-in", f"{name}.csr", *signs, *out)
            return
        (folder / "late.cnf").write_text(_LATE)
        if not (folder / "late.txt").exists():
            (folder / "late.txt").touch()
            (folder / "late.number").write_text("01\n")
        words = (
            "-config",
            "late.cnf",
            "-cert",
            "ca-cert.pem",
            "-keyfile",
            "ca-key.pem",
            "-outdir",
            ".",
            "-batch",
        )
        signs = (
            "-startdate",
            begins,
            "-enddate",
            f"{begins[:4]}1231235959Z",
            "-extfile",
            "leaf.ext",
            "-notext",
        )
        _openssl(folder, "ca", *words, *signs, "-in", f"{name}.csr", "-out", f"{name}-cert.pem")

    def revoke(self, name: str) -> None:
        """Put a certificate on the list of revoked ones, `ca-crl.pem`."""
        folder = self.folder
        (folder / "ca.cnf").write_text(_CONFIG)
        (folder / "index.txt").touch()
        (folder / "number.txt").write_text("01\n")
        words = ("-config", "ca.cnf", "-cert", "ca-cert.pem", "-keyfile", "ca-key.pem")
        _openssl(folder, "ca", *words, "-revoke", f"{name}-cert.pem")
        _openssl(folder, "ca", *words, "-gencrl", "-crldays", "30", "-out", "ca-crl.pem")

    def context(self, name: str | None, version: ssl.TLSVersion | None = None) -> ssl.SSLContext:
        """What a client of the name shows, and that it trusts this authority; no name shows nothing."""
        context = ssl.create_default_context(cafile=self.folder / "ca-cert.pem")
        if name is not None:
            context.load_cert_chain(self.folder / f"{name}-cert.pem", self.folder / f"{name}-key.pem")
        if version is not None:
            context.minimum_version = context.maximum_version = version
        return context
