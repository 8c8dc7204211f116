# SPDX-License-Identifier: Apache-2.0
"""Random commands for the differential test: every supported family, with odd arguments now and then.

`Generator(random)` draws one command at a time from few keys and few values, so that keys meet; values and numbers
are drawn from edges as often as from the middle.
"""

KEYS = [b"a", b"b", b"c", b"k1", b"k2", b"k3", b"", b"with space", b"\0\r\n", b"long" * 30, b"{tag}x", b"\xff\xfe"]
NUMBERS = [0, 1, -1, 2, 3, 5, 7, 8, 10, 63, 64, 100, 255, 256, 1000, 4096, 2**31 - 1, 2**31, 2**32, 2**63 - 1, -2**63,
           2**63, -2**63 - 1, -2, -8, -100]
VALUES = [b"", b"0", b"1", b"-1", b"10", b"01", b" 1", b"1 ", b"-0", b"+1", b"abc", b"ABC", b"1.5", b"-2.75", b"1e3", b"3.0e2",
          b"inf", b"nan", b"9223372036854775807", b"-9223372036854775808", b"9223372036854775808", b"\0\xff\0", b"\r\n",
          b"x" * 43, b"x" * 44, b"x" * 45, b"y" * 500, b"12345678901234567890", b"0x10", b"ohmytext", b"mynewtext"]
FLOATS = [b"0.1", b"1", b"-1", b"1.5", b"3.14159", b"1e5", b"-2e-3", b"100000.0001", b"inf", b"abc", b"", b"nan", b" 1", b"1e400"]
# Expiries are either far away or past, and no two are near each other: both servers then agree without the same clock.
FAR = [5000, 100000, 10**9]
FAR_AT = 4102444800


