# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The distance of two processors: the time in ns in which a cache line moves from one to the other and back.

The host of a virtual machine moves its processors, near to each other or far apart, for seconds or minutes. All
figures depend on this distance, bandwidths by a factor of 2.5 and more. An unknown distance is None.
"""
import os
import subprocess

from programs import BIN

FACTOR = 1.5  # maximum factor between distances that count as alike
ALONE = 77  # exit status of core-distance if the program may run on only one processor


def measure():
    """Measures the distance. Returns None if there is only one processor."""
    if len(os.sched_getaffinity(0)) < 2:
        return None
    done = subprocess.run([BIN / "core-distance"], stdout=subprocess.PIPE, text=True)
    if done.returncode == ALONE:
        return None
    done.check_returncode()
    return float(done.stdout)


def are_alike(*distances):
    """True if all known distances count as alike."""
    known = [d for d in distances if d is not None]
    return not known or max(known) <= FACTOR * min(known)


def classes(distances):
    """Returns the smallest and largest distance of each class. Each distance of a class is like the smallest one."""
    found = []
    for d in sorted(distances):
        if found and are_alike(found[-1][0], d):
            found[-1][1] = d
        else:
            found.append([d, d])
    return found


def in_words(smallest, largest):
    ends = dict.fromkeys((f"{smallest:.0f}", f"{largest:.0f}"))
    return " to ".join(ends) + " ns"


def by_class(items, distance_of):
    """Yields (description, items) for each class of their distances. With at most one class, the description is ""."""
    known = [item for item in items if distance_of(item) is not None]
    found = classes(map(distance_of, known))
    if len(found) < 2:
        yield "", items
        return
    for smallest, largest in found:
        yield f"at {in_words(smallest, largest)}", [item for item in known if smallest <= distance_of(item) <= largest]
    if len(known) < len(items):
        yield "at a distance not known", [item for item in items if distance_of(item) is None]
