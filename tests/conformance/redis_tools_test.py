# SPDX-License-Identifier: Apache-2.0
"""redis-cli and redis-benchmark (Debian's redis-tools) against the server, in all their modes that apply."""

import json
import os
import shutil
import subprocess

import case

TIMEOUT_S = 120


def tool(name, server, *arguments, data=b"", timeout=TIMEOUT_S):
    """Runs one of the tools; returns its standard output. Its standard error must stay empty."""
    command = [name, "-h", case.servers.HOST, "-p", str(server.port), *map(str, arguments)]
    # REDISCLI_AUTH in the caller's environment would change what is sent.
    environment = {k: v for k, v in os.environ.items() if k != "REDISCLI_AUTH"} | {"LC_ALL": "C"}
    done = subprocess.run(command, input=data, capture_output=True, timeout=timeout, env=environment)
    warnings = b"\n".join(line for line in done.stderr.splitlines() if not line.startswith(b"WARNING: Keepalive"))
    if done.returncode or warnings.strip():
        raise AssertionError(f"{command}: status {done.returncode}\n{done.stdout[-2000:]!r}\n{done.stderr[-2000:]!r}")
    return done.stdout


class RedisCli(case.ServerCase):
    OPTIONS = {"unixsocket": "nidus.sock"}

    def cli(self, *arguments, data=b""):
        return tool("redis-cli", self.server, *arguments, data=data)

    def test_one_command_a_call(self):
        self.assertEqual(self.cli("PING"), b"PONG\n")
        self.assertEqual(self.cli("SET", "k", "v"), b"OK\n")
        self.assertEqual(self.cli("GET", "k"), b"v\n")
        self.assertEqual(self.cli("-n", "5", "GET", "k"), b"\n")
        self.assertEqual(self.cli("--no-raw", "MGET", "k", "missing"), b'1) "v"\n2) (nil)\n')
        self.assertEqual(self.cli("--csv", "MGET", "k", "missing"), b'"v",NULL\n')
        self.assertEqual(self.cli("--no-raw", "INCR", "n"), b"(integer) 1\n")
        self.assertEqual(self.cli("-r", "3", "INCR", "n"), b"2\n3\n4\n")

    def test_resp3(self):
        self.cli("SET", "k", "v")
        self.assertEqual(self.cli("-3", "--no-raw", "GET", "missing"), b"(nil)\n")
        hello = json.loads(self.cli("-3", "--json", "HELLO", "3"))
        self.assertEqual(hello["proto"], 3)
        self.assertEqual(set(hello), {"server", "version", "proto", "id", "mode", "role", "modules"})

    def test_values_of_any_bytes_by_standard_input(self):
        value = bytes(range(256)) * 50
        self.assertEqual(self.cli("-x", "SET", "bin", data=value), b"OK\n")
        self.assertEqual(self.cli("GET", "bin"), value + b"\n")

    def test_a_session_by_standard_input(self):
        script = b"SET a 1\nMULTI\nINCR a\nINCR a\nEXEC\nGET a\nNOSUCH x y\n"
        out = self.cli("--no-raw", data=script)
        self.assertEqual(out, b'OK\nOK\nQUEUED\nQUEUED\n1) (integer) 2\n2) (integer) 3\n"3"\n'
                              b"(error) ERR unknown command 'NOSUCH', with args beginning with: 'x' 'y' \n")

    def test_mass_insertion_with_pipe(self):
        lines = b"".join(b"SET key%d value%d\r\n" % (i, i) for i in range(20000))
        out = self.cli("--pipe", data=lines)
        self.assertIn(b"errors: 0, replies: 20000", out)
        data = b"".join(case.encode("SET", b"b\0%d" % i, b"\r\n") for i in range(5000))
        self.assertIn(b"errors: 0, replies: 5000", self.cli("--pipe", data=data))
        self.assertEqual(self.cli("DBSIZE"), b"25000\n")

    def test_scan_and_its_reports(self):
        self.wire.call("MSET", *[part for i in range(500) for part in (f"s:{i}", "x" * (i % 100 + 1))])
        self.cli("SET", "big:one", "y" * 5000)
        self.assertEqual(len(set(self.cli("--scan", "--pattern", "s:*").split())), 500)
        self.assertEqual(len(self.cli("--scan").split()), 501)
        big = self.cli("--bigkeys")
        self.assertIn(b'Biggest string found', big)
        self.assertIn(b'"big:one"\' has 5000 bytes', big)
        self.assertIn(b"501 strings with", big)
        self.assertIn(b"Sampled 501 keys", self.cli("--memkeys"))

    def test_help_pages_come_from_command_docs(self):
        docs = json.loads(self.cli("-3", "--json", "COMMAND", "DOCS", "get", "set"))
        self.assertEqual(set(docs), {"get", "set"})
        for entry in docs.values():
            self.assertEqual(entry["group"], "string")
            self.assertTrue(entry["summary"])
        self.assertGreater(int(self.cli("COMMAND", "COUNT")), 60)

    def test_info_and_config(self):
        out = self.cli("INFO").replace(b"\r", b"")
        for section in (b"# Server", b"# Clients", b"# Memory", b"# Stats", b"# Replication", b"# CPU", b"# Keyspace"):
            self.assertIn(section + b"\n", out)
        for field in (b"redis_version:", b"loading:0", b"role:master", b"connected_clients:", b"used_memory:",
                      b"cluster_enabled:0"):
            self.assertIn(b"\n" + field, out)
        self.assertEqual(self.cli("CONFIG", "GET", "maxmemory"), b"maxmemory\n0\n")

    def test_unix_socket(self):
        path = str(self.server.folder / self.server.unixsocket)
        self.assertEqual(subprocess.run(["redis-cli", "-s", path, "PING"], capture_output=True, timeout=20).stdout,
                         b"PONG\n")


