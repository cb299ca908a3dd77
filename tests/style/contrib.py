#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Checks the recipes in contrib/ without running them. ./build.sh containers runs them.

contrib/README.md must have a row for each file. The Containerfiles must install the packages of build.sh and the
spec. Files of YAML and JSON must be readable, and systemd must accept the unit. The check reports missing tools."""

import json
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONTRIB = ROOT / "contrib"
PYTHON = "/usr/bin/python3"  # the distribution's python3, which has its modules
PROGRAMS = ("rping", "ib_write_bw", "ibv_devinfo")


def index():
    rows = set(re.findall(r"^\| \[([\w.-]+)\]\(\1\)", (CONTRIB / "README.md").read_text(), re.MULTILINE))
    files = {path.name for path in CONTRIB.iterdir()} - {"README.md"}
    yield from (f"README.md has no row for {name}" for name in sorted(files - rows))
    yield from (f"README.md has a row for {name}, which is not there" for name in sorted(rows - files))


def packages():
    """The programs come from the packages in build.sh's table; column 2 is Debian's name, column 3 Fedora's."""
    table = (ROOT / "build.sh").read_text()
    for column, name in enumerate(("Containerfile.debian", "Containerfile.fedora"), 1):
        words = (CONTRIB / name).read_text().split()
        for program in PROGRAMS:
            package = re.search(rf"^cmd {program} +(\S+) +(\S+)$", table, re.MULTILINE)[column]
            if package not in words:
                yield f"{name} does not install {package}, which has {program}"


def structured():
    text = (CONTRIB / "devcontainer.json").read_text()
    try:
        json.loads(re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE))
    except ValueError as error:
        yield f"devcontainer.json: {error}"
    if subprocess.run([PYTHON, "-c", "import yaml"], capture_output=True, check=False).returncode:
        print("YAML is not looked at: python3-yaml is not here")
        return
    for path in sorted([*CONTRIB.glob("*.yaml"), *CONTRIB.glob("*.yml")]):
        script = "import sys, yaml; assert list(yaml.safe_load_all(open(sys.argv[1])))"
        done = subprocess.run([PYTHON, "-c", script, path], capture_output=True, text=True, check=False)
        if done.returncode:
            yield f"{path.name}: {done.stderr.strip().splitlines()[-1]}"


def unit():
    """systemd requires the program, which may be missing here."""
    if not shutil.which("systemd-analyze"):
        print("rdma-server.service is not looked at: systemd-analyze is not here")
        return
    done = subprocess.run(["systemd-analyze", "verify", CONTRIB / "rdma-server.service"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    yield from (line for line in done.stdout.splitlines() if "is not executable: No such file" not in line)


def main():
    wrong = [line for look in (index, packages, structured, unit) for line in look()]
    print("\n".join(wrong) or "the recipes of contrib/ can be read, and the index has them all")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
