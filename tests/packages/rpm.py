#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Tests the packages of redhat/sctpiw.spec, which ./build.sh rpm has built in build/dist.

rpmlint checks them. They are unpacked. Together they must have the files that `cmake --install` installs, and
documents besides. They run no scripts, provide only their names, and require no other package of sctpiw except each
other. Then the tests of debian/tests run in the place where they are unpacked, in a network namespace with only lo,
as an ordinary user."""

import os
import pathlib
import stat
import sys
import tempfile

sys.dont_write_bytecode = True
from common import DIST, ROOT, Failure, TESTS, output, verdict  # noqa: E402

LIBRARIES = "usr/lib64/sctpiw"
# Files of the packages that cmake does not install: documents, and names for debuggers.
BESIDES = ("usr/share/doc/", "usr/share/licenses/", "usr/lib/.build-id/")
NOBODY = 65534


def is_fedora():
    return output(["rpm", "--eval", "%{?cmake:there}"]).strip() != ""


def packages():
    """Returns the two packages that a user installs, by name."""
    found = {}
    for path in DIST.glob("*.rpm"):
        name = query(path, "%{NAME} %{SOURCEPACKAGE}")
        if name in ("sctpiw (none)", "sctpiw-libs (none)"):
            found[name.split()[0]] = path
    if len(found) != 2:
        raise Failure(f"{DIST} lacks the packages sctpiw and sctpiw-libs: run ./build.sh rpm")
    return found


def query(path, wanted):
    return output(["rpm", "-qp", "--queryformat", wanted, path]).strip()


def look_at(found):
    """Runs rpmlint. All complaints are errors, except those that sctpiw.rpmlintrc explains."""
    redhat = ROOT / "redhat"
    more = ["--ignore-unused-rpmlintrc"] if is_fedora() else ["--config", redhat / "rpmlint.toml"]
    output(["rpmlint", "--strict", "--rpmlintrc", redhat / "sctpiw.rpmlintrc", *more, *found.values(), *DIST.glob("*.src.rpm"),
            redhat / "sctpiw.spec"])


def look_at_relations(found):
    names = set(found)
    for name, path in found.items():
        scripts = output(["rpm", "-qp", "--scripts", "--triggers", path]).strip()
        if scripts:
            raise Failure(f"{name} has scripts, which nothing of it needs:\n{scripts}")
        provided = {line.split("(")[0] for line in query(path, r"[%{PROVIDENAME}\n]").splitlines()}
        if provided != {name}:
            raise Failure(f"{name} offers {', '.join(sorted(provided))} instead of {name}")
        required = {line.split("(")[0] for line in query(path, r"[%{REQUIRENAME}\n]").splitlines()}
        ours = {line for line in required if "sctpiw" in line}
        if ours != names - {name, "sctpiw"}:
            raise Failure(f"{name} requires {sorted(ours)} of ours")
        if not any(line.startswith("libinih.so") for line in required):
            raise Failure(f"{name} does not require the libraries that it is linked with")


def unpack(path, place):
    place.mkdir()
    output(["sh", "-ec", 'rpm2cpio "$1" | cpio --extract --make-directories --quiet', "sh", path], cwd=place)


def tree(place):
    """Returns the entries below place and their kinds, without directories, as other packages own some of them."""
    found = {}
    for path in place.rglob("*"):
        name = path.relative_to(place).as_posix()
        if name.startswith("usr/share/man/"):
            name = name.removesuffix(".gz")
        if path.is_symlink():
            found[name] = f"link to {os.readlink(path)}"
        elif not path.is_dir():
            found[name] = "program" if path.stat().st_mode & stat.S_IXUSR and ".so" not in path.name else "file"
    return found


def compare(have, want):
    differ = [f"{name}: {have.get(name, 'nothing')} instead of {want.get(name, 'nothing')}"
              for name in sorted(have | want) if have.get(name) != want.get(name)]
    if differ:
        raise Failure("the packages differ from what cmake installs:\n" + "\n".join(differ[:20]))


def look_at_files(unpacked, place):
    """Checks that each file is in the right package, and that none is missing or superfluous."""
    builds = [path.parent for path in (DIST / "rpm/BUILD").rglob("cmake_install.cmake")
              if (path.parent / "CMakeCache.txt").exists()]
    if len(builds) != 1:
        raise Failure(f"{DIST / 'rpm/BUILD'} has {len(builds)} builds instead of one")
    installed = place / "installed"
    output(["cmake", "--install", builds[0]], env=os.environ | {"DESTDIR": str(installed)})
    trees = {name: tree(below) for name, below in unpacked.items()}
    astray = [name for package, files in trees.items() for name in files
              if not name.startswith(BESIDES) and (package == "sctpiw-libs") != name.startswith(LIBRARIES)]
    if astray:
        raise Failure(f"these files are in the wrong package: {', '.join(astray[:20])}")
    both = trees["sctpiw"] | trees["sctpiw-libs"]
    licences = {pathlib.Path(name).name for name in both if name.startswith("usr/share/licenses/")}
    if licences != {path.name for path in ROOT.glob("COPYING*")}:
        raise Failure(f"the packages have the licences {sorted(licences)}")
    compare({name: kind for name, kind in both.items() if not name.startswith(BESIDES)}, tree(installed))
    return len(both)


def look_at_preload(unpacked):
    """Checks that the preload library is not compiled with fortified headers, since it defines functions that these
    replace. The library itself calls __chk_fail(), for fortified programs."""
    symbols = output(["nm", "-D", "--undefined-only", unpacked["sctpiw-libs"] / LIBRARIES / "libsctpiw-preload.so"])
    fortified = [word for word in symbols.split() if "_chk" in word and not word.startswith(("__stack_chk_fail", "__chk_fail"))]
    if fortified:
        raise Failure(f"libsctpiw-preload.so is fortified: {', '.join(fortified)}")


def try_device(unpacked, place):
    """Runs the tests of an installed sctpiw as if all packages were installed below one directory."""
    root = place / "root"
    for below in unpacked.values():
        output(["cp", "--archive", "--no-target-directory", below, root])
    output(["chmod", "--recursive", "go+rX", place])
    as_user = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--"]
    enter, user = (["unshare", "--net"], as_user) if os.geteuid() == 0 else (["unshare", "--map-root-user", "--net"], [])
    environment = os.environ | {"PATH": f"{root / 'usr/bin'}:{os.environ['PATH']}", "HOME": str(place)}
    for test in TESTS:
        script = place / test.name
        script.write_bytes(test.read_bytes())
        script.chmod(0o755)
        output([*enter, "sh", "-ec", 'ip link set lo up; exec "$@"', "sh", *user, script], env=environment, cwd=place)
        print(f"{test.name}: passed", flush=True)


def main():
    found = packages()
    look_at(found)
    look_at_relations(found)
    with tempfile.TemporaryDirectory() as name:
        place = pathlib.Path(name)
        unpacked = {package: place / package for package in found}
        for package, path in found.items():
            unpack(path, unpacked[package])
        count = look_at_files(unpacked, place)
        look_at_preload(unpacked)
        print(f"rpmlint has nothing to say of {len(found)} packages; their {count} files are those that cmake installs, "
              "and documents", flush=True)
        try_device(unpacked, place)


if __name__ == "__main__":
    verdict("rpm", main)
