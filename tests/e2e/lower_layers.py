#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""All cases of the stock programs, on every link, over each carrier in User-Mode Linux. ctest runs a selection.

    lower_layers.py [LAYER...]               kernel, ip: on both sides; udp-kernel, ip-kernel: between the two;
                                             paths: between the two over two links (paths_kernel.py)
    lower_layers.py --link LINK [--guest]    one link, as with the other scripts, over this process's SCTPIW_LLP

Each link takes one boot. A case that is impossible with a link or a carrier prints the reason, and is listed at the
end.
"""
import collections
import os
import re
import subprocess
import sys

import apps
import failures
import harness
import paths_kernel
import perftest
import rping

SCRIPTS = {"rping": rping.CASES, "perftest": list(perftest.cases()), "apps": apps.CASES, "failures": failures.CASES}
CASES = [(f"{script}.{name}", function) for script, cases in SCRIPTS.items() for name, function in cases]
INSIDE = "lo", "veth1500", "veth9000", "loss"
LAYERS = {
    "kernel": INSIDE,
    "ip": INSIDE,
    "udp-kernel": ("to-guest", "from-guest"),
    "ip-kernel": ("to-guest-ip", "from-guest-ip"),
    "paths": ("from-kernel", "to-kernel", "from-kernel-ip", "to-kernel-ip"),
}
BOOT_SECONDS = 3600
VERDICT = re.compile(r"(ok|SKIP|FAIL) +(\S+) on \S+ \([\d.]+ s\)(?:: (.*))?$")


def run_link(layer, link):
    """Runs the cases of a link in one boot. Returns the verdicts, each with the case and the reason."""
    env = dict(os.environ, SCTPIW_LLP=layer) if layer in ("kernel", "ip") else os.environ
    script, cases = (paths_kernel.__file__, paths_kernel.cases(link)) if layer == "paths" else (__file__, CASES)
    inside = layer in ("kernel", "ip") or layer == "paths" and "-ip-" not in link
    argv = [sys.executable, script, "--link", link, "--guest-seconds", str(BOOT_SECONDS), *["--guest"] * inside]
    verdicts = []
    print(f"--- {layer} on {link}", flush=True)
    with subprocess.Popen(argv, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                          errors="replace") as boot:
        for line in boot.stdout:
            print(line, end="", flush=True)
            if found := VERDICT.match(line):
                verdicts.append(found.groups())
    if len(verdicts) != len(cases):
        verdicts.append(("FAIL", "boot", f"{len(verdicts)} of {len(cases)} cases ran, status {boot.returncode}"))
    return verdicts


def main():
    layers = sys.argv[1:] or list(LAYERS)
    if wrong := set(layers) - set(LAYERS):
        sys.exit(f"no lower layer is called {' or '.join(wrong)}: {', '.join(LAYERS)}")
    table, skipped, failed = [], collections.defaultdict(set), []
    for layer in layers:
        for link in (f"{kind}-v{family}" for kind in LAYERS[layer] for family in "46"):
            verdicts = run_link(layer, link)
            count = collections.Counter(verdict for verdict, _, _ in verdicts)
            table.append(f"{layer:10} {link:16} {count['ok']:4} ok {count['SKIP']:4} skipped {count['FAIL']:4} failed")
            for verdict, name, why in verdicts:
                if verdict == "SKIP":
                    skipped[name, why].add(f"{layer} {link}")
                elif verdict == "FAIL":
                    failed.append(f"FAIL {name}, {layer} on {link}: {why}")
    for (name, why), where in sorted(skipped.items()):
        print(f"SKIP {name}: {why} ({', '.join(sorted(where))})")
    print("\n".join(table + failed))
    return harness.EXIT_FAILED if failed else 0


if __name__ == "__main__":
    sys.exit(harness.main(CASES) if "--link" in sys.argv else main())
