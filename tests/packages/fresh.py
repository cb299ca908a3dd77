# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Fresh roots of Debian's suites, and commands inside them. Needs root, mmdebstrap and Debian's package servers."""
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIST = ROOT / "build/dist"
MIRROR = "http://deb.debian.org/debian"
USER = "tester"


class Failure(Exception):
    """One line that says what went wrong."""


def output(command, **kwargs):
    """Runs a command, and returns all that it has printed."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, **kwargs)
    if done.returncode:
        raise Failure(f"{' '.join(str(word) for word in command)}: status {done.returncode}\n{done.stdout[-3000:]}")
    return done.stdout


def make(suite, root, programs):
    """Makes a root with these packages, and an ordinary user."""
    # The mirror's Release file of sid may be some days old.
    output(["mmdebstrap", "--variant=apt", '--aptopt=Acquire::Check-Valid-Until "false"', f"--include=passwd,{programs}", suite,
            root, MIRROR])
    inside(root, "useradd", "--create-home", USER)


def inside(root, *command, user="root", network=None):
    """Runs a command in the root, in namespaces of its own: mounts, processes, and for an ordinary user a network that is
    lo alone, unless the caller says which: "host" or "lo"."""
    network = network or ("host" if user == "root" else "lo")
    script = ('mount -t proc proc "$0/proc"; mount --rbind /dev "$0/dev"; mount -t tmpfs tmpfs "$0/tmp"; '
              'chmod 1777 "$0/tmp"; [ "$1" != lo ] || ip link set lo up; root=$0; shift; exec chroot "$root" "$@"')
    words = ["runuser", "-u", user, "--", *command] if user != "root" else list(command)
    return output(["unshare", "--mount", "--pid", "--fork", *(["--net"] if network == "lo" else []), "sh", "-ec", script, root,
                   network, *words])
