# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Fresh roots of Debian's suites, and commands inside them. Needs root, mmdebstrap and Debian's package servers."""
import pathlib

from common import output

MIRROR = "http://deb.debian.org/debian"
USER = "tester"


def make(suite, root, programs="", architectures=()):
    """Makes a root with these packages, and an ordinary user. It is of this machine's architecture; packages of these others
    can be installed beside its own."""
    native = output(["dpkg", "--print-architecture"]).strip()
    # The mirror's Release file of sid may be some days old.
    output(["mmdebstrap", "--variant=apt", f"--architectures={','.join([native, *architectures])}",
            '--aptopt=Acquire::Check-Valid-Until "false"', f"--include={','.join(filter(None, ['passwd', programs]))}", suite, root, MIRROR])
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


def build(root, copy, source, command):
    """Copies a root, and runs a command of build.sh in the copy, as root. The copy has no files of
    the developer's machine, and other users cannot enter the directory. Returns that directory."""
    output(["cp", "--archive", "--reflink=auto", root, copy])
    output(["tar", "-C", copy / "root", "-xf", source])
    place = next((copy / "root").glob("sctpiw-*"))
    (copy / "root").chmod(0o700)
    inside(copy, "sh", "-ec", f"cd /root/{place.name}; exec ./build.sh {command}")
    return place


# What qemu calls the architectures of Debian.
EMULATED = {"arm64": "aarch64", "s390x": "s390x"}


def emulating(root, architecture, *command):
    """Runs a command in the root, in a network that is lo alone, where programs of the architecture run under qemu-user. The
    kernel is told of the emulator in a user namespace of its own (since Linux 6.7), so that nobody else notices."""
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
    """Installs packages by name, or package files that stand in the root, and what they depend on."""
    names = [f"/{word.relative_to(root)}" if isinstance(word, pathlib.Path) else word for word in packages]
    inside(root, "sh", "-ec", 'apt-get update -qq; DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"',
           "sh", *names)
