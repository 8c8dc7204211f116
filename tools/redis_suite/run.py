#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs redis' own test-suite (7.0.15, the minimal tier of a server of strings) against nidus or redis-server.

`tools/redis_suite/run.py --server nidus|redis|PATH` fetches the suite (fetch.py), starts the server on a free
port, lets the suite connect to it ("external" mode) unit by unit, and prints for each unit what passed, failed and
was left out, with the reason of each. The last line is `redis_suite: PASSED of TOTAL`. Exit status: 0 when every
test passed, 1 when one failed, 2 when the suite cannot be run, 77 when it cannot be fetched (ctest: skipped).
Running it against redis-server proves the harness and the list of skipped tests.
"""

import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "conformance"), str(ROOT / "tools" / "redis_suite")]

import fetch  # noqa: E402
import server as servers  # noqa: E402

UNITS = ("unit/type/string", "unit/type/incr", "unit/keyspace", "unit/expire", "unit/scan", "unit/protocol")
UNIT_TIMEOUT_S = 240
# One database, no encodings, no DEBUG, no replica, no RDB file: what the minimal tier leaves out.
OPTIONS = ("--durable", "--singledb", "--ignore-encoding", "--ignore-digest",
           "--tags", "-needs:debug -needs:repl -needs:save -needs:config-maxmemory")
# The suite looks for a port p from here on with p + 10000 free too; below Linux' ephemeral ports, which others take.
BASE_PORTS = (12000, 22000)
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
RESULT = re.compile(r"^\[(ok|err|exception|skip|ignore|timeout)\]: ?(.*)$")


def skipped_tests(path):
    """{unit: {test name: reason}} of skipped_tests.txt."""
    units, current, reason = {}, None, None
    for line in path.read_text().splitlines():
        heading = re.match(r"\[(.+)\] (.+)", line)
        if heading:
            current, reason = units.setdefault(heading[1], {}), heading[2]
        elif line and not line.startswith("#"):
            current[line] = reason
    return units


class Unit:
    """One unit's run: the suite's output, sorted by result."""

    def __init__(self, name, output, status):
        self.name, self.status = name, status
        self.results = {kind: [] for kind in ("ok", "err", "exception", "skip", "ignore", "timeout")}
        lines = [COLOUR.sub("", line) for line in output.splitlines()]
        for at, line in enumerate(lines):
            match = RESULT.match(line)
            if match:
                kind, text = match[1], match[2]
                if kind in ("err", "exception", "timeout"):  # the lines below tell what was expected
                    text = "\n    ".join(line[:400] for line in [text] + details(lines, at + 1))
                self.results[kind].append(text)
        self.passed = len(self.results["ok"])
        self.failures = sum((self.results[kind] for kind in ("err", "exception", "timeout")), [])
        if status and not self.failures:
            self.failures.append(f"the suite ended with status {status}:\n    " + "\n    ".join(lines[-15:]))


def details(lines, start):
    found = []
    for line in lines[start:start + 12]:
        if RESULT.match(line):
            break
        found.append(line)
    return found


def run_unit(folder, name, server, skips, base_port):
    with tempfile.NamedTemporaryFile("w", suffix=".skip") as skip_file:
        skip_file.write("".join(test + "\n" for test in skips))
        skip_file.flush()
        command = ["./runtest", "--host", servers.HOST, "--port", str(server.port), *OPTIONS,
                   "--baseport", str(base_port), "--skipfile", skip_file.name, "--single", name]
        # An own session: a suite that hangs leaves tclsh children, and all of them are to be ended.
        process = subprocess.Popen(command, cwd=folder, text=True, stdin=subprocess.DEVNULL, errors="replace",
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            output, _ = process.communicate(timeout=UNIT_TIMEOUT_S)
            status = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            status = f"none: stopped after {UNIT_TIMEOUT_S} s"
    return Unit(name, output, status)


def report(unit, skips):
    print(f"{unit.name}: {unit.passed} passed, {len(unit.failures)} failed")
    for test in unit.results["skip"]:
        print(f"  skipped: {test}: {skips.get(test, 'not in the list')}")
    for text in unit.results["ignore"]:
        print(f"  skipped by the suite: {text}")
    for text in unit.failures:
        print(f"  FAILED: {text}")
    stale = sorted(set(skips) - set(unit.results["skip"]))
    if stale and not unit.failures:
        unit.failures.append("stale names in skipped_tests.txt")
        print(f"  FAILED: skipped_tests.txt names tests that the unit does not hold: {stale}")
    sys.stdout.flush()


def add_options(parser):
    parser.add_argument("--unit", action="append", help="only this unit (may be repeated)")


def working_copy(source, target):
    """The suite writes below its own folder: each run has its own copy, so that two runs do not meet."""
    for part in ("tests", "runtest"):
        if (source / part).is_dir():
            shutil.copytree(source / part, target / part)
        else:
            shutil.copy2(source / part, target / part)
    (target / "src").mkdir()
    return target


def main():
    arguments = servers.parse_arguments(__doc__.splitlines()[0], add_options)
    if not shutil.which("tclsh"):
        print("redis_suite: skipped: tclsh is missing (package tcl)")
        return 77
    try:
        source = fetch.suite_folder()
    except fetch.FetchError as error:
        print(f"redis_suite: skipped: the suite cannot be fetched: {error}")
        return 77
    lists = skipped_tests(ROOT / "tools" / "redis_suite" / "skipped_tests.txt")
    units = []
    with tempfile.TemporaryDirectory(prefix="nidus-redis-suite-") as folder:
        copy = working_copy(source, pathlib.Path(folder))
        for name in arguments.unit or UNITS:
            skips = lists.get(name, {})
            # A fresh server a unit: a failed test leaves its configuration behind.
            with servers.Server(arguments.server, arguments.kind) as server:
                unit = run_unit(copy, name, server, skips, random.randrange(*BASE_PORTS))
                if not server.alive():
                    unit.failures.append(f"the server ended by itself: {server.output()}")
                report(unit, skips)
            units.append(unit)
    passed, failed = sum(u.passed for u in units), sum(len(u.failures) for u in units)
    print(f"redis_suite: {passed} of {passed + failed} passed ({arguments.server})")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
