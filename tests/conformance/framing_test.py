# SPDX-License-Identifier: Apache-2.0
"""RESP framing on a raw socket: splits, odd counts, protocol errors, binary data, long pipelines.

The exact replies are redis 7.0.15's: run with `--server redis` to see them pass there.
"""

import socket
import time
import unittest

import case
from wire import encode


class Framing(case.ServerCase):
    def answered_and_closed(self, request, answer):
        wire = self.connect()
        wire.raw(request)
        self.assertEqual(wire.until_close(), answer, request)

    def test_a_request_split_at_every_position_answers_the_same(self):
        request = b"\r\n*2\r\n$4\r\nECHO\r\n$5\r\nhello\r\n"
        for at in range(1, len(request)):
            self.wire.raw(request[:at])
            time.sleep(0.002)
            self.wire.raw(request[at:])
            self.assertEqual(self.wire.reply(), b"$5\r\nhello\r\n", f"split at {at}")
        for byte in request:
            self.wire.raw(bytes([byte]))
        self.assertEqual(self.wire.reply(), b"$5\r\nhello\r\n")
        self.assertTrue(self.wire.quiet())

    def test_a_write_split_at_every_position_writes_once(self):
        request = encode("APPEND", b"k\0\r\n", b"\r\n$1\r\n\0") + encode("STRLEN", b"k\0\r\n")
        for at in range(1, len(request)):
            self.wire.ask("DEL", b"k\0\r\n")
            self.wire.raw(request[:at])
            time.sleep(0.001)
            self.wire.raw(request[at:])
            self.assertEqual(self.wire.reply() + self.wire.reply(), b":7\r\n:7\r\n", f"split at {at}")

    def test_empty_and_null_arrays_are_ignored(self):
        self.wire.raw(b"*0\r\n*-1\r\n\r\n" + encode("PING") + b"*-10\r\n" + encode("PING"))
        self.assertEqual(self.wire.reply(), b"+PONG\r\n")
        self.assertEqual(self.wire.reply(), b"+PONG\r\n")
        self.assertTrue(self.wire.quiet())

    def test_broken_lengths_are_protocol_errors_and_close(self):
        bulk, multi = b"-ERR Protocol error: invalid bulk length\r\n", b"-ERR Protocol error: invalid multibulk length\r\n"
        for request, answer in (
                (b"*1\r\n$-1\r\n", bulk), (b"*1\r\n$2147483648\r\nx\r\n", bulk), (b"*1\r\n$4x\r\n", bulk),
                (b"*2147483648\r\n", multi), (b"*x\r\n", multi), (b"*99999999999999999999\r\n", multi),
                (b"*3\r\n$3\r\nSET\r\n$1\r\nx\r\nfooz\r\n", b"-ERR Protocol error: expected '$', got 'f'\r\n"),
                (b"*" + b"1" * 70000, b"-ERR Protocol error: too big mbulk count string\r\n"),
                (b"*1\r\n$" + b"1" * 70000, b"-ERR Protocol error: too big bulk count string\r\n"),
                (b"x" * 70000, b"-ERR Protocol error: too big inline request\r\n"),
                (b'SET x "y\r\n', b"-ERR Protocol error: unbalanced quotes in request\r\n")):
            with self.subTest(request=request[:40]):
                self.answered_and_closed(request, answer)

    def test_what_stood_before_a_protocol_error_is_answered(self):
        self.answered_and_closed(encode("SET", "k", "v") + encode("GET", "k") + b"*1\r\n$-1\r\n",
                                 b"+OK\r\n$1\r\nv\r\n-ERR Protocol error: invalid bulk length\r\n")

    def test_inline_commands_take_quotes_and_both_line_ends(self):
        self.wire.raw(b'SET "a\\x00b" \'c d\'\nGET "a\\x00b"\r\nping\r\n   \r\nECHO ""\r\n')
        for answer in (b"+OK\r\n", b"$3\r\nc d\r\n", b"+PONG\r\n", b"$0\r\n\r\n"):
            self.assertEqual(self.wire.reply(), answer)

    def test_keys_and_values_with_nul_and_line_ends_come_back(self):
        every_byte = bytes(range(256))
        for key, value in ((b"\0", b"\0"), (b"\r\n", b"\r\n\r\n"), (b"$3\r\nabc\r\n", b"*1\r\n$4\r\nPING\r\n"),
                           (every_byte, every_byte * 300), (b"\xff\xfe", b"")):
            self.expect(b"+OK\r\n", "SET", key, value)
            self.expect(b"$%d\r\n%s\r\n" % (len(value), value), "GET", key)
            self.assertIn(key, self.wire.call("KEYS", "*"))

    def test_the_empty_key_is_a_key(self):
        self.expect(b"+OK\r\n", "SET", "", "empty")
        self.expect(b"$5\r\nempty\r\n", "GET", "")
        self.expect(b"*1\r\n$0\r\n\r\n", "KEYS", "*")
        self.expect(b":1\r\n", "DEL", "")
        self.expect(b"$-1\r\n", "GET", "")

    def test_unknown_protocol_versions_are_refused(self):
        self.expect(b"-NOPROTO unsupported protocol version\r\n", "HELLO", "4")
        self.expect(b"-NOPROTO unsupported protocol version\r\n", "HELLO", "1")
        self.expect(b"-ERR Protocol version is not an integer or out of range\r\n", "HELLO", "abc")
        self.expect(b"-ERR Syntax error in HELLO option 'y'\r\n", "HELLO", "3", "SETNAME", "x", "y")
        self.expect(b"$-1\r\n", "GET", "missing")

    def test_hello_changes_the_protocol_between_two_pipelined_commands(self):
        self.wire.raw(encode("GET", "nil") + encode("HELLO", "3") + encode("GET", "nil") + encode("HELLO", "2")
                      + encode("GET", "nil"))
        self.assertEqual(self.wire.reply(), b"$-1\r\n")
        three = self.wire.reply()
        self.assertTrue(three.startswith(b"%7\r\n$6\r\nserver\r\n"), three)
        self.assertEqual(self.wire.reply(), b"_\r\n")
        self.assertTrue(self.wire.reply().startswith(b"*14\r\n$6\r\nserver\r\n"))
        self.assertEqual(self.wire.reply(), b"$-1\r\n")

    def test_ten_thousand_pipelined_commands_answer_in_order(self):
        count = 10000
        self.wire.raw(b"".join(encode("SET", f"k{i}", i) + encode("GET", f"k{i}") for i in range(count // 2)))
        for i in range(count // 2):
            self.assertEqual(self.wire.reply(), b"+OK\r\n")
            self.assertEqual(self.wire.reply(), b"$%d\r\n%d\r\n" % (len(str(i)), i))
        self.wire.raw(b"".join(encode("INCR", "n") for _ in range(count)))
        for i in range(count):
            self.assertEqual(self.wire.reply(), b":%d\r\n" % (i + 1))

    def test_quit_answers_and_closes_and_ignores_the_rest(self):
        self.answered_and_closed(encode("SET", "q", "1") + encode("QUIT") + encode("SET", "q", "2"), b"+OK\r\n+OK\r\n")
        self.expect(b"$1\r\n1\r\n", "GET", "q")

    def test_a_half_closed_client_still_gets_its_replies(self):
        wire = self.connect()
        wire.raw(encode("SET", "h", "1") + encode("GET", "h"))
        self.assertEqual(wire.reply() + wire.reply(), b"+OK\r\n$1\r\n1\r\n")
        wire.link.shutdown(socket.SHUT_WR)
        self.assertEqual(wire.until_close(), b"")


class NeverReadingClient(case.ServerCase):
    LIMIT = 16 << 20

    def test_a_client_that_never_reads_is_cut_off_and_costs_the_others_nothing(self):
        self.expect(b"+OK\r\n", "CONFIG", "SET", "client-output-buffer-limit", f"normal {self.LIMIT} 0 0")
        self.expect(b"+OK\r\n", "SET", "big", b"x" * (1 << 20))
        before = self.server.resident_bytes()
        deaf, peak, slowest = self.connect(), 0, 0.0
        deaf.link.settimeout(0.2)
        cut = False
        # By the clock: a fast client sends hundreds of requests while the server copies a few values.
        give_up = time.monotonic() + 20
        while time.monotonic() < give_up:
            try:
                deaf.raw(encode("GET", "big") * 4)
            except TimeoutError:
                pass  # the server stopped reading this client: as good as cutting it off
            except OSError:
                cut = True
                break
            start = time.monotonic()
            self.expect(b"+PONG\r\n", "PING")
            slowest = max(slowest, time.monotonic() - start)
            peak = max(peak, self.server.resident_bytes())
        self.assertTrue(cut, "the connection still takes requests")
        self.assertLess(slowest, 1.0)
        self.assertLess(peak - before, self.LIMIT + (24 << 20))
        self.expect(b"$4\r\nxxxx\r\n", "GETRANGE", "big", "0", "3")


if __name__ == "__main__":
    case.main()
