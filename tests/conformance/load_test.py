# SPDX-License-Identifier: Apache-2.0
"""Load and faults: waves of connections, half requests, resets, no file descriptors left, 512 MB, the memory limit.

In each the server stays up, answers its other clients meanwhile, and afterwards holds no more descriptors and (within
the slack named there) no more memory than before.
"""

import os
import resource
import signal
import socket
import struct
import threading
import time

import case
from wire import encode

MIB = 1 << 20
OOM = b"-OOM command not allowed when used memory > 'maxmemory'.\r\n"


def reset(link):
    """Closes with RST instead of FIN."""
    link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    link.close()


class FaultCase(case.ServerCase):
    def settles(self, measure, limit, seconds=20):
        """Waits until measure() <= limit; allocators and closed sockets need a moment."""
        deadline = time.monotonic() + seconds
        while (value := measure()) > limit and time.monotonic() < deadline:
            time.sleep(0.1)
        self.assertLessEqual(value, limit)

    def answers_quickly(self, limit_s=2.0):
        start = time.monotonic()
        self.expect(b"+PONG\r\n", "PING")
        self.assertLess(time.monotonic() - start, limit_s)

    def cpu_seconds(self):
        with open(f"/proc/{self.server.process.pid}/stat", encoding="ascii") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Connections(FaultCase):
    def setUp(self):
        super().setUp()
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 20000), hard))

    def test_five_thousand_connections_in_waves(self):
        files = self.server.open_files()
        for wave in range(5):
            links = [self.server.connect() for _ in range(1000)]
            for i, link in enumerate(links):
                link.sendall(encode("SET", f"w{i}", wave))
            for link in links[::2]:  # every other one goes away without reading its reply
                reset(link) if wave % 2 else link.close()
            for link in links[1::2]:
                self.assertEqual(link.recv(16), b"+OK\r\n")
                link.close()
            self.answers_quickly()
        self.settles(self.server.open_files, files + 1)
        self.settles(lambda: int(self.info("connected_clients", "clients")), 1)

    def test_half_sent_requests_cost_the_others_nothing(self):
        files, before = self.server.open_files(), self.server.resident_bytes()
        request = encode("SET", "half", "x" * 5000)
        links = []
        for i in range(500):
            links.append(self.server.connect())
            links[-1].sendall(request[:1 + i * 9])
        self.answers_quickly()
        self.expect(b":0\r\n", "EXISTS", "half")
        for i, link in enumerate(links):
            reset(link) if i % 2 else link.close()
        self.settles(self.server.open_files, files + 1)
        self.settles(self.server.resident_bytes, before + 32 * MIB)
        self.expect(b":0\r\n", "EXISTS", "half")

    def test_no_memory_is_taken_for_a_length_that_is_only_claimed(self):
        before = self.server.resident_bytes()
        links = []
        for _ in range(100):
            links.append(self.server.connect())
            links[-1].sendall(b"*1000000\r\n$3\r\nSET\r\n$536870912\r\n" if len(links) % 2 else b"*3\r\n$536870912\r\nx")
        self.answers_quickly()
        self.assertLess(self.server.resident_bytes(), before + 64 * MIB)
        for link in links:
            link.close()

    def test_resets_in_mid_reply(self):
        files = self.server.open_files()
        self.expect(b"+OK\r\n", "SET", "big", "x" * (4 * MIB))
        before = self.server.resident_bytes()
        for _ in range(100):
            link = self.server.connect()
            link.sendall(encode("GET", "big") * 3)
            link.recv(1000)
            reset(link)
        self.answers_quickly()
        self.settles(self.server.open_files, files + 1)
        self.settles(self.server.resident_bytes, before + 32 * MIB)

    def test_what_slow_readers_held_goes_back_when_they_leave(self):
        self.expect(b"+OK\r\n", "SET", "big", "x" * (4 * MIB))
        before = self.server.resident_bytes()
        links = [self.server.connect() for _ in range(40)]
        for link in links:
            link.sendall(encode("GET", "big") * 3)
        time.sleep(0.5)
        self.answers_quickly()
        for link in links:
            reset(link)
        self.settles(self.server.resident_bytes, before + 48 * MIB)

    def test_memory_of_deleted_values_goes_back(self):
        before = self.server.resident_bytes()
        for count, size in ((200, 1000000), (200000, 1000)):
            with self.subTest(size=size):
                value = b"v" * size
                for start in range(0, count, 100):
                    self.wire.raw(b"".join(encode("SET", f"key:{i}", value) for i in range(start, start + 100)))
                    for _ in range(100):
                        self.assertEqual(self.wire.reply(), b"+OK\r\n")
                self.assertGreater(self.server.resident_bytes(), before + 150 * MIB)
                self.expect(b"+OK\r\n", "FLUSHALL")
                self.settles(self.server.resident_bytes, before + 48 * MIB)

    def test_sigterm_under_load_ends_with_status_0(self):
        with case.servers.Server(case.arguments().server, case.kind()) as server:
            stop = threading.Event()
            threads = [threading.Thread(target=self.busy, args=(server, stop)) for _ in range(8)]
            idle = [server.connect() for _ in range(50)]
            for thread in threads:
                thread.start()
            time.sleep(0.5)
            start = time.monotonic()
            server.process.send_signal(signal.SIGTERM)
            status = server.process.wait(15)
            stop.set()
            for thread in threads:
                thread.join()
            for link in idle:
                link.close()
            self.assertEqual(status, 0, server.output())
            self.assertLess(time.monotonic() - start, 10)
            server.process = None

    @staticmethod
    def busy(server, stop):
        wire = case.Wire(server.connect())
        try:
            while not stop.is_set():
                wire.raw(encode("INCR", "n") * 16)
                for _ in range(16):
                    wire.reply()
        except (OSError, case.Closed):
            pass
        finally:
            wire.close()


