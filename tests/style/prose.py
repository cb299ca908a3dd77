# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The prose of the tree, sentence by sentence: comments, docstrings, and the text of *.md and *.scd.

Code, headings, figures and columns are left out."""

import ast
import collections
import io
import pathlib
import re
import tokenize

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The history, and the expected output of a program.
SKIPPED = ("CHANGELOG.md", "tests/bench/report.md")

# Comments are group 1; strings are matched so that the marks in them begin no comment.
STRINGS = r"""|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'"""
COMMENTS = {
    ".c": re.compile(r"(/\*.*?\*/|//[^\n]*)" + STRINGS, re.DOTALL),
    ".lua": re.compile(r"(--\[\[.*?\]\]|--[^\n]*)" + STRINGS, re.DOTALL),
    ".sh": re.compile(r"((?<!\S)#(?!!)[^\n]*)" + STRINGS),
}
MARKS = {
    ".c": re.compile(r"^\s*(/\*+|\*+/|\*|//+)\s?|\s*\*+/\s*$"),
    ".lua": re.compile(r"^\s*--(\[\[)?\s?|\s*\]\]\s*$"),
    ".sh": re.compile(r"^\s*#+\s?"),
    ".py": re.compile(r"^\s*#+\s?|^ {4}"),
}
ALIKE = {".h": ".c", ".cpp": ".c", ".cmake": ".sh"}
DOCUMENTS = (".md", ".scd")
ITEM = re.compile(r"(?:[-*>]|\d+\.)\s+|(?:[|:\]]?\[\[?|[|:\]])(?:\s+|$)|\|")
NO_PROSE = re.compile(r"-{3,}|={3,}|#|SPDX-|clang-format|NOLINT|shellcheck ")
END = re.compile(r"(?<!e\.g)(?<!i\.e)(?<!cf)(?<!vs)(?<!etc)[.!?][\"')`*_]*(?=\s|$)")
HIDDEN = re.compile(r'`[^`]*`|"[^"]{0,200}"|\]\([^)]*\)|https?://\S+')


def paths():
    tops = (p for p in ROOT.iterdir() if p.is_file() or not re.match(r"build|\.git$", p.name))
    for path in sorted(p for top in tops for p in ((top,) if top.is_file() else top.rglob("*"))):
        name = path.relative_to(ROOT).as_posix()
        if path.is_file() and not path.is_symlink() and "corpus" not in path.parts and name not in SKIPPED:
            yield name, path


def language(path, data):
    """The suffix that stands for the language of a file, or None if the file has no prose."""
    suffix = ".sh" if path.name == "CMakeLists.txt" else ALIKE.get(path.suffix, path.suffix)
    if not suffix and data.startswith(b"#!"):
        suffix = ".py" if b"python" in data.split(b"\n", 1)[0] else ".sh"
    return suffix if suffix in MARKS or suffix in DOCUMENTS else None


def python_comments(text):
    """Triples of line, column and text."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and not token.string.startswith("#!"):
            yield *token.start, token.string
    for node in ast.walk(ast.parse(text)):
        documented = isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
        if documented and ast.get_docstring(node):
            yield node.body[0].lineno, 0, node.body[0].value.value


def blocks(suffix, text):
    """Pairs of a first line and a text: the whole document, or each comment with its marks."""
    if suffix in DOCUMENTS:
        return [(1, text)]
    if suffix == ".py":
        found = sorted(python_comments(text))
    else:
        found = [(text.count("\n", 0, m.start()) + 1, m.start() - text.rfind("\n", 0, m.start()) - 1, m[1])
                 for m in COMMENTS[suffix].finditer(text) if m[1]]
    lines, joined, last = text.split("\n"), [], None
    for line, column, comment in found:
        one = comment.startswith(("#", "//", "--")) and "\n" not in comment
        # A comment alone on its line continues the comment in the same column of the line before.
        if one and (line - 1, column) == last and not lines[line - 1][:column].strip():
            joined[-1] = (joined[-1][0], joined[-1][1] + "\n" + comment)
        else:
            joined.append((line, comment))
        last = (line, column) if one else None
    return joined


def paragraphs(suffix, first, block):
    """Lists of pairs of line and text: the prose of a paragraph, a list item or a table's cell."""
    lines, fenced, listed, synopsis = [], False, False, False
    rows = block.split("\n")
    for number, (text, following) in enumerate(zip(rows, rows[1:] + [""]), first):
        text = text if suffix in DOCUMENTS else MARKS[suffix].sub("", text)
        body = text.strip()
        indent = len(text) - len(text.lstrip(" "))
        if body.startswith("# "):
            synopsis = body in ("# SYNOPSIS", "# SEE ALSO")
        fenced ^= body.startswith("```")
        if fenced or synopsis or not body or body.startswith("```") or NO_PROSE.match(body):
            yield lines
            lines, listed = [], listed and not body
            continue
        item = ITEM.match(body)
        columns = suffix not in DOCUMENTS and re.search(r"\S(?:\t+| {3,})\S", body)
        code = indent >= (6 if listed else 4) and not item and (not lines or suffix not in DOCUMENTS and not listed)
        if columns or code:
            yield lines
            lines = []
            continue
        if item:
            yield lines
            lines, listed = [], body[0] != "|"
            if body[0] == "|" and suffix == ".md":
                if not re.match(r"\|[-:| ]+$", following.strip()):
                    yield from ([(number, cell.strip())] for cell in re.split(r"(?<!\\)\|", body))
                continue
        elif not indent and not lines:
            listed = False
        lines.append((number, body[item.end():] if item else body))
    yield lines


def sentences(lines):
    """Triples of the line, the sentence, and the sentence with its quotations, code and link targets masked."""
    whole = " ".join(text for _, text in lines)
    masked = HIDDEN.sub(lambda m: (m[0][0] if m[0][0] == "]" else "x") + "x" * (len(m[0]) - 1), whole)
    starts = [0]
    for _, text in lines:
        starts.append(starts[-1] + len(text) + 1)
    begin = 0
    for end in [m.end() for m in END.finditer(masked)] + [len(whole)]:
        begin += len(masked[begin:end]) - len(masked[begin:end].lstrip())
        if len(re.findall(r"[A-Za-z]{2,}", masked[begin:end])) > 1:
            yield max(n for at, (n, _) in zip(starts, lines) if at <= begin), whole[begin:end], masked[begin:end]
        begin = end


Sentence = collections.namedtuple("Sentence", "path line document text masked")


def prose(under=()):
    """All sentences of the files whose paths begin with one of under, or of the tree."""
    for name, path in paths():
        data = path.read_bytes()
        suffix = language(path, data)
        if not suffix or under and not name.startswith(tuple(under)):
            continue
        for first, block in blocks(suffix, data.decode(errors="replace")):
            for lines in paragraphs(suffix, first, block):
                yield from (Sentence(name, line, suffix in DOCUMENTS, *rest) for line, *rest in sentences(lines))
