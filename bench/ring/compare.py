#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Look-ups of nidus' ring, std::upper_bound, libmemcached and Python's uhashring, in turns.

uhashring is no Debian package: without it its row is left out.
Usage: compare.py ring_lookup_bench [--rounds N]      (PYTHONPATH may say where uhashring is)
"""

import argparse
import importlib.metadata
import statistics
import subprocess
import time

NODES, TOKENS, LOOKUPS = 100, 128, 20_000


def uhashring_round():
    """Nanoseconds a look-up: one round of a generator, which the caller takes between others."""
    try:
        import uhashring
    except ImportError:
        return None
    nodes = {f"10.0.0.1:{12000 + i}": {"vnodes": TOKENS} for i in range(NODES)}
    ring = uhashring.HashRing(nodes)
    keys = [f"user:{i * 7919 % 100_000_000}" for i in range(LOOKUPS)]

    def measure():
        start = time.perf_counter_ns()
        for key in keys:
            ring.get_node(key)
        return (time.perf_counter_ns() - start) / LOOKUPS

    return measure


def version_of(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "from source"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("bench")
    parser.add_argument("--rounds", type=int, default=11)
    options = parser.parse_args()
    peer = uhashring_round()
    found = {}
    for _ in range(options.rounds):
        done = subprocess.run([options.bench, "1", "--csv"], stdout=subprocess.PIPE, text=True,
                              check=True)
        for line in done.stdout.splitlines():
            name, _, ns = line.rpartition(";")
            found.setdefault(name, []).append(float(ns))
        if peer is not None:
            name = f"key to node, uhashring {version_of('uhashring')}"
            found.setdefault(name, []).append(peer())
    print(f"{NODES} nodes, {TOKENS} tokens each (ketama: 160), {options.rounds} rounds in turns\n")
    for name, values in found.items():
        spread = f"{min(values):.1f} - {max(values):.1f}"
        print(f"{name:34} {statistics.median(values):14.1f} ns   {spread}")
    if peer is None:
        print("\nuhashring is not installed: no row for it")


if __name__ == "__main__":
    main()