class FewFileDescriptors(FaultCase):
    OPTIONS = {"fd_limit": 96}

    def test_no_descriptors_left_is_survived_without_spinning(self):
        links = []
        for _ in range(300):
            link = socket.socket()
            link.settimeout(0.3)
            try:
                link.connect((case.servers.HOST, self.server.port))
            except OSError:
                link.close()
                break
            links.append(link)
        self.answers_quickly()
        start = self.cpu_seconds()
        time.sleep(1)
        self.assertLess(self.cpu_seconds() - start, 0.5, "the server spins on accept")
        for link in links:
            link.close()
        deadline = time.monotonic() + 10
        while True:
            try:
                self.assertEqual(self.connect(2).ask("PING"), b"+PONG\r\n")
                break
            except (OSError, case.Closed, AssertionError):
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)


class HugeValues(FaultCase):
    def test_a_value_of_512_mb_and_one_byte_more(self):
        size = 512 * MIB
        before = self.server.resident_bytes()
        block = os.urandom(MIB)
        wire = self.connect(60)
        wire.raw(b"*3\r\n$3\r\nSET\r\n$4\r\nhuge\r\n$%d\r\n" % size)
        for _ in range(size // MIB):
            wire.raw(block)
            self.answers_quickly()
        wire.raw(b"\r\n")
        self.assertEqual(wire.reply(), b"+OK\r\n")
        wire.raw(encode("STRLEN", "huge") + encode("GETRANGE", "huge", size - 5, -1) + encode("APPEND", "huge", "x"))
        self.assertEqual(wire.reply(), b":%d\r\n" % size)
        self.assertEqual(wire.reply(), b"$5\r\n%s\r\n" % block[-5:])
        self.assertEqual(wire.reply(), b"-ERR string exceeds maximum allowed size (proto-max-bulk-len)\r\n")
        self.read_back(wire, size, block)
        self.expect(b":1\r\n", "DEL", "huge")
        wire.close()
        self.settles(self.server.resident_bytes, before + 64 * MIB)
        wire = self.connect()
        wire.raw(b"*3\r\n$3\r\nSET\r\n$4\r\nhuge\r\n$%d\r\n" % (size + 1))
        self.assertEqual(wire.until_close(), b"-ERR Protocol error: invalid bulk length\r\n")

    def read_back(self, wire, size, block):
        wire.raw(encode("GET", "huge"))
        self.assertEqual(wire.line(), b"$%d" % size)
        got, at = wire.take(), 0
        while True:
            while len(got) >= MIB:
                self.assertTrue(got.startswith(block))
                del got[:MIB]
                at += MIB
            if at == size and got == b"\r\n":
                return
            chunk = wire.link.recv(MIB)
            self.assertTrue(chunk)
            got += chunk


class MemoryLimit(FaultCase):
    LIMIT = 64 * MIB
    OPTIONS = {"memory_limit": LIMIT, "policy": "noeviction"}

    def fill(self, start, count, size, batch=200):
        """SETs in pipelines; returns how many were stored and how many were refused with -OOM."""
        stored = refused = 0
        for i in range(start, start + count, batch):
            self.wire.raw(b"".join(encode("SET", f"key:{j:010}", b"v" * size) for j in range(i, i + batch)))
            for _ in range(batch):
                reply = self.wire.reply()
                self.assertIn(reply, (b"+OK\r\n", OOM))
                stored, refused = stored + (reply == b"+OK\r\n"), refused + (reply == OOM)
        return stored, refused

    def used(self):
        return int(self.info("used_memory", "memory"))

    def test_noeviction_refuses_writes_and_still_reads_and_deletes(self):
        before = self.server.resident_bytes()
        stored, refused = self.fill(0, 120000, 1000)
        self.assertGreater(refused, 0)
        self.assertGreater(stored, 40000)
        self.assertLess(self.used(), 1.02 * self.LIMIT + 2 * MIB)
        self.expect(OOM, "APPEND", "key:0000000000", "x")
        self.assertEqual(len(self.wire.call("GET", "key:0000000000")), 1000)
        for i in range(0, 2000):
            self.expect(b":1\r\n", "DEL", f"key:{i:010}")
        self.expect(b"+OK\r\n", "SET", "again", "1")
        self.expect(b"+OK\r\n", "FLUSHALL")
        self.settles(self.server.resident_bytes, before + 24 * MIB)
        self.settles(self.used, 8 * MIB)

    def test_eviction_holds_the_limit_under_a_flood_of_three_times_its_size(self):
        for policy, size in (("allkeys-lru", 32), ("allkeys-lfu", 1000), ("allkeys-random", 5000)):
            with self.subTest(policy=policy, size=size):
                self.expect(b"+OK\r\n", "FLUSHALL")
                self.expect(b"+OK\r\n", "CONFIG", "SET", "maxmemory-policy", policy)
                evicted, highest = int(self.info("evicted_keys", "stats")), 0
                count = 3 * self.LIMIT // (size + 80)
                for start in range(0, count, 20000):
                    stored, refused = self.fill(start, 20000, size)
                    self.assertEqual(refused, 0)
                    highest = max(highest, self.used())
                self.assertLess(highest, 1.02 * self.LIMIT + (2 * MIB if case.kind() == "redis" else 0))
                self.assertGreater(int(self.info("evicted_keys", "stats")), evicted)
                self.assertGreater(self.wire.call("DBSIZE") * size, self.LIMIT // 8)
        self.expect(b"+OK\r\n", "CONFIG", "SET", "maxmemory-policy", "noeviction")

    def test_the_limit_changes_while_running(self):
        self.fill(0, 20000, 1000)
        self.expect(b"+OK\r\n", "CONFIG", "SET", "maxmemory-policy", "allkeys-lru", "maxmemory", "16mb")
        self.expect(b"*2\r\n$9\r\nmaxmemory\r\n$8\r\n16777216\r\n", "CONFIG", "GET", "maxmemory")
        self.wire.call("SET", "one", "more")
        self.settles(self.used, 1.02 * 16 * MIB + 2 * MIB)
        self.expect(b"+OK\r\n", "CONFIG", "SET", "maxmemory", str(self.LIMIT), "maxmemory-policy", "noeviction")


if __name__ == "__main__":
    case.main()
