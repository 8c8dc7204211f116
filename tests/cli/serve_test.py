#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`nidus serve` as a process: its first line, HTTP, signals, and what stops it from starting.

Usage: serve_test.py EXECUTABLE
"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

import nidus


class Serve(unittest.TestCase):
    def test_says_in_one_line_how_to_connect_and_answers_there(self):
        with nidus.Server() as server:
            self.assertRegex(server.line, r"^nidus is ready: redis-cli -p \d+ .*/metrics\)\n$")
            self.assertEqual(server.ask("SET", "k", "v"), b"+OK\r\n")
            self.assertEqual(server.ask("GET", "k"), b"$1\r\nv\r\n")

    def test_metrics_follow_what_clients_do(self):
        with nidus.Server() as server:
            server.ask("SET", "k", "v")
            server.ask("GET", "k")
            server.ask("GET", "absent")
            status, text = server.get("/metrics")
            self.assertEqual(status, 200)
            figures = dict(re.findall(r"^([^#\s]+) (\S+)$", text, re.M))
            self.assertEqual(figures['nidus_keys{database="0"}'], "1")
            self.assertEqual(figures["nidus_keyspace_hits_total"], "1")
            self.assertEqual(figures["nidus_keyspace_misses_total"], "1")
            self.assertGreaterEqual(float(figures["nidus_commands_total"]), 3)
            self.assertGreaterEqual(float(figures["nidus_connections_total"]), 3)
            self.assertGreater(float(figures['nidus_memory_used_bytes{part="items"}']), 0)
            self.assertGreater(float(figures["nidus_resident_memory_bytes"]), 1e6)

    @unittest.skipUnless(shutil.which("promtool"), "promtool is not installed")
    def test_promtool_finds_nothing_to_say_about_the_metrics(self):
        with nidus.Server() as server:
            text = server.get("/metrics")[1]
        done = subprocess.run(["promtool", "check", "metrics"], input=text, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=nidus.PATIENCE_S)
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_health_and_readiness_answer_and_other_paths_are_404_as_json(self):
        with nidus.Server() as server:
            self.assertEqual(server.get("/healthz")[0], 200)
            self.assertEqual(server.get("/readyz")[0], 200)
            status, text = server.get("/nope")
            self.assertEqual(status, 404)
            self.assertEqual(json.loads(text)["error"], "not found")

    def test_sigterm_and_sigint_drain_and_exit_0(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with nidus.Server() as server, server.connect() as idle:
                # Answered once, so surely accepted: the kernel resets what still waits for that.
                idle.sendall(nidus.request("PING"))
                self.assertEqual(idle.recv(100), b"+PONG\r\n")
                status, seconds, errors = server.stop(number)
                self.assertEqual(status, 0, errors)
                self.assertLess(seconds, 4, "an idle client must not use up the drain timeout")
                self.assertEqual(idle.recv(1), b"")

    def test_a_client_in_the_middle_of_a_request_does_not_outlast_the_drain_timeout(self):
        with nidus.Server("--drain-timeout", "500ms") as server, server.connect() as half:
            half.sendall(b"*2\r\n$3\r\nGET\r\n$100\r\nx")
            time.sleep(0.1)
            status, seconds, errors = server.stop(signal.SIGTERM)
            self.assertEqual(status, 0, errors)
            self.assertLess(seconds, 5)

    def test_a_signal_right_after_the_first_line_is_not_lost(self):
        for _ in range(10):
            with nidus.Server() as server:
                self.assertEqual(server.stop(signal.SIGTERM)[0], 0)

    def test_a_port_in_use_is_an_error_with_status_1(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = str(taken.getsockname()[1])
            for flags in (("--port", port, "--http-port", "0"),
                          ("--port", "any", "--http-port", port)):
                done = nidus.run("serve", "--threads", "1", *flags)
                self.assertEqual(done.returncode, 1, done)
                self.assertRegex(done.stderr, r"(?m)^nidus: .*" + port)

    def test_the_environment_starts_it_with_a_password(self):
        with nidus.Server(env={"NIDUS_REQUIREPASS": "swordfish"}) as server:
            self.assertIn("--askpass", server.line)
            self.assertTrue(server.ask("GET", "k").startswith(b"-NOAUTH"))
            self.assertEqual(server.ask("AUTH", "swordfish"), b"+OK\r\n")
            self.assertNotIn("swordfish", server.line + server.stop(signal.SIGTERM)[2])

    def test_config_set_changes_the_running_server(self):
        with nidus.Server() as server:
            self.assertEqual(server.ask("CONFIG", "SET", "maxmemory", "64mb"), b"+OK\r\n")
            self.assertEqual(server.ask("CONFIG", "GET", "maxmemory"),
                             b"*2\r\n$9\r\nmaxmemory\r\n$8\r\n67108864\r\n")
            self.assertIn("nidus_memory_limit_bytes 67108864\n", server.get("/metrics")[1])

    def test_http_can_be_turned_off(self):
        with nidus.Server("--http-port", "0") as server:
            self.assertNotIn("http", server.line)
            self.assertEqual(server.ask("PING"), b"+PONG\r\n")

    def test_the_unix_socket_alone_is_enough(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "nidus.sock")
            with nidus.Server("--port", "0", "--unix-socket", path) as server:
                self.assertIn("redis-cli -s " + path, server.line)
                with socket.socket(socket.AF_UNIX) as client:
                    client.settimeout(nidus.PATIENCE_S)
                    client.connect(path)
                    client.sendall(b"PING\r\n")
                    self.assertEqual(client.recv(100), b"+PONG\r\n")

    def test_the_log_as_json_is_json_and_holds_no_keys_or_values(self):
        with nidus.Server("--log-format", "json", "--log-level", "debug") as server:
            server.ask("SET", "secret-key", "secret-value")
            server.ask("NOSUCHCOMMAND", "secret-key")
            errors = server.stop(signal.SIGTERM)[2]
        lines = errors.splitlines()
        self.assertGreater(len(lines), 0)
        for line in lines:
            self.assertLessEqual({"time", "level", "message"}, set(json.loads(line)))
        self.assertNotIn("secret", errors)


if __name__ == "__main__":
    unittest.main(verbosity=2)
