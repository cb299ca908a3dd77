#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Checks the references in documents.

A document (*.md) may not link to a file or heading that does not exist. It may not name a path of this tree that does
not exist, nor a function, such as `sctp_output()`, that no source has. A path may begin at the root or at
providers/sctpiw, and may contain "*". Where a document has `sctp_output()` (sctp/tx.c), that file must have that
function. docs/experiments.md and CHANGELOG.md describe the past, so only their links are checked.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROVIDER = ROOT / "providers" / "sctpiw"
CODE = ("providers", "kernel-abi", "utils", "tests")
# Functions of libc and rdma-core that documents mention, but no source calls.
OTHERS = {"ibv_is_fork_initialized", "ibv_reg_mr_ex", "nftw", "fts_open", "futex"}
HISTORY = ("docs/experiments.md", "CHANGELOG.md")

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
PLACED = re.compile(r"`(\w+)\(\)` \(([\w/-]+\.[ch])\)")
FUNCTION = re.compile(r"`(\w+)\(\)`|\b([a-z]\w*)\(\)")


def folders():
    """Returns the possible beginnings of paths of this tree."""
    names = {p.name for top in (ROOT, PROVIDER) for p in top.iterdir() if p.is_dir()}
    return sorted(name for name in names if not name.startswith((".", "build")))


def documents():
    found = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("kernel-abi/**/*.md"),
             *ROOT.glob("contrib/**/*.md"), *ROOT.glob("tests/**/*.md"), *ROOT.glob("utils/**/*.md"), *PROVIDER.glob("**/*.md")]
    return sorted(found)


def identifiers():
    words = set()
    for top in CODE:
        for path in (ROOT / top).rglob("*"):
            if path.suffix in (".c", ".h", ".py", ".cpp", ".sh", ".lua") and path.is_file():
                words.update(re.findall(r"\w+", path.read_text(errors="replace")))
    return words


def anchor(heading):
    """Returns the anchor that a forge makes from a heading."""
    heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")


def anchors(path):
    return {anchor(m[1]) for m in re.finditer(r"^#+ (.*)$", path.read_text(), re.MULTILINE)}


def exists(path):
    return any(True for top in (ROOT, PROVIDER) for _ in top.glob(path.rstrip("/")))


def wrong_links(path, line):
    for target in LINK.findall(line):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, fragment = target.partition("#")
        there = (path.parent / file).resolve() if file else path
        if not there.exists():
            yield f"no such file: {target}"
        elif fragment and there.suffix == ".md" and fragment not in anchors(there):
            yield f"no such heading: {target}"


def wrong_names(line, path_pattern, words):
    for found in path_pattern.findall(LINK.sub("", line)):
        if not exists(found.rstrip(".,:;")):
            yield f"no such path: {found}"
    for in_quotes, plain in FUNCTION.findall(line):
        if (in_quotes or plain) not in words | OTHERS:
            yield f"no source has {in_quotes or plain}()"


def misplaced(text):
    """Yields functions that are missing in the file that a document gives for them."""
    for function, name in PLACED.findall(re.sub(r"\s+", " ", text)):
        for path in (ROOT / name, PROVIDER / name):
            if path.is_file() and not re.search(rf"\b{function}\b", path.read_text()):
                yield f"{name} has no {function}()"


def main():
    # The first group excludes absolute paths, and parts of longer paths, such as build/bin or /sys/class.
    path_pattern = re.compile(r"(?<![\w/.~$<>-])((?:" + "|".join(folders()) + r")/[\w.*/-]*[\w*/])")
    words = identifiers()
    wrong = []
    for path in documents():
        name = path.relative_to(ROOT).as_posix()
        for number, line in enumerate(path.read_text().splitlines(), 1):
            problems = list(wrong_links(path, line))
            if name not in HISTORY:
                problems += wrong_names(line, path_pattern, words)
            wrong += [f"{name}:{number}: {problem}" for problem in problems]
        if name not in HISTORY:
            wrong += [f"{name}: {problem}" for problem in misplaced(path.read_text())]
    print("\n".join(wrong) or f"{len(documents())} documents: all that they name is there")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
