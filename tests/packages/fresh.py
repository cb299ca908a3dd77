# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Fresh roots of Debian's suites, and commands inside them. Needs root, mmdebstrap and Debian's package servers."""
from common import output

MIRROR = "http://deb.debian.org/debian"
USER = "tester"


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
    # The root is a mount of its own, so that programs in it can have mounts of their own.
    script = ('mount --bind "$0" "$0"; mount -t proc proc "$0/proc"; mount -t sysfs sysfs "$0/sys"; mount --rbind /dev "$0/dev"; '
              'mount -t tmpfs tmpfs "$0/tmp"; chmod 1777 "$0/tmp"; [ "$1" != lo ] || ip link set lo up; '
              'root=$0; shift; exec chroot "$root" "$@"')
    words = ["runuser", "-u", user, "--", *command] if user != "root" else list(command)
    return output(["unshare", "--mount", "--pid", "--fork", *(["--net"] if network == "lo" else []), "sh", "-ec", script, root,
                   network, *words])
