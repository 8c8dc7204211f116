# SPDX-License-Identifier: Apache-2.0
"""redis-py (Debian's python3-redis): defaults, pipelines, WATCH, scan_iter, locks, binary data, and RESP3 if it knows it."""

import itertools
import sys
import threading
import time
import warnings

import case

try:
    import redis
except ImportError as missing:
    print(f"skipped: {sys.executable} has no redis module (package python3-redis): {missing}")
    sys.exit(case.SKIPPED)

warnings.simplefilter("ignore", ResourceWarning)
KNOWS_RESP3 = int(redis.__version__.split(".")[0]) >= 5


class RedisPy(case.ServerCase):
    def client(self, **options):
        client = redis.Redis(host=case.servers.HOST, port=self.server.port, socket_timeout=20, **options)
        self.addCleanup(client.close)
        return client

    def test_strings_with_the_defaults(self):
        c = self.client()
        self.assertTrue(c.ping())
        self.assertTrue(c.set("k", "v", ex=100))
        self.assertIsNone(c.set("k", "w", nx=True))
        self.assertEqual(c.set("k", "w", get=True), b"v")
        self.assertEqual((c.get("k"), c.ttl("k"), c.get("missing")), (b"w", -1, None))
        self.assertEqual(c.mset({"a": 1, "b": 2}) and c.mget("a", "b", "nil"), [b"1", b"2", None])
        self.assertEqual((c.incr("a"), c.incrby("a", 10), c.decr("a"), c.incrbyfloat("a", 0.5)), (2, 12, 11, 11.5))
        self.assertEqual((c.append("s", "abc"), c.strlen("s"), c.getrange("s", 1, -1), c.setrange("s", 5, "x")),
                         (3, 3, b"bc", 6))
        self.assertEqual((c.getdel("s"), c.getex("b", ex=9), c.ttl("b")), (b"abc\0\0x", b"2", 9))
        self.assertEqual((c.setbit("bits", 7, 1), c.getbit("bits", 7), c.bitcount("bits"), c.bitpos("bits", 1)),
                         (0, 1, 1, 7))
        self.assertEqual(c.bitfield("bits").set("u8", 0, 255).get("u4", 0).execute(), [1, 15])

    def test_keys(self):
        c = self.client(decode_responses=True)
        c.mset({f"user:{i}": i for i in range(300)})
        self.assertEqual(len(c.keys("user:1*")), 111)
        self.assertEqual(set(c.scan_iter("user:*", count=7)), {f"user:{i}" for i in range(300)})
        self.assertEqual(len(list(c.scan_iter(_type="string"))), 300)
        self.assertEqual((c.rename("user:0", "zero"), c.exists("zero", "user:0"), c.type("zero")), (True, 1, "string"))
        self.assertEqual((c.copy("zero", "null"), c.touch("null", "x"), c.unlink("null"), c.delete("zero", "x")),
                         (True, 1, 1, 1))
        self.assertTrue(c.expire("user:1", 50) and c.persist("user:1"))
        self.assertIn(c.randomkey(), set(c.keys()))
        self.assertEqual(c.dbsize(), 299)

    def test_errors_are_response_errors(self):
        c = self.client()
        c.set("text", "abc")
        with self.assertRaisesRegex(redis.ResponseError, "value is not an integer or out of range"):
            c.incr("text")
        with self.assertRaisesRegex(redis.ResponseError, "unknown command"):
            c.execute_command("NOSUCH", 1)
        with self.assertRaisesRegex(redis.ResponseError, "DB index is out of range"):
            c.execute_command("SELECT", 99)

    def test_databases_are_apart(self):
        one, two = self.client(db=1), self.client(db=2)
        one.set("k", "one")
        two.set("k", "two")
        self.assertEqual((one.get("k"), two.get("k"), self.client().get("k")), (b"one", b"two", None))
        two.flushdb()
        self.assertEqual((one.dbsize(), two.dbsize()), (1, 0))

    def test_pipelines_with_and_without_a_transaction(self):
        c = self.client()
        for transaction in (True, False):
            c.flushall()
            with c.pipeline(transaction=transaction) as pipe:
                for i in range(5000):
                    pipe.set(f"p{i}", i)
                    pipe.get(f"p{i}")
                out = pipe.execute()
            self.assertEqual(out, list(itertools.chain.from_iterable((True, b"%d" % i) for i in range(5000))))
        c.set("text", "abc")
        out = c.pipeline().set("a", 1).incr("text").incr("a").execute(raise_on_error=False)
        self.assertEqual((out[0], type(out[1]), out[2]), (True, redis.ResponseError, 2))

    def test_watch_loses_against_another_writer_and_wins_alone(self):
        c, other = self.client(), self.client()
        c.set("n", 1)
        with c.pipeline() as pipe:
            pipe.watch("n")
            value = int(pipe.get("n"))
            other.set("n", 10)
            pipe.multi()
            pipe.set("n", value + 1)
            with self.assertRaises(redis.WatchError):
                pipe.execute()
        self.assertEqual(c.get("n"), b"10")
        threads = [threading.Thread(target=self.add_under_watch, args=(25,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(c.get("n"), b"110")

    def add_under_watch(self, times):
        client = self.client()

        def step(pipe):
            value = int(pipe.get("n"))
            pipe.multi()
            pipe.set("n", value + 1)

        for _ in range(times):
            client.transaction(step, "n")

    def test_a_lock_by_set_nx_px(self):
        c = self.client()
        self.assertTrue(c.set("lock", "token", nx=True, px=60))
        self.assertIsNone(c.set("lock", "other", nx=True, px=60))
        time.sleep(0.08)
        self.assertTrue(c.set("lock", "other", nx=True, px=60))

    def test_binary_keys_and_values(self):
        c = self.client()
        value = bytes(range(256)) * 1000
        for key in (b"", b"\0\r\n", bytes(range(256))):
            c.set(key, value)
            self.assertEqual(c.get(key), value)
            self.assertIn(key, set(c.scan_iter(count=1000)))

    def test_connection_and_server_commands(self):
        c = self.client(client_name="conformance")
        self.assertEqual(c.client_getname(), "conformance")
        self.assertIn("conformance", [entry["name"] for entry in c.client_list()])
        self.assertGreater(c.client_id(), 0)
        info = c.info()
        self.assertEqual((info["redis_mode"], info["loading"], info["cluster_enabled"]), ("standalone", 0, 0))
        self.assertIn("maxmemory", c.config_get("maxmemory*"))
        self.assertTrue(c.config_set("maxmemory", 0))
        self.assertIn("get", c.command())
        self.assertEqual(c.echo("x"), b"x")
        self.assertAlmostEqual(c.time()[0], time.time(), delta=5)
        c.set("k", "v" * 1000)
        self.assertGreater(c.memory_usage("k"), 1000)
        self.assertEqual(c.object("encoding", "k"), b"raw")

    def test_a_pool_under_threads(self):
        c = self.client()
        threads = [threading.Thread(target=lambda: [c.incr("n") for _ in range(300)]) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(c.get("n"), b"2400")

    @case.unittest.skipUnless(KNOWS_RESP3, f"redis-py {redis.__version__} knows RESP2 only")
    def test_resp3(self):
        c = self.client(protocol=3)
        self.assertEqual(c.execute_command("HELLO", 3)[b"proto"], 3)
        self.assertTrue(c.set("k", "v"))
        self.assertEqual((c.get("k"), c.get("missing")), (b"v", None))
        self.assertIn("maxmemory", c.config_get("maxmemory*"))


if __name__ == "__main__":
    case.main()
