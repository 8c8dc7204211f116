# SPDX-License-Identifier: Apache-2.0
"""The frame of every Python test here: one server a class, raw connections to it, and `main()`.

A test file holds classes derived from `ServerCase` and ends with `case.main()`; it is called as
`x_test.py --server nidus|redis|PATH [unittest options]`. `OPTIONS` of a class are server.Server's. A class whose
tools are missing on this machine ends the run with status 77 and the reason: ctest's "skipped".
"""

import argparse
import sys
import unittest

import server as servers
from wire import Closed, Wire, encode, parse  # noqa: F401 (the tests take them from here)

SKIPPED = 77
_arguments = None


class ServerCase(unittest.TestCase):
    OPTIONS = {}
    TIMEOUT_S = 30

    @classmethod
    def setUpClass(cls):
        cls.server = servers.Server(_arguments.server, _arguments.kind, **cls.OPTIONS).start()

    @classmethod
    def tearDownClass(cls):
        alive, output = cls.server.alive(), cls.server.output()
        status = cls.server.stop()
        # Every class ends with a SIGTERM to an idle server: it must leave with 0 by itself.
        if not alive or status != 0:
            raise AssertionError(f"the server ended with status {status} (alive before: {alive}):\n{output}")

    def setUp(self):
        self.wire = self.connect()
        self.assertEqual(self.wire.ask("FLUSHALL"), b"+OK\r\n")

    def connect(self, timeout=None):
        wire = Wire(self.server.connect(timeout or self.TIMEOUT_S))
        self.addCleanup(wire.close)
        return wire

    def expect(self, reply, *command):
        """One command's reply, byte for byte."""
        got = self.wire.ask(*command)
        self.assertEqual(got, reply, f"{command!r}")

    def info(self, field, section="all"):
        for line in self.wire.call("INFO", section).splitlines():
            name, _, value = line.partition(b":")
            if name == field.encode():
                return value.decode()
        self.fail(f"INFO {section} has no field {field}")


def kind():
    return _arguments.kind


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def main(extra=None, prepare=None):
    global _arguments
    parser = argparse.ArgumentParser()
    servers.add_arguments(parser)
    if extra:
        extra(parser)
    _arguments, rest = parser.parse_known_args()
    servers.resolve(_arguments, parser)
    if prepare:
        prepare(_arguments)
    unittest.main(module="__main__", argv=[sys.argv[0]] + rest, verbosity=2)


def arguments():
    return _arguments
