# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""How far apart two processors are: the time that a cache line takes from one to the other and back, in ns.

The host of a virtual machine moves its processors, near to each other or far apart, for seconds or for minutes. All
figures change with that, bandwidths by a factor of 2.5 and more. None stands for a distance that is not known.
"""
import os
import subprocess

from programs import BIN

FACTOR = 1.5  # by which distances that are alike differ at most
ALONE = 77  # what core-distance ends with if it may run on one processor alone


def measure():
    """The distance now. It is not known if there is one processor."""
    if len(os.sched_getaffinity(0)) < 2:
        return None
    done = subprocess.run([BIN / "core-distance"], stdout=subprocess.PIPE, text=True)
    if done.returncode == ALONE:
        return None
    done.check_returncode()
    return float(done.stdout)


def are_alike(*distances):
    """Whether all that are known are alike."""
    known = [d for d in distances if d is not None]
    return not known or max(known) <= FACTOR * min(known)


def classes(distances):
    """The smallest and the largest of each class. A distance begins a new one if it is not like the smallest of the last."""
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
    """Yields (words, items) for each class of their distances; if there is no more than one, all of them with no words."""
    known = [item for item in items if distance_of(item) is not None]
    found = classes(map(distance_of, known))
    if len(found) < 2:
        yield "", items
        return
    for smallest, largest in found:
        yield f"at {in_words(smallest, largest)}", [item for item in known if smallest <= distance_of(item) <= largest]
    if len(known) < len(items):
        yield "at a distance not known", [item for item in items if distance_of(item) is None]
