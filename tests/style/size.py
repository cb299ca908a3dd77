#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Checks that no file has more than 700 lines, and no function more than 80.

A C function counts the lines between its braces, a Python function those after its first line."""

import ast
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("providers", "kernel-abi", "utils", "tests")
SUFFIXES = (".c", ".h", ".cpp", ".lua", ".py", ".sh")
FILE_LINES = 700
FUNCTION_LINES = 80


def is_source(path):
    """True for a source file. A program may have no suffix: then its first line names the interpreter."""
    if not path.is_file():
        return False
    if path.suffix:
        return path.suffix in SUFFIXES
    with path.open("rb") as file:
        return file.read(2) == b"#!"


def is_python(path, lines):
    return path.suffix == ".py" or lines[0].startswith("#!") and "python" in lines[0]


def functions_in_c(lines):
    """Yields the first line and the length of each function. Functions begin with "{" in the first column, and end
    with "}"."""
    begin = None
    for number, line in enumerate(lines, 1):
        if line == "{":
            begin = number
        elif line == "}" and begin:
            yield begin, number - begin - 1
            begin = None


def functions_in_python(lines):
    """As functions_in_c(). The length of a function includes its inner functions."""
    for node in ast.walk(ast.parse("\n".join(lines))):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.lineno, node.end_lineno - node.lineno


def too_long(path):
    """Yields the errors of a file, one string each."""
    lines = path.read_text().splitlines()
    name = path.relative_to(ROOT)
    if len(lines) > FILE_LINES:
        yield f"{name}: {len(lines)} lines, more than {FILE_LINES}"
    functions = functions_in_python if is_python(path, lines) else functions_in_c
    for begin, length in functions(lines):
        if length > FUNCTION_LINES:
            yield f"{name}:{begin}: a function of {length} lines, more than {FUNCTION_LINES}"


def main():
    paths = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if is_source(path))
    wrong = [line for path in paths for line in too_long(path)]
    print("\n".join(wrong) or f"no file of {len(paths)} and no function is too long")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
