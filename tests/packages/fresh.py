# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Fresh roots of Debian's suites, and commands inside them. Needs root, mmdebstrap and Debian's package servers."""
import pathlib

from common import output

MIRROR = "http://deb.debian.org/debian"
USER = "tester"


def make(suite, root, programs="", architectures=()):
    """Makes a root of this machine's architecture with these packages and an ordinary user. Packages of the other
    architectures can be installed, too."""
    native = output(["dpkg", "--print-architecture"]).strip()
    # The mirror's Release file of sid may be some days old.
    output(["mmdebstrap", "--variant=apt", f"--architectures={','.join([native, *architectures])}",
            '--aptopt=Acquire::Check-Valid-Until "false"', f"--include={','.join(filter(None, ['passwd', programs]))}", suite, root, MIRROR])
    inside(root, "useradd", "--create-home", USER)


def inside(root, *command, user="root", network=None):
    """Runs a command in the root, in its own namespaces of mounts and processes. An ordinary user also gets a network
    namespace with only lo. network: "host" or "lo" overrides this."""
    network = network or ("host" if user == "root" else "lo")
    # The root is a separate mount, so that programs in it can have their own mounts.
    script = ('mount --bind "$0" "$0"; mount -t proc proc "$0/proc"; mount -t sysfs sysfs "$0/sys"; mount --rbind /dev "$0/dev"; '
              'mount -t tmpfs tmpfs "$0/tmp"; chmod 1777 "$0/tmp"; [ "$1" != lo ] || ip link set lo up; '
              'root=$0; shift; exec chroot "$root" "$@"')
    words = ["runuser", "-u", user, "--", *command] if user != "root" else list(command)
    return output(["unshare", "--mount", "--pid", "--fork", *(["--net"] if network == "lo" else []), "sh", "-ec", script, root,
                   network, *words])


def build(root, copy, source, command):
    """Copies a root, and runs a command of build.sh in the copy, as root. Returns the directory of the copy, which
    other users cannot enter. It has only the files of the tarball."""
    output(["cp", "--archive", "--reflink=auto", root, copy])
    output(["tar", "-C", copy / "root", "-xf", source])
    place = next((copy / "root").glob("sctpiw-*"))
    (copy / "root").chmod(0o700)
    inside(copy, "sh", "-ec", f"cd /root/{place.name}; exec ./build.sh {command}")
    return place


# qemu's names of Debian's architectures.
EMULATED = {"arm64": "aarch64", "s390x": "s390x"}


def emulating(root, architecture, *command):
    """Runs a command in the root, in a network with only lo, where programs of the architecture run under qemu-user.
    The emulator is registered in a separate user namespace (since Linux 6.7), so other programs are not affected."""
    conf = (root / f"usr/lib/binfmt.d/qemu-{EMULATED[architecture]}.conf").read_text().strip()
    fields = conf.split(":")
    fields[6] = f"{root}{fields[6]}"
    script = ('mount -t proc proc "$0/proc"; mount --rbind /dev "$0/dev"; mount -t sysfs sysfs "$0/sys"; '
              'mount -t tmpfs tmpfs "$0/tmp"; chmod 1777 "$0/tmp"; '
              'mount -t binfmt_misc binfmt_misc "$0/proc/sys/fs/binfmt_misc"; '
              'printf "%s" "$1" >"$0/proc/sys/fs/binfmt_misc/register"; '
              'ip link set lo up; root=$0; shift; exec chroot "$root" "$@"')
    return output(["unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", "--net", "sh", "-ec", script, root,
                   ":".join(fields), *command])


def install(root, packages):
    """Installs packages by name, or package files inside the root, with their dependencies."""
    names = [f"/{word.relative_to(root)}" if isinstance(word, pathlib.Path) else word for word in packages]
    inside(root, "sh", "-ec", 'apt-get update -qq; DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"',
           "sh", *names)