class Generator:
    def __init__(self, random):
        self.random = random
        self.pick = random.choice
        self.draws = 0

    def key(self):
        return self.pick(KEYS)

    def value(self):
        if self.random.random() < 0.1:
            return self.random.randbytes(self.random.randrange(200))
        return self.pick(VALUES)

    def number(self):
        return self.pick(NUMBERS) if self.random.random() < 0.7 else self.random.randrange(-20, 600)

    def far(self):
        self.draws += 1
        return self.pick(FAR) + 60 * self.draws

    def small(self):
        return self.random.randrange(-12, 70)

    def bit(self):
        return self.pick([0, 1, 1, 0, 1, 2]) if self.random.random() < 0.3 else self.pick([0, 1])

    def offset(self):
        return self.random.randrange(0, 3000) if self.random.random() < 0.9 else self.pick([-1, 2**32, "x", 2**63, 100000])

    def case(self, word):
        return self.pick([word, word, word.lower(), word.title()])

    def expiry(self):
        unit = self.pick(["EX", "PX", "EXAT", "PXAT"])
        if self.random.random() < 0.25:
            return [unit, self.pick([0, -1, 2**63 - 1, 10**16, "x", "", "1.5", 2**64])]
        far = self.far()
        at = {"EX": far, "PX": far * 1000, "EXAT": FAR_AT + far, "PXAT": FAR_AT * 1000 + far}
        return [unit, at[unit]]

    def command(self):
        if self.random.random() < 0.02:
            return self.broken()
        family = self.random.choices(
            (self.strings, self.set_command, self.numbers, self.bits, self.keys, self.expire, self.transactions, self.server),
            (20, 14, 12, 16, 14, 12, 5, 3))[0]
        command = family()
        return [self.case(command[0])] + command[1:]

    def broken(self):
        """A wrong number of arguments, or a command that is unknown."""
        command = self.pick([self.strings, self.numbers, self.bits, self.keys, self.expire])()
        if self.random.random() < 0.2:
            return [self.pick(["NOSUCH", "GETT", "", "LPUSHX1", "x" * 200])] + command[1:]
        return command[:-1] if len(command) > 1 and self.random.random() < 0.5 else command + [self.value()]

    def strings(self):
        key, value = self.key, self.value
        return self.pick([
            lambda: ["GET", key()], lambda: ["GET", key()], lambda: ["SETNX", key(), value()],
            lambda: ["GETSET", key(), value()], lambda: ["GETDEL", key()],
            lambda: ["GETEX", key()] + self.pick([[], ["PERSIST"], self.expiry(), ["PERSIST"] + self.expiry(), ["BAD"]]),
            lambda: ["MGET"] + [key() for _ in range(self.random.randrange(1, 6))],
            lambda: [self.pick(["MSET", "MSETNX"])] + [f() for _ in range(self.random.randrange(1, 4)) for f in (key, value)],
            lambda: ["APPEND", key(), value()], lambda: ["STRLEN", key()],
            lambda: [self.pick(["GETRANGE", "SUBSTR"]), key(), self.number(), self.number()],
            lambda: ["GETRANGE", key(), self.small(), self.small()],
            lambda: ["SETRANGE", key(), self.offset(), value()],
            lambda: ["GETRANGE", key(), 0, -1],
            lambda: ["LCS", key(), key()] + self.pick([[], [], ["LEN"], ["IDX"], ["IDX", "WITHMATCHLEN"],
                                                       ["IDX", "MINMATCHLEN", self.pick([0, 2, 4, -1, "x"])],
                                                       ["LEN", "IDX"], ["BAD"]]),
            lambda: [self.pick(["SETEX", "PSETEX"]), key(), self.pick([0, -1, self.far() * 1000, "x", 2**63 - 1]), value()],
        ])()

    def set_command(self):
        options = []
        for _ in range(self.random.choices((0, 1, 2, 3), (40, 35, 20, 5))[0]):
            options += self.pick([["NX"], ["XX"], ["GET"], ["KEEPTTL"], self.expiry(), self.expiry(), ["nx"], ["get"]])
        if self.random.random() < 0.02:
            options += [self.pick(["BAD", "EX", ""])]
        return ["SET", self.key(), self.value()] + options

    def numbers(self):
        key = self.key
        return self.pick([
            lambda: ["INCR", key()], lambda: ["DECR", key()], lambda: ["INCRBY", key(), self.number()],
            lambda: ["DECRBY", key(), self.number()], lambda: ["INCRBYFLOAT", key(), self.pick(FLOATS)],
            lambda: ["INCRBY", key(), self.value()], lambda: ["SET", key(), self.number()],
        ])()

    def field(self):
        kind = self.pick(["u8", "i8", "u1", "i16", "u63", "i64", "u4", "i5", "u64", "i0", "x8", "u", "I8"])
        return [kind, self.pick([0, 1, 7, 8, 63, 100, "#0", "#1", "#7", "-1", "#", "x", 2**32])]

    def settable(self):
        """Not -2^63: redis' check of a signed SET overflows there, and SAT then stores the maximum."""
        return max(self.number(), -2**62)

    def bitfield(self):
        parts = ["BITFIELD", self.key()]
        for _ in range(self.random.randrange(0, 4)):
            parts += self.pick([
                lambda: ["GET"] + self.field(), lambda: ["SET"] + self.field() + [self.settable()],
                lambda: ["INCRBY"] + self.field() + [self.number()],
                lambda: ["OVERFLOW", self.pick(["WRAP", "SAT", "FAIL", "sat", "BAD"])]])()
        return parts

    def bits(self):
        key = self.key
        unit = self.pick([[], [], ["BIT"], ["BYTE"], ["bit"], ["BAD"]])
        return self.pick([
            lambda: ["SETBIT", key(), self.offset(), self.bit()], lambda: ["GETBIT", key(), self.offset()],
            lambda: ["BITCOUNT", key()], lambda: ["BITCOUNT", key(), self.small(), self.small()] + unit,
            lambda: ["BITCOUNT", key(), self.number(), self.number()] + unit,
            lambda: ["BITPOS", key(), self.bit()], lambda: ["BITPOS", key(), self.bit(), self.small()],
            lambda: ["BITPOS", key(), self.bit(), self.small(), self.small()] + unit,
            lambda: ["BITOP", self.pick(["AND", "OR", "XOR", "NOT", "not", "BAD"])]
            + [key() for _ in range(self.random.randrange(2, 5))],
            self.bitfield, self.bitfield,
            lambda: ["BITFIELD_RO", key(), "GET"] + self.field(),
        ])()

    def keys(self):
        key = self.key
        many = [key() for _ in range(self.random.randrange(1, 4))]
        pattern = self.pick(["*", "k*", "?", "[a-c]", "[^a]", "k[0-9]", "\\*", "*ng*", "", "[", "a\\", "**a**"])
        return self.pick([
            lambda: [self.pick(["DEL", "UNLINK", "EXISTS", "TOUCH"])] + many, lambda: ["TYPE", key()],
            lambda: ["KEYS", pattern], lambda: [self.pick(["RENAME", "RENAMENX"]), key(), key()],
            lambda: ["COPY", key(), key()] + self.pick([[], ["REPLACE"], ["DB", 0], ["DB", 1, "REPLACE"], ["DB", 99], ["BAD"]]),
            lambda: ["DBSIZE"], lambda: ["SCAN", self.pick([0, 0, "x", ""]), "COUNT", self.pick([1000, 1000, 0, "x", -5])],
            lambda: ["SCAN", 0, "MATCH", pattern, "COUNT", 1000] + self.pick([[], ["TYPE", "string"], ["TYPE", "list"]]),
            lambda: ["OBJECT", "ENCODING", key()], lambda: ["SCAN", 0, "BAD"],
        ])()

    def expire(self):
        key = self.key
        far = self.far()
        flags = self.pick([[], [], [], ["NX"], ["XX"], ["GT"], ["LT"], ["XX", "GT"], ["NX", "XX"], ["GT", "LT"], ["BAD"], ["lt"]])
        odd = self.pick([0, -1, 2**63 - 1, -2**63, 2**63, "x", 18446744073709561, -10**17])
        return self.pick([
            lambda: ["EXPIRE", key(), far] + flags, lambda: ["PEXPIRE", key(), far * 1000] + flags,
            lambda: ["EXPIREAT", key(), FAR_AT + far] + flags, lambda: ["PEXPIREAT", key(), FAR_AT * 1000 + far] + flags,
            lambda: [self.pick(["EXPIRE", "PEXPIRE", "EXPIREAT", "PEXPIREAT"]), key(), odd] + flags,
            lambda: [self.pick(["TTL", "PTTL"]), key()], lambda: [self.pick(["EXPIRETIME", "PEXPIRETIME"]), key()],
            lambda: ["PERSIST", key()],
        ])()

    def transactions(self):
        return self.pick([["MULTI"], ["MULTI"], ["EXEC"], ["EXEC"], ["EXEC"], ["DISCARD"], ["WATCH", self.key()], ["UNWATCH"]])

    def server(self):
        return self.pick([
            ["PING"], ["PING", self.value()], ["ECHO", self.value()], ["SELECT", self.pick([0, 0, 1, 15, 16, -1, "x"])],
            ["FLUSHDB"], ["FLUSHALL", "ASYNC"], ["FLUSHALL", "BAD"], ["CLIENT", "SETNAME", "x"], ["CLIENT", "GETNAME"],
            ["CLIENT", "NOSUCH"], ["CONFIG", "GET", "nope"], ["HELLO", self.pick([2, 3, 4, "x"])], ["RESET"],
            ["COMMAND", "COUNT", "x"], ["COMMAND", "GETKEYS", "MSET", "a", "1", "b", "2"], ["OBJECT", "NOSUCH", "k"],
            ["CONFIG", "SET", "nope", "1"], ["CLIENT", "SETNAME", "a b"], ["DBSIZE", "x"],
        ])