class RedisCliPassword(case.ServerCase):
    OPTIONS = {"requirepass": "s3cret word"}

    def setUp(self):
        self.wire = self.connect()

    def test_nothing_runs_before_the_password(self):
        out = tool("redis-cli", self.server, "GET", "k")
        self.assertEqual(out, b"NOAUTH Authentication required.\n\n")
        out = tool("redis-cli", self.server, "--no-auth-warning", "-a", "s3cret word", "SET", "k", "v")
        self.assertEqual(out, b"OK\n")
        out = tool("redis-cli", self.server, "-3", "--no-auth-warning", "--user", "default", "-a", "s3cret word",
                   "GET", "k")
        self.assertEqual(out, b"v\n")
        self.expect(b"-WRONGPASS invalid username-password pair or user is disabled.\r\n", "AUTH", "wrong")
        self.expect(b"-NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO "
                    b"AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol "
                    b"version at the same time\r\n", "HELLO", "3")

    def test_before_the_password_requests_are_small(self):
        self.wire.raw(b"*11\r\n")
        self.assertEqual(self.wire.until_close(), b"-ERR Protocol error: unauthenticated multibulk length\r\n")
        wire = self.connect()
        wire.raw(b"*2\r\n$16385\r\n")
        self.assertEqual(wire.until_close(), b"-ERR Protocol error: unauthenticated bulk length\r\n")


class RedisBenchmark(case.ServerCase):
    def bench(self, *arguments):
        return tool("redis-benchmark", self.server, "--csv", *arguments).decode()

    def rows(self, text):
        return {line.split('","')[0].strip('"'): line for line in text.splitlines()[1:]}

    def test_the_tests_of_strings_at_several_pipelines(self):
        for pipeline in (1, 16, 64):
            rows = self.rows(self.bench("-n", 20000, "-P", pipeline, "-c", 20, "-r", 1000,
                                        "-t", "ping_inline,ping_mbulk,set,get,incr,mset"))
            self.assertEqual(set(rows), {"PING_INLINE", "PING_MBULK", "SET", "GET", "INCR", "MSET (10 keys)"})
        self.assertGreater(self.wire.call("DBSIZE"), 500)

    def test_own_commands_threads_and_resp3(self):
        self.bench("-n", 10000, "--threads", 2, "-c", 10, "-P", 8, "-r", 100, "-d", 1000, "SET", "key:__rand_int__", "x")
        rows = self.rows(self.bench("-n", 5000, "-3", "-t", "get"))
        self.assertEqual(set(rows), {"GET"})
        self.bench("-n", 1000, "-c", 300, "-k", 0, "-t", "ping_mbulk")


if __name__ == "__main__":
    for program in ("redis-cli", "redis-benchmark"):
        if not shutil.which(program):
            case.skip(f"{program} is missing (package redis-tools)")
    case.main()
