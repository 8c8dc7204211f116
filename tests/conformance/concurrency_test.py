# SPDX-License-Identifier: Apache-2.0
"""Many clients at once: what one command or one transaction does is seen whole or not at all, and SCAN keeps its promise.

A server of several threads is the risk here; each test lets writers and observers run at the same time and checks every
single observation.
"""

import random
import threading
import time

import case
from wire import encode

SECONDS = 2.0


class Crowd(case.ServerCase):
    OPTIONS = {"threads": 4}

    def together(self, *bodies, seconds=SECONDS):
        """Repeats each body(wire) on a thread of its own until the time is over; raises their first error."""
        stop, errors = threading.Event(), []

        def run(body):
            wire = case.Wire(self.server.connect())
            try:
                while not stop.is_set():
                    body(wire)
            except Exception as error:  # shown below, in the test's own thread
                errors.append(error)
                stop.set()
            finally:
                wire.close()

        threads = [threading.Thread(target=run, args=(body,)) for body in bodies]
        for thread in threads:
            thread.start()
        stop.wait(seconds)
        stop.set()
        for thread in threads:
            thread.join(30)
        if errors:
            raise errors[0]

    def equal_values(self, *keys):
        def body(wire):
            values = wire.call("MGET", *keys)
            assert len(set(values)) == 1, f"MGET saw a half-done write: {values}"
        return body

    def test_mset_is_seen_whole(self):
        keys = [f"m{i}" for i in range(20)]
        self.wire.call("MSET", *[part for key in keys for part in (key, "0")])

        def write(wire):
            value = random.randrange(10**9)
            order = random.sample(keys, len(keys))
            assert wire.ask("MSET", *[part for key in order for part in (key, value)]) == b"+OK\r\n"

        self.together(write, write, *[self.equal_values(*keys)] * 3)

    def test_a_transaction_is_seen_whole(self):
        keys = [f"t{i}" for i in range(8)]
        self.wire.call("MSET", *[part for key in keys for part in (key, "0")])

        def write(wire):
            order = random.sample(keys, len(keys))
            wire.raw(encode("MULTI") + b"".join(encode("INCR", key) for key in order) + encode("EXEC"))
            for _ in range(len(keys) + 1):
                wire.reply()
            assert len(set(case.parse(wire.reply()))) == 1, "the transaction itself saw another one's half"

        def read_in_a_transaction(wire):
            wire.raw(encode("MULTI") + b"".join(encode("GET", key) for key in keys) + encode("EXEC"))
            for _ in range(len(keys) + 1):
                wire.reply()
            assert len(set(case.parse(wire.reply()))) == 1

        self.together(write, write, self.equal_values(*keys), self.equal_values(*reversed(keys)), read_in_a_transaction)

    def test_increments_are_never_lost(self):
        counts, lock = [0, 0], threading.Lock()

        def pipelined(wire):
            wire.raw(encode("INCR", "n") * 50)
            for _ in range(50):
                wire.reply()
            with lock:
                counts[0] += 50

        def watched(wire):
            wire.ask("WATCH", "w")
            value = int(wire.call("GET", "w") or 0)
            wire.raw(encode("MULTI") + encode("SET", "w", value + 1) + encode("EXEC"))
            wire.reply(), wire.reply()
            if wire.reply() == b"*1\r\n+OK\r\n":
                with lock:
                    counts[1] += 1

        self.together(pipelined, pipelined, watched, watched, watched)
        self.expect(b"$%d\r\n%d\r\n" % (len(str(counts[0])), counts[0]), "GET", "n")
        self.assertEqual(int(self.wire.call("GET", "w")), counts[1])
        self.assertGreater(counts[1], 0)

    def test_rename_and_copy_never_show_two_or_none(self):
        self.wire.call("SET", "r0", "x")

        def move(wire):
            one = random.randrange(2)
            wire.ask("RENAME", f"r{one}", f"r{1 - one}")

        def look(wire):
            values = [value for value in wire.call("MGET", "r0", "r1") if value]
            assert values == [b"x"], values

        self.together(move, move, look, look)

    def test_msetnx_lets_one_in(self):
        def race(wire):
            if wire.call("MSETNX", "x", "1", "y", "1") == 1:
                assert wire.call("INCR", "holders") == 1, "two clients hold it"
                wire.raw(encode("MULTI") + encode("DECR", "holders") + encode("DEL", "x", "y") + encode("EXEC"))
                for _ in range(4):
                    wire.reply()

        self.together(race, race, race, race)

    def test_readers_see_whole_values_while_they_are_overwritten(self):
        def write(wire):
            size = random.choice((1, 8, 40, 100, 5000, 70000))
            letter = random.choice(b"abcdefgh")
            assert wire.ask("SET", "v", bytes([letter]) * size) == b"+OK\r\n"

        def read(wire):
            value = wire.call("GET", "v")
            assert value is None or len(set(value)) == 1, "a torn value"

        self.together(write, write, read, read, read)


class Scan(case.ServerCase):
    OPTIONS = {"threads": 4}
    STABLE, CHURN = 10000, 90000

    def many(self, wire, name, keys):
        for start in range(0, len(keys), 1000):
            part = keys[start:start + 1000]
            wire.raw(encode("MSET", *[x for key in part for x in (key, "v")]) if name == "MSET" else encode(name, *part))
            wire.reply()

    def test_scan_returns_every_stable_key_while_the_table_grows_and_shrinks(self):
        stable = {b"stable:%d" % i for i in range(self.STABLE)}
        self.many(self.wire, "MSET", sorted(stable))
        stop = threading.Event()

        def churn():
            wire = case.Wire(self.server.connect())
            keys = [b"churn:%d" % i for i in range(self.CHURN)]
            while not stop.is_set():
                self.many(wire, "MSET", keys)
                self.many(wire, "DEL", keys)
            wire.close()

        thread = threading.Thread(target=churn)
        thread.start()
        try:
            deadline, rounds = time.monotonic() + 8, 0
            while time.monotonic() < deadline:
                seen, cursor = set(), b"0"
                while True:
                    cursor, page = self.wire.call("SCAN", cursor, "COUNT", random.choice((1, 10, 100, 1000)))
                    seen.update(page)
                    if cursor == b"0":
                        break
                self.assertEqual(stable - seen, set(), "stable keys that SCAN did not return")
                self.assertTrue(all(key.startswith((b"stable:", b"churn:")) for key in seen))
                rounds += 1
        finally:
            stop.set()
            thread.join()
        print(f"{rounds} complete scans under churn")


if __name__ == "__main__":
    case.main()
