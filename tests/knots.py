#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Finds the knots in the rooms of providers/sctpiw: sets of files that use each other, directly or through others.

    tests/knots.py BUILD                 prints the knots, and the symbols that tie each knot; fails if a knot has grown
    tests/knots.py BUILD --order ROOM    prints the best order of all files of ROOM, and the symbols against this order

A file uses another file of its room if its object in the build directory BUILD refers to a symbol of the other object.
In an order without knots, each file uses only earlier files. A symbol is against an order if a file before the file of
the symbol uses the symbol. The script searches for the order with the fewest such symbols. Each symbol is a function
or an object to move to an earlier file, or a use to remove. tests/rooms.py calls check().
"""
import collections
import functools
import itertools
import operator
import pathlib
import random
import re
import subprocess
import sys

# The most files that a knot of each room may have, 0 for no knots. Lower a number once the knots are smaller, and never
# raise a number. The target is at most 5 files in each room, and no knot in verbs.
LARGEST = {
    "util": 0,
    "sys": 0,
    "log": 0,
    "faults": 0,
    "config": 0,
    "wire": 2,
    "sctp": 22,
    "iwarp": 32,
    "conn": 21,
    "net": 4,
    "runtime": 19,
    "verbs": 23,
}
SEARCHES = 30  # the number of random orders from which the search starts

# The global symbols of an object: the kinds of the defined symbols by name, and the names of the undefined symbols.
Unit = collections.namedtuple("Unit", "defined undefined")
# A symbol between files of a room: name, kind, the file that defines the symbol, and the other files that use it.
Symbol = collections.namedtuple("Symbol", "name kind file users")


@functools.cache
def units(build, room):
    """Returns the Unit of each file of a room, from the archive of the room."""
    archive = pathlib.Path(build) / "providers" / "sctpiw" / f"libsctpiw_{room}.a"
    out = subprocess.run(["nm", "-P", "-A", "-g", str(archive)], check=True, capture_output=True, text=True).stdout
    found = collections.defaultdict(lambda: Unit({}, set()))
    for file, name, kind in re.findall(r"\[(.+)\.o\]: ([^\s@]+)\S* (\S)", out):
        if kind in "Uvw":
            found[file].undefined.add(name)
        else:
            found[file].defined[name] = "function" if kind in "TWi" else "data"
    return found


def symbols(room):
    """Returns the symbols that one file of the room defines and other files use."""
    defined = [(file, name, kind) for file, unit in room.items() for name, kind in unit.defined.items()]
    found = [Symbol(name, kind, file, sorted(user for user in room if user != file and name in room[user].undefined))
             for file, name, kind in sorted(defined)]
    return [symbol for symbol in found if symbol.users]


def knots(files, used):
    """Returns the strongly connected components of the files; a component uses only earlier components."""
    below = {file: {symbol.file for symbol in used if file in symbol.users} for file in files}
    reached = {}
    for file in files:
        reached[file], todo = {file}, [file]
        while todo:
            new = below[todo.pop()] - reached[file]
            reached[file] |= new
            todo += new
    # A component reaches more files than a component that it uses.
    components = {tuple(sorted(other for other in reached[file] if file in reached[other])) for file in files}
    return sorted(components, key=lambda component: (len(reached[component[0]]), component))


def restrict(used, is_used):
    """Returns the symbols with only the users for which is_used(user, file) holds, and none without users."""
    cut = [symbol._replace(users=[user for user in symbol.users if is_used(user, symbol.file)]) for symbol in used]
    return [symbol for symbol in cut if symbol.users]


def against(order, used):
    """Returns the symbols that files use before the file of the symbol, with these users only."""
    at = {file: place for place, file in enumerate(order)}
    return restrict(used, lambda user, file: at[user] < at[file])


def improve(order, masks):
    """Moves single files of the order while a move reduces the number of symbols against the order.

    Files are numbers. masks has, for each file, the users of each of its symbols as bits."""
    def wrong(file, earlier):
        return sum(1 for users in masks[file] if users & earlier)

    moved = True
    while moved:
        moved = False
        for file in sorted(order):
            rest = [other for other in order if other != file]
            # The bits of the files before each other file, and the change of the number if this file moves past it.
            earlier = list(itertools.accumulate((1 << other for other in rest), operator.or_, initial=0))
            change = [wrong(file, mask | 1 << other) - wrong(file, mask)
                      + wrong(other, mask) - wrong(other, mask | 1 << file) for other, mask in zip(rest, earlier)]
            costs = list(itertools.accumulate(change, initial=0))
            best = min(range(len(costs)), key=costs.__getitem__)
            if costs[best] < costs[order.index(file)]:
                order, moved = rest[:best] + [file] + rest[best:], True
    return order


def sort_knot(files, used):
    """Returns the order with the fewest symbols against it that the search finds, and these symbols."""
    used = restrict(used, lambda user, file: user in files and file in files)
    masks = [[sum(1 << files.index(user) for user in symbol.users) for symbol in used if symbol.file == file]
             for file in files]
    dice = random.Random(1)
    orders = [improve(dice.sample(range(len(files)), len(files)), masks) for _ in range(SEARCHES)]
    named = [[files[each] for each in order] for order in orders]
    return min(((order, against(order, used)) for order in named), key=lambda result: (len(result[1]), result[0]))


def print_symbols(wrong):
    for symbol in sorted(wrong, key=lambda symbol: (symbol.file, symbol.name)):
        print(f"    {symbol.name} ({symbol.kind}) of {symbol.file}, used by {', '.join(symbol.users)}")


def check(build, name):
    """Yields a line if a knot of the room is larger than the number in LARGEST."""
    room = units(build, name)
    largest = max(knots(room, symbols(room)), key=len)
    if len(largest) > max(LARGEST[name], 1):
        yield f"{name}/ has a knot of {len(largest)} files, more than {LARGEST[name]}: {' '.join(largest)}"


def print_knots(build, name):
    room = units(build, name)
    used = symbols(room)
    tied = sorted((files for files in knots(room, used) if len(files) > 1), key=len, reverse=True)
    print(f"{name}: {len(room)} files, {sum(len(symbol.users) for symbol in used)} uses; "
          f"files in knots: {', '.join(str(len(files)) for files in tied) or 'none'}, at most {LARGEST[name]}")
    for files in tied:
        order, wrong = sort_knot(files, used)
        print(f"  {len(files)} files, {len(wrong)} symbols against the order {' '.join(order)}")
        print_symbols(wrong)


def print_order(build, name):
    room = units(build, name)
    used = symbols(room)
    order = [file for files in knots(room, used) for file in sort_knot(files, used)[0]]
    wrong = against(order, used)
    print(f"{name}: {len(order)} files, {len(wrong)} symbols against the order\n  {' '.join(order)}")
    print_symbols(wrong)


def main():
    match sys.argv[1:]:
        case [build]:
            for name in LARGEST:
                print_knots(build, name)
            faults = [line for name in LARGEST for line in check(build, name)]
            print("\n".join(faults) or "no knot has grown")
            return bool(faults)
        case [build, "--order", name] if name in LARGEST:
            print_order(build, name)
            return False
    sys.exit(__doc__)


if __name__ == "__main__":
    sys.exit(main())
