# SPDX-License-Identifier: Apache-2.0
"""Expiry and integers at their edges: overflow is an error that changes nothing; times are absolute and exact."""

import time

import case

MAX = 2**63 - 1


class Expiry(case.ServerCase):
    def untouched(self, *command, error=None):
        """`command` on a key with value and expiry fails and leaves both as they were."""
        self.expect(b"+OK\r\n", "SET", "k", "old", "PXAT", "4102444800000")
        name = command[0].lower()
        self.expect(error or b"-ERR invalid expire time in '%s' command\r\n" % name.encode(), *command)
        self.expect(b"$3\r\nold\r\n", "GET", "k")
        self.expect(b":4102444800000\r\n", "PEXPIRETIME", "k")

    def test_set_refuses_times_of_zero_below_zero_and_overflow(self):
        for option, value in (("EX", 0), ("EX", -1), ("PX", 0), ("PX", -5), ("EXAT", 0), ("PXAT", -1),
                              ("PX", MAX), ("EX", MAX), ("EX", 10**16), ("EXAT", MAX), ("EX", MAX // 1000 + 1)):
            with self.subTest(option=option, value=value):
                self.untouched("SET", "k", "new", option, value)
                self.untouched("GETEX", "k", option, value)
        for value in ("abc", "", " 1", "1.5", "9223372036854775808"):
            self.untouched("SET", "k", "new", "EX", value, error=b"-ERR value is not an integer or out of range\r\n")

    def test_setex_and_psetex_refuse_the_same(self):
        for command in ("SETEX", "PSETEX"):
            for value in (0, -1, MAX):
                with self.subTest(command=command, value=value):
                    self.untouched(command, "k", value, "new")

    def test_expire_refuses_overflow(self):
        for command, value in (("EXPIRE", MAX), ("EXPIRE", 18446744073709561), ("PEXPIRE", MAX), ("EXPIREAT", MAX),
                               ("EXPIRE", -MAX), ("EXPIREAT", MAX // 1000 + 1)):
            with self.subTest(command=command, value=value):
                self.untouched(command, "k", value)
        for value in (MAX + 1, 18446744073709551617, "1x"):
            self.untouched("EXPIRE", "k", value, error=b"-ERR value is not an integer or out of range\r\n")

    def test_a_time_in_the_past_deletes(self):
        for command, value in (("EXPIRE", -1), ("EXPIRE", 0), ("PEXPIRE", -1), ("EXPIREAT", 1), ("PEXPIREAT", 1),
                               ("PEXPIRE", 0), ("EXPIREAT", 0)):
            with self.subTest(command=command, value=value):
                self.expect(b"+OK\r\n", "SET", "k", "v")
                self.expect(b":1\r\n", command, "k", value)
                self.expect(b":0\r\n", "EXISTS", "k")
                self.expect(b":0\r\n", "DBSIZE")
        self.expect(b"+OK\r\n", "SET", "k", "v")
        self.expect(b"+OK\r\n", "SET", "k", "v", "PXAT", "1")
        self.expect(b"$-1\r\n", "GET", "k")

    def test_conditions_of_expire(self):
        self.expect(b"+OK\r\n", "SET", "k", "v")
        for reply, *rest in ((0, 100, "XX"), (0, 100, "GT"), (1, 100, "LT"), (0, 50, "NX"), (0, 50, "GT"),
                             (1, 200, "GT"), (0, 300, "LT"), (1, 50, "XX", "LT"), (1, 60, "XX")):
            self.expect(b":%d\r\n" % reply, "EXPIRE", "k", *rest)
        self.expect(b"-ERR NX and XX, GT or LT options at the same time are not compatible\r\n",
                    "EXPIRE", "k", "1", "NX", "XX")
        self.expect(b"-ERR GT and LT options at the same time are not compatible\r\n",
                    "EXPIRE", "k", "1", "GT", "LT")
        self.expect(b"-ERR Unsupported option AB\r\n", "EXPIRE", "k", "1", "AB")
        self.expect(b":0\r\n", "EXPIRE", "missing", "1")

    def test_what_keeps_and_what_drops_an_expiry(self):
        self.expect(b"+OK\r\n", "SET", "k", "10", "EX", "1000")
        for keeps in (("INCR", "k"), ("APPEND", "k", "1"), ("SETRANGE", "k", "0", "2"), ("SET", "k", "1", "KEEPTTL"),
                      ("SETBIT", "k", "1", "1"), ("INCRBYFLOAT", "k", "1.5"), ("RENAME", "k", "k2"),
                      ("RENAME", "k2", "k")):
            self.wire.ask(*keeps)
            key = "k2" if keeps == ("RENAME", "k", "k2") else "k"
            self.assertGreater(self.wire.call("TTL", key), 990, keeps)
        for drops in (("SET", "k", "v"), ("GETSET", "k", "v"), ("MSET", "k", "v"), ("PERSIST", "k"),
                      ("GETEX", "k", "PERSIST")):
            self.wire.ask("EXPIRE", "k", "1000")
            self.wire.ask(*drops)
            self.expect(b":-1\r\n", "TTL", "k")
        self.expect(b":-2\r\n", "TTL", "missing")
        self.expect(b":-2\r\n", "PEXPIRETIME", "missing")

    def test_a_key_is_gone_at_its_millisecond_for_every_command(self):
        for i in range(50):
            self.wire.ask("SET", f"gone{i}", "v", "PX", "40")
        self.wire.ask("SET", "stays", "v", "PX", "100000")
        time.sleep(0.06)
        self.expect(b"*1\r\n$5\r\nstays\r\n", "KEYS", "*")
        self.expect(b"$-1\r\n", "GET", "gone0")
        self.expect(b":0\r\n", "EXISTS", "gone1", "gone2")
        self.expect(b"+none\r\n", "TYPE", "gone3")
        self.expect(b":-2\r\n", "TTL", "gone4")
        self.expect(b":0\r\n", "DEL", "gone5")
        for _ in range(50):  # among the many that have expired, always the one that lives
            self.expect(b"$5\r\nstays\r\n", "RANDOMKEY")
        self.expect(b"$-1\r\n", "GETEX", "gone6", "EX", "10")
        self.expect(b":1\r\n", "SETNX", "gone7", "new")
        self.expect(b"-ERR no such key\r\n", "RENAME", "gone8", "x")
        self.expect(b":1\r\n", "INCR", "gone9")
        cursor, found = b"0", []
        while True:
            cursor, page = self.wire.call("SCAN", cursor, "COUNT", "100")
            found += page
            if cursor == b"0":
                break
        self.assertEqual(sorted(found), [b"gone7", b"gone9", b"stays"])

    def test_expired_keys_are_reclaimed_while_no_client_sends_anything(self):
        for i in range(0, 20000, 500):
            self.wire.raw(b"".join(case.encode("SET", f"e{j}", "v" * 100, "PX", "100") for j in range(i, i + 500)))
            for _ in range(500):
                self.wire.reply()
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            time.sleep(1)
            if self.wire.call("DBSIZE") == 0:
                return
        self.fail(f"{self.wire.call('DBSIZE')} expired keys still stand")


class Integers(case.ServerCase):
    def test_overflow_is_an_error_that_changes_nothing(self):
        overflow = b"-ERR increment or decrement would overflow\r\n"
        for start, command, error in (
                (MAX, ("INCR", "n"), overflow), (MAX - 1, ("INCRBY", "n", 2), overflow),
                (-MAX - 1, ("DECR", "n"), overflow), (-MAX, ("DECRBY", "n", 2), overflow),
                (0, ("DECRBY", "n", -MAX - 1), b"-ERR decrement would overflow\r\n"),
                (1, ("INCRBY", "n", MAX), overflow), (-2, ("INCRBY", "n", -MAX - 1 + 1), overflow)):
            with self.subTest(start=start, command=command):
                self.expect(b"+OK\r\n", "SET", "n", start, "EX", "1000")
                self.expect(error, *command)
                self.assertEqual(self.wire.call("GET", "n"), str(start).encode())
                self.assertGreater(self.wire.call("TTL", "n"), 900)
        self.expect(b"+OK\r\n", "SET", "n", MAX - 1)
        self.expect(b":%d\r\n" % MAX, "INCR", "n")

    def test_what_is_no_integer(self):
        for text in (" 1", "1 ", "01", "-0", "+1", "", "-", "1e3", "1.0", "0x1", "9223372036854775808",
                     "-9223372036854775809", "1\0"):
            with self.subTest(text=text):
                self.expect(b"+OK\r\n", "SET", "n", text)
                for command in (("INCR", "n"), ("DECRBY", "n", 1)):
                    self.expect(b"-ERR value is not an integer or out of range\r\n", *command)
                self.assertEqual(self.wire.call("GET", "n"), text.encode())
                self.expect(b"+OK\r\n", "SET", "n", 5)
                self.expect(b"-ERR value is not an integer or out of range\r\n", "INCRBY", "n", text)

    def test_what_is_no_float(self):
        for text in (" 1", "1 ", "", "abc", "1x", "nan"):
            self.expect(b"+OK\r\n", "SET", "f", text)
            self.expect(b"-ERR value is not a valid float\r\n", "INCRBYFLOAT", "f", "1")
        self.expect(b"+OK\r\n", "SET", "f", "1")
        for text in ("inf", "-inf", "+inf"):
            self.expect(b"-ERR increment would produce NaN or Infinity\r\n", "INCRBYFLOAT", "f", text)
        for value, step, result in (("10.50", "0.1", "10.6"), ("5.0e3", "2.0e2", "5200"), ("3", "1.1", "4.1"),
                                    ("1", "-1", "0"), ("0", "1e-17", "0.00000000000000001")):
            self.expect(b"+OK\r\n", "SET", "f", value)
            self.assertEqual(self.wire.call("INCRBYFLOAT", "f", step), result.encode())

    def test_ranges_at_their_edges(self):
        self.expect(b":0\r\n", "SETRANGE", "a", "1", "")
        self.expect(b":0\r\n", "EXISTS", "a")
        too_big = b"-ERR string exceeds maximum allowed size (proto-max-bulk-len)\r\n"
        self.expect(too_big, "SETRANGE", "a", "600000000", "v")
        self.expect(too_big, "SETRANGE", "a", MAX, "v")
        self.expect(b"-ERR offset is out of range\r\n", "SETRANGE", "a", "-1", "v")
        self.expect(b"-ERR bit offset is not an integer or out of range\r\n", "SETBIT", "a", 2**32, "1")
        self.expect(b"+OK\r\n", "SET", "a", "hello")
        for low, high, part in ((0, 4294967297, "hello"), (-MAX - 1, MAX, "hello"), (-3, -1, "llo"), (3, 1, ""),
                                (5, 9, ""), (-100, -5, "h"), (MAX, MAX, "")):
            self.assertEqual(self.wire.call("GETRANGE", "a", low, high), part.encode(), (low, high))


if __name__ == "__main__":
    case.main()
