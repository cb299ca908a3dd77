#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Tests other processors: cross.py ARCH..., of arm64 and s390x.

For each, mmdebstrap makes a root of this machine's architecture with Debian's cross compiler and the libraries of the
other architecture. The source tarball of build/dist is built there, and its tests run under qemu-user. For arm64, the
Debian packages are built as well. libsctpiw must agree with the package of this machine's architecture in build/dist.
The tests of debian/tests and the demo run with stock programs of arm64. Prints a table of results. Needs root,
Debian's package servers, and Linux 6.7, where a user namespace has its own interpreters of programs."""

import hashlib
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import time

sys.dont_write_bytecode = True
from common import DIST, Failure, TESTS, output, tarball  # noqa: E402
from fresh import emulating, inside, install, make  # noqa: E402

SUITE = "bookworm"
BUILD = "/opt/build"
ROW = "{:<7} {:<34} {:>5} s  {}"
GNU = {"arm64": "aarch64-linux-gnu", "s390x": "s390x-linux-gnu"}

# Tests to run, by ctest's names, and exceptions. An exception only reads the tree, with the same result everywhere;
# or repeats a test with packet loss, and mostly waits; or is the simulation, a separate step.
TESTED = {"arm64": r"^(unit|conformance|fuzz|verbs)\.|^abi\.test_", "s390x": r"^(unit|conformance|fuzz)\."}
NOT_HERE = r"^(unit\.pabi_|unit\.trace_(docs|plot)|conformance\.coverage|unit\.test_stack_sim$|verbs\..*_lossy)"
# Of the simulated network, in each scenario.
SEEDS = 5
# Tests that fail under qemu-user, and the reasons.
EXCEPT = {
    "arm64": {
        "unit.test_path_socket": "SO_MEMINFO is not there, by which a socket's room is known",
        "verbs.memory": "madvise(MADV_DONTFORK) has no effect",
        "verbs.multicast": "IP_ADD_MEMBERSHIP gets another index of the interface than the program's",
        "verbs.multicast_iwarp": "the same",
        "verbs.ib.multicast": "the same",
        "verbs.odp": "madvise(MADV_POPULATE_READ) has no effect",
        "verbs.port": "programs of this machine's architecture change the links, below a preload library of the other",
    },
    "s390x": {
        "unit.test_path_socket": "SO_MEMINFO is not there",
        "unit.test_memory": "qemu-user exchanges the halves of a SIGBUS's address in big-endian programs",
        "unit.test_cm_life": "qemu-user leaves the number of UDP_SEGMENT in the program's byte order",
    },
}

TOOLS = ["qemu-user-static", "debhelper", "cmake", "ninja-build", "scdoc", "iproute2", "nftables", "netbase", "python3",
         "build-essential"]
LIBRARIES = ["libibverbs-dev", "librdmacm-dev", "libisal-dev", "nettle-dev", "libgnutls28-dev", "libinih-dev", "libsctp-dev", "libcmocka-dev",
             "pkg-config", "systemtap-sdt-dev"]
PROGRAMS = ["ibverbs-utils", "rdmacm-utils", "perftest"]


class Steps:
    """The rows of the table, and the failures."""

    def __init__(self, arch):
        self.arch = arch
        self.failed = []

    def take(self, name, function, *args):
        """Runs a step, which returns a short result. Returns True unless the step fails."""
        began = time.monotonic()
        try:
            result = function(*args)
        except Failure as failure:
            result = "FAIL"
            self.failed.append(f"{self.arch}: {name}: {failure}")
        print(ROW.format(self.arch, name, round(time.monotonic() - began), result), flush=True)
        return result != "FAIL"


def make_root(arch, root):
    programs = [f"{name}:{arch}" for name in LIBRARIES + (PROGRAMS if arch == "arm64" else [])]
    make(SUITE, root, ",".join([*TOOLS, f"crossbuild-essential-{arch}", *programs]), architectures=(arch,))
    output(["mkdir", "-p", root / "opt/sctpiw"])
    output(["tar", "--extract", "--file", tarball(), "--directory", root / "opt/sctpiw", "--strip-components=1"])
    emulator = emulating(root, arch, f"/usr/bin/qemu-{GNU[arch].split('-', maxsplit=1)[0]}-static", "--version").splitlines()[0]
    return f"{inside(root, f'{GNU[arch]}-gcc', '--version').splitlines()[0]}, {emulator}"


# ---- the packages ----


def build_packages(arch, root):
    inside(root, "sh", "-ec", f"cd /opt/sctpiw; dpkg-buildpackage --host-arch={arch} --build=binary --no-sign")
    found = sorted(path for path in root.glob("opt/*.deb") if "-dbgsym" not in path.name)
    if len(found) != 2:
        raise Failure(f"{len(found)} packages instead of sctpiw and libsctpiw")
    return " ".join(path.name for path in found)


