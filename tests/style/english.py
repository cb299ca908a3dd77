#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Checks that the prose of the tree is English that is read once.

    english.py                     tests the rules, and fails if a sentence breaks a rule
    english.py --self-test         tests the rules with the sentences of CASES
    english.py --hits [PATH...]    prints each sentence that breaks a rule, with file, line and rules
    english.py --count [PATH...]   prints the number of these sentences for each rule and directory, or file with PATH
    english.py --sample SEED [N [PATH...]]
                                   prints N random sentences for a reader to judge: 60 % comments, 40 % documents

Prose is the comments of C, C++, Lua, shell, CMake and Python, docstrings, and the text of *.md and *.scd. The check
skips code, headings, and text in quotation marks or backquotes. PATH is a prefix, relative to the root of the tree.
"""

import collections
import random
import re
import sys

sys.dont_write_bytecode = True
from prose import prose, sentences  # noqa: E402

PRODUCT = ("providers/", "kernel-abi/", "utils/")
SAMPLE_WORDS = 5  # the shortest sentence of a sample
LONGEST = 30  # words up to the end of a sentence or ";"; text in parentheses is one word, code and figures are none

PERSON = (r"\b(?:you|users?|readers?|people|persons?|anybody|nobody|somebody|developers?|operators?|attackers?)"
          r"(?: \w+){0,4} ")
DOCUMENT = (r"(?:\]x+|\(\d\)|\w\.(?:[ch]|md|scd|sh|py)|\b(?:RFCs?|sections?|guides?|manual|README|pages?|comments?"
            r"|documents?|documentation|specification|standards?|drafts?|tables?|entry|rules?)\b[\w .,()/-]{0,30}?) ")
SPEECH = r"(?<!\w\.)\b(?:tells?|told|telling|says?|said|saying|hears?|heard|hearing)\b(?![-.(]\w|\()"
THOUGHT = (r"(?<!\w\.)\b(?:believes?|believed|thinks?|thought|promises?|promised|forgets?|forgot|forgotten|asks?|asked"
           r"|wants)\b(?![-.(]\w|\()")
ASKED = (r"\b(?:see|show|check|decide|determine|ask|learn|choose|explain|describe|define|know|say|tell|find out"
         r"|verif(?:y|ie)|understand|guess|document|print)(?:s|n|d|ed)? (?:\w+ )?what \w+")
PLACE = r"(?:NATs?|firewalls?|routers?|proxy|proxies|switch|bridge|gateway|tap device|translation|offload|lock|\w+\(\))"


def rule(name, pattern, allowed="$^"):
    """Sentences that match pattern break the rule, unless each match overlaps a match of allowed."""
    return name, re.compile(pattern), re.compile(allowed, re.IGNORECASE)


RULES = (
    # "What", "who" and "whoever" with a verb, as a noun; questions are allowed.
    rule("clause", r"^[Ww](?:hat|ho|hoever) \w(?!.*\?)|(?<=[;:] )what \w+ \w+|(?<=\w )what \w+|(?<=\w, )what \w+"
         r"|\b(?:of|for|than|if|when|because|by|from|with) who \w+|(?<!, )\bwhoever\b|\bthat which\b",
         ASKED + r"|\b(?:about|depends? on|no matter) what \w+"
         r"|\bwhat (?:to|you|users?|else|kind|sort|size|order|time|way)\b"
         r"|\b(?:how|which|where|why|whether|what)\b[^.;:]* (?:and|or|but) what \w+|\bwhat\b[^.]*\?"),
    # "Before" and "after" instead; allowed are a NAT, a lock or a function, and things that are left behind.
    rule("place", r"\b[Ii]n front of\b|\b[Bb]ehind\b",
         r"behind (?:an? |the (?:same )?|one |its |their )?(?:\w+ )?" + PLACE + r"(?!\w)|ahead nor behind"
         r"|behind (?:one|the same) (?:\w+ ){0,2}(?:port|address)\b"
         r"|\b(?:leav\w+|left|fall\w*|fell|lag\w*)(?: \w+){0,4} behind(?! (?:it|them|the|all|half|a|an)\b)"
         r"|\bmov\w+(?: \w+){0,3} behind\b"),
    rule("there", r"\b(?:is|are|was|were) there\b(?! (?:an?|no|any|nothing|room)\b)(?!.*\?)"
         r"|\bthat there (?:is|are|was|were)(?: not)?(?=[.,;:)]|$)|\b[Tt]here (?:is|are|was|were) an? \w+ that\b",
         r"\b(?:nor|only|then|neither)\b.{0,20}\b(?:is|are|was|were) there"),
    # Programs print, return, send, receive, request; people and documents may say and ask.
    rule("speech", SPEECH,
         PERSON + SPEECH + "|" + DOCUMENT + SPEECH + r"|\b(?:tells?|told|telling)(?: \w+){0,4} apart\b"),
    rule("thought", THOUGHT + r"|\btakes? (?:it|them|that|this|itself) for\b|\btaken for (?:lost|dead|one)\b",
         PERSON + THOUGHT + "|" + DOCUMENT + THOUGHT),
    rule("such", r"\b[Ss]o (?:many|much|long)\b|\b(?:is|was) that of\b",
         r"\bso (?:many|much|long)\b(?: \w+){0,3} (?:that|as)\b"),
    rule("ours", r"\b(?:[Oo]urs|[Tt]heirs|[Ww]e|[Oo]ur)\b|\b(?:of|to|from|by|with|for|at|tells|lets) us\b"),
    rule("whether", r"^Whether\b(?!.*\b(?:depends?|matters?|cannot|unspecified|unknown)\b)"),  # "True if" instead
    rule("colon", r"(?:^|[;.,] )(?:[Tt]rue|[Ff]alse): "),  # "Returns false if" instead
    rule("long", r"(?:^|(?<=; ))(?:(?>(?:(?:xx|[\d*_])[^\s;]*\s+)*(?:\([^)]*\)[^\s;]*|[^\s;]+)\s+)){%d}\S" % LONGEST),
)

# Sentences that break the rule, and at "" sentences that break none.
CASES = {
    "clause": ("What is left is freed.", "The bytes of what the peer sends", "Whoever asks gets it.",
               "It sends what waits."),
    "place": ("It comes behind the result.", "The look in front of the sleep", "Packets leave behind the first one."),
    "there": ("The association is there.", "Uses the PD that there is.", "There is a timer that expires."),
    "speech": ("The peer is told.", "The kernel says why.", "The program hears of the error."),
    "thought": ("The server believes the packet.", "The peer asks for the address.", "The chunk was taken for lost."),
    "such": ("Waits for so many packets.", "A peer is silent for so long.", "The MTU is that of the link."),
    "ours": ("It is an address of ours.", "We send the packet.", "The packet comes to us."),
    "whether": ("Whether the window is full.",),
    "colon": ("Takes a word; false: it is another.",),
    "long": ("word " * (LONGEST + 1),),
    "": ("What is a queue pair?", "A host behind a NAT sends first.", "RFC 9260 says that the sender waits.",
         "A process that dies leaves a file behind.", "The next message describes what to do.",
         "Users ask for the address.", "Copy what you need.",
         "The log has `what is left` in it.", 'Prints "what was said".', "The test verifies what the peer sent.",
         "Two peers can be told apart.", "Nor is there room for the packet.",
         "Such a packet is dropped.", "Whether this works depends on the kernel.",
         "The rest is so long that it is cut.", "See [the guide](what-is-there).", "Calls ask() in launcher/ask.c.",
         "A HEARTBEAT leaves after each second.", "The path may wait as long as it lasts.", "word " * LONGEST,
         "word; " * 2 * LONGEST),
}


def broken(masked):
    """Names of the rules that a sentence breaks."""
    for name, pattern, allowed in RULES:
        spared = [m.span() for m in allowed.finditer(masked)]
        if any(all(m.end() <= a or m.start() >= b for a, b in spared) for m in pattern.finditer(masked)):
            yield name


def self_test():
    """Yields a line for each case that the rules get wrong."""
    for name, cases in CASES.items():
        for text in cases:
            found = list(broken(next(sentences([(1, text)]))[2]))
            if name not in found if name else found:
                yield f"english.py: {text[:60]!r} breaks {found}, not {[name] if name else []}"


def hits(under):
    for s in prose(under):
        rules = list(broken(s.masked))
        if rules:
            yield s, f"{s.path}:{s.line}: {', '.join(rules)}: {s.text}"


def count(under):
    rows = collections.defaultdict(collections.Counter)
    for s in prose(under):
        rules = [*broken(s.masked)]
        for row in ("all", s.path if under else "/".join(s.path.split("/")[:-1][:3]) or "."):
            rows[row].update(rules + ["sentences"] + ["hit"] * bool(rules))
    names = ("sentences", "hit", *(name for name, *_ in RULES))
    print("".join(f"{name:>10}" for name in names))
    for row in sorted(rows, key=lambda row: (row == "all", row)):
        print("".join(f"{rows[row][name]:10}" for name in names), row)


def sample(seed, number=100, *under):
    found = [s for s in prose(under) if len(s.text.split()) >= SAMPLE_WORDS]
    comments = [s for s in found if not s.document and (under or s.path.startswith(PRODUCT))]
    documents = [s for s in found if s.document]
    dice = random.Random(int(seed))
    for kind, part in ((comments, round(int(number) * 0.6)), (documents, int(number) - round(int(number) * 0.6))):
        for s in dice.sample(kind, min(part, len(kind))):
            print(f"{s.path}:{s.line}: {s.text}")


def check():
    wrong = [*self_test(), *(line for _, line in hits(()))]
    print("\n".join(wrong) or "no sentence breaks a rule")
    sys.exit(bool(wrong))


def main():
    option, *rest = sys.argv[1:] or [""]
    if option == "--self-test":
        wrong = list(self_test())
        sys.exit("\n".join(wrong) or 0)
    elif option == "--hits":
        print("".join(f"{line}\n" for _, line in hits(rest)), end="")
    elif option == "--count":
        count(rest)
    elif option == "--sample" and rest:
        sample(*rest)
    elif option:
        sys.exit(__doc__)
    else:
        check()


if __name__ == "__main__":
    main()
