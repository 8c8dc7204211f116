#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The README shows what happens: its tour is typed against a running server and every reply
compared, and each command that its table names is one that the server has.

A tour is a fenced block `console`: lines that start with `$ ` are typed, the lines below are what
appears on a terminal; `...` stands for anything."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/conformance"))
import server  # noqa: E402  pylint: disable=wrong-import-position

README = (ROOT / "README.md").read_text()
TOUR = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)


def steps(block):
    """[(typed, expected), ...]"""
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)
    return [part.partition("\n")[::2] for part in parts if part.strip()]


def pattern(expected):
    return ".*".join(re.escape(piece) for piece in expected.strip().split("..."))


class Readme(unittest.TestCase):
    options = None

    @classmethod
    def setUpClass(cls):
        cls.server = server.Server(cls.options.server, cls.options.kind).start()
        cls.folder = tempfile.TemporaryDirectory()
        # On a terminal redis-cli prints types and quotes; the port is the test's.
        cls.stand_in("redis-cli", "--no-raw")
        cls.stand_in("redis-benchmark", "")

    @classmethod
    def stand_in(cls, name, option):
        script = pathlib.Path(cls.folder.name) / name
        script.write_text(f'#!/bin/sh\nPATH={os.environ["PATH"]} exec {name} {option} '
                          f'-p {cls.server.port} "$@"\n')
        script.chmod(0o755)

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        cls.folder.cleanup()

    def typed(self, line):
        path = f"{self.folder.name}:{os.environ['PATH']}"
        done = subprocess.run(["bash", "-c", line], stdin=subprocess.DEVNULL, timeout=60, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                              env=os.environ | {"PATH": path})
        return "\n".join(row.rstrip() for row in done.stdout.replace("\r", "").splitlines()).strip()

    def test_the_tour_shows_what_happens(self):
        tours = TOUR.findall(README)
        self.assertTrue(tours, "the README has no tour")
        for typed, expected in (step for tour in tours for step in steps(tour)):
            got = self.typed(typed)
            if not re.fullmatch(pattern(expected), got, re.DOTALL):
                self.fail(f"$ {typed}\n--- the README says\n{expected.strip()}\n--- it is\n{got}")

    def test_every_command_that_the_table_names_is_there(self):
        rows = re.findall(r"^\| (?:Strings|Bits|Keys|Connection|Transactions|Server|Answered) \| (.*) \|$",
                          README, re.MULTILINE)
        self.assertEqual(len(rows), 7)
        plain = re.sub(r"\(.*?\)", "", " ".join(rows))
        named = re.findall(r"[A-Z][A-Z_.]+", plain)
        self.assertGreater(len(named), 60)
        have = set(self.typed("redis-cli --raw COMMAND LIST").lower().split())
        have = {name for name in have if "|" not in name}  # subcommands
        self.assertEqual([name for name in named if name.lower() not in have], [])
        if self.options.kind == "nidus":
            unnamed = have - {name.lower() for name in named}
            self.assertEqual(sorted(unnamed), [], "commands that the README's table does not name")


if __name__ == "__main__":
    Readme.options = server.parse_arguments(__doc__)
    sys.exit(unittest.main(argv=sys.argv[:1], verbosity=2))