def contents(package):
    """Returns a digest, or the target of a link, for each name in a package."""
    found = {}
    with tempfile.TemporaryFile() as unpacked:
        subprocess.run(["dpkg-deb", "--fsys-tarfile", package], stdout=unpacked, check=True)
        unpacked.seek(0)
        with tarfile.open(fileobj=unpacked) as tar:
            for member in tar:
                if member.isfile():
                    found[member.name] = hashlib.sha256(tar.extractfile(member).read()).hexdigest()
                elif not member.isdir():
                    found[member.name] = f"link to {member.linkname}"
    return found


def compare_both(arch, root):
    """Checks that two packages of libsctpiw have equal files under equal names, as it is Multi-Arch: same. Debian 12
    cannot install both at once, since its libisal2 is for one architecture at a time."""
    native = output(["dpkg", "--print-architecture"]).strip()
    mine = list(DIST.glob(f"libsctpiw_*_{native}.deb"))
    if len(mine) != 1:
        raise Failure(f"{DIST} has {len(mine)} packages of libsctpiw instead of one: run ./build.sh deb")
    first, second = contents(mine[0]), contents(next(root.glob(f"opt/libsctpiw_*_{arch}.deb")))
    shared = sorted(first.keys() & second.keys())
    differ = [name for name in shared if first[name] != second[name]]
    if differ:
        raise Failure(f"not the same in both: {', '.join(differ)}")
    return f"{len(shared)} names in both, with one content; {len(first)} of {native}, {len(second)} of {arch}"


def run_package_tests(arch, root):
    install(root, [path for path in root.glob("opt/*.deb") if "-dbgsym" not in path.name])
    output(["cp", *TESTS, root / "opt"])
    for test in TESTS:
        emulating(root, arch, f"/opt/{test.name}")
    return ", ".join(test.name for test in TESTS)


# ---- the build, and its tests ----


def build(arch, root):
    gnu = GNU[arch]
    options = {"CMAKE_BUILD_TYPE": "RelWithDebInfo", "SCTPIW_WERROR": "ON", "CMAKE_SYSTEM_NAME": "Linux",
               "CMAKE_SYSTEM_PROCESSOR": gnu.split("-", maxsplit=1)[0], "CMAKE_C_COMPILER": f"{gnu}-gcc",
               "PKG_CONFIG_EXECUTABLE": f"/usr/bin/{gnu}-pkg-config", "CMAKE_INSTALL_LIBDIR": f"lib/{gnu}"}
    inside(root, "cmake", "-G", "Ninja", "-S", "/opt/sctpiw", "-B", BUILD, *(f"-D{name}={value}" for name, value in options.items()))
    inside(root, "cmake", "--build", BUILD)
    return "all of it, warnings are errors"


def run_tests(arch, root):
    except_for = "|".join([NOT_HERE, *(f"^{re.escape(name)}$" for name in EXCEPT[arch])])
    said = emulating(root, arch, "sh", "-c", 'cd "$1"; shift; ctest --output-on-failure --parallel 2 "$@"; true', "sh", BUILD,
                     "--tests-regex", TESTED[arch], "--exclude-regex", except_for)
    found = re.search(r"(\d+) tests failed out of (\d+)", said)
    if not found or found[1] != "0":
        raise Failure(said[-6000:])
    skipped = re.findall(r"^\s*\d+ - (\S+) \(Skipped\)", said, re.MULTILINE)
    for name in skipped:
        print(f"SKIP {arch}: {name} says that it lacks something")
    for name, why in EXCEPT[arch].items():
        print(f"SKIP {arch}: {name}: {why}")
    return f"{int(found[2]) - len(skipped)} passed, {len(skipped) + len(EXCEPT[arch])} skipped"


def simulate(arch, root):
    said = emulating(root, arch, f"{BUILD}/bin/test_stack_sim", "--all", "1", str(SEEDS))
    return f"{said.count('[       OK ]')} scenarios"


def run_demo(arch, root):
    said = emulating(root, arch, "env", f"SCTPIW_BUILD={BUILD}", "/opt/sctpiw/utils/demo")
    return f"{len(re.findall(r'^[a-z_]+ +ok ', said, re.MULTILINE))} programs"


def try_architecture(arch, root):
    steps = Steps(arch)
    if not steps.take("the root and its emulator", make_root, arch, root):
        return steps.failed
    if arch == "arm64" and steps.take("the packages", build_packages, arch, root):
        steps.take("libsctpiw of both architectures", compare_both, arch, root)
        steps.take("programs, with the packages", run_package_tests, arch, root)
    if steps.take("the build", build, arch, root):
        steps.take("the tests", run_tests, arch, root)
        steps.take(f"simulated networks, {SEEDS} seeds", simulate, arch, root)
        if arch == "arm64":
            steps.take("the demo", run_demo, arch, root)
    return steps.failed


def main():
    failed = []
    for arch in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as place:
            failed += try_architecture(arch, pathlib.Path(place) / "root")
    if failed:
        sys.exit("\n".join(["cross: failed:", *failed]))


if __name__ == "__main__":
    main()
