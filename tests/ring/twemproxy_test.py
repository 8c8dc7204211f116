#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ketama against twemproxy: nutcracker spreads 100 000 keys over memcached servers on loopback, and
each server must then hold exactly the keys that `nidus ring` says are its.

Usage: twemproxy_test.py EXECUTABLE
"""

import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse

PATIENCE_S = 30
KEYS = 100_000
BATCH = 2000
EXECUTABLE = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "nidus"
NUTCRACKER = shutil.which("nutcracker", path=os.environ.get("PATH", "") + ":/usr/sbin")
MEMCACHED = shutil.which("memcached")
WEIGHTS = (1, 3, 2, 7, 1, 5, 4, 9, 2, 6)


def free_ports(count):
    """Ports that nobody had a moment ago."""
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = sorted(each.getsockname()[1] for each in sockets)
    for each in sockets:
        each.close()
    return ports


def connect(port):
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def ask(client, request, end):
    client.sendall(request)
    reply = bytearray()
    while not reply.endswith(end):
        part = client.recv(1 << 20)
        if not part:
            raise RuntimeError("the connection was closed: " + repr(bytes(reply[-200:])))
        reply += part
    return bytes(reply)


def store(port, keys):
    with connect(port) as client:
        for start in range(0, len(keys), BATCH):
            batch = keys[start:start + BATCH]
            client.sendall(b"".join(b"set %s 0 0 1\r\nv\r\n" % key for key in batch))
            want, got = b"STORED\r\n" * len(batch), b""
            while len(got) < len(want):
                part = client.recv(1 << 20)
                got += part
                if not part or not want.startswith(got):
                    raise RuntimeError("nutcracker did not store a key: " + repr(got[-200:]))


def held(port):
    """The keys of a memcached server. It may pass over one that its LRU moves meanwhile."""
    with connect(port) as client:
        dump = ask(client, b"lru_crawler metadump all\r\n", b"END\r\n")
    return {urllib.parse.unquote_to_bytes(key) for key in re.findall(rb"key=(\S+)", dump)}


def has_all(port, keys):
    """True if the server has each of the keys."""
    with connect(port) as client:
        return all(ask(client, b"get %s\r\n" % key, b"END\r\n") != b"END\r\n" for key in keys)


def some_keys():
    """Keys of many lengths; every fifth has bytes outside ASCII."""
    keys = []
    for i in range(KEYS):
        key = b"user:%d:%s" % (i, b"x" * (i * 7919 % 150))
        keys.append(key + "\u00e9\u20ac".encode() if i % 5 == 0 else key)
    return keys


@unittest.skipUnless(NUTCRACKER, "nutcracker is not installed")
@unittest.skipUnless(MEMCACHED, "memcached is not installed")
class Twemproxy(unittest.TestCase):
    def setUp(self):
        self.processes = []
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.addCleanup(self.stop_all)
        self.top = pathlib.Path(self.folder.name)

    def start(self, *command):
        self.processes.append(subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    def stop_all(self):
        for process in reversed(self.processes):
            process.kill()
        for process in self.processes:
            process.wait(timeout=PATIENCE_S)
        self.processes.clear()

    def start_all(self, servers, key_hash):
        for port, _ in servers:
            self.start(MEMCACHED, "-l", "127.0.0.1", "-p", str(port), "-U", "0", "-t", "1", "-m",
                       "64", "-u", "nobody")
        listen, stats = free_ports(2)
        config = self.top / "nutcracker.yml"
        lines = ["ring:", f"  listen: 127.0.0.1:{listen}", f"  hash: {key_hash}",
                 "  distribution: ketama", "  preconnect: true", "  servers:"]
        lines += [f"    - 127.0.0.1:{port}:{weight}" for port, weight in servers]
        config.write_text("\n".join(lines) + "\n")
        for port, _ in servers:
            connect(port).close()
        self.start(NUTCRACKER, "-c", str(config), "-s", str(stats), "-a", "127.0.0.1", "-m", "16384",
                   "-o", str(self.top / "nutcracker.log"))
        return listen

    def expected(self, servers, placement, keys):
        """What `nidus ring` says each server holds, by port."""
        nodes = ",".join(f"127.0.0.1:{port}:{weight}" for port, weight in servers)
        done = subprocess.run(
            [EXECUTABLE, "ring", "--nodes", nodes, "--placement", placement, "--keys", "-",
             "--owners", "--csv"], input=b"\n".join(keys) + b"\n", stdout=subprocess.PIPE,
            timeout=PATIENCE_S, check=True)
        owned = {port: set() for port, _ in servers}
        for line in done.stdout.splitlines()[1:]:
            key, _, owner = line.partition(b",")
            owned[int(owner.rpartition(b":")[2])].add(key)
        return owned

    def compare(self, count, weighted, key_hash, placement):
        keys = some_keys()
        servers = [(port, WEIGHTS[i] if weighted else 1)
                   for i, port in enumerate(free_ports(count))]
        store(self.start_all(servers, key_hash), keys)
        expected = self.expected(servers, placement, keys)
        for port, _ in servers:
            has = held(port)
            self.assertGreater(len(has), 0)
            self.assertEqual(len(has - expected[port]), 0)
            self.assertTrue(has_all(port, expected[port] - has))
        self.stop_all()

    def test_not_one_key_differs_with_its_default_hash(self):
        for count in (3, 5, 10):
            for weighted in (False, True):
                with self.subTest(servers=count, weighted=weighted):
                    self.compare(count, weighted, "fnv1a_64", "ketama-twemproxy")

    def test_not_one_key_differs_with_md5(self):
        self.compare(5, True, "md5", "ketama")


if __name__ == "__main__":
    unittest.main()
