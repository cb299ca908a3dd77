# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Measurements with a key: of the device, and of TCP through stunnel."""
import atexit
import contextlib
import functools
import pathlib
import secrets
import shutil
import subprocess
import tempfile

import harness
from programs import BIN


@functools.cache
def _directory():
    path = pathlib.Path(tempfile.mkdtemp(prefix="sctpiw-bench-"))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


@functools.cache
def environment():
    """Returns an environment with a key for the device. All programs get the same key."""
    key = _directory() / "key"
    subprocess.run([BIN / "sctpiw", "keygen", key], check=True, capture_output=True)
    return {"SCTPIW_KEY": str(key)}


@functools.cache
def _shared_secret():
    path = _directory() / "stunnel.psk"
    path.write_text(f"bench:{secrets.token_hex(32)}\n")
    path.chmod(0o600)
    return path


def _stunnel(link, side, accept, connect):
    config = _directory() / f"stunnel-{side}.conf"
    config.write_text("foreground = yes\npid =\nsyslog = no\noutput = /dev/stdout\n[iperf3]\n"
                      f"client = {'yes' if side == 'client' else 'no'}\naccept = {accept}\nconnect = {connect}\n"
                      f"ciphers = PSK\nPSKsecrets = {_shared_secret()}\n")
    program = harness.start(f"stunnel-{side}", ["stunnel", config], link, side, rdma=False)
    program.wait_for_output("Configuration successful")
    return program


@contextlib.contextmanager
def stunnel(link, port):
    """Yields a port on the client's loopback. A stunnel forwards it to `port` on the server's loopback."""
    harness.need("stunnel")
    between, entry = harness.free_port(), harness.free_port()
    ends = [_stunnel(link, "server", f"{link.address}:{between}", f"127.0.0.1:{port}"),
            _stunnel(link, "client", f"127.0.0.1:{entry}", f"{link.address}:{between}")]
    yield entry
    for end in ends:
        end.kill()
