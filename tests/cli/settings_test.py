#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Command line and settings of the executable: who wins, what is printed, how mistakes end.

Usage: settings_test.py EXECUTABLE
"""

import json
import os
import tempfile
import unittest

import nidus


def setting(printed, name):
    for line in printed.splitlines():
        if line.startswith(name + " = "):
            return line.partition(" = ")[2]
    raise AssertionError(f"{name} is not in:\n{printed}")


class Settings(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = os.path.join(folder.name, "nidus.toml")

    def write(self, text):
        with open(self.file, "w", encoding="utf-8") as file:
            file.write(text)
        return self.file

    def refused(self, *arguments, env=None, status=2):
        """The error of a command line that must fail, with nothing on standard output."""
        done = nidus.run(*arguments, env=env)
        self.assertEqual(done.returncode, status, done)
        self.assertEqual(done.stdout, "")
        self.assertTrue(done.stderr.startswith("nidus: "), done.stderr)
        return done.stderr

    def test_a_flag_beats_the_environment_beats_the_file(self):
        file = self.write('port = 1111\nthreads = 1\nmax-clients = 1\npolicy = "lfu"\n')
        env = {"NIDUS_PORT": "2222", "NIDUS_THREADS": "2"}
        done = nidus.run("serve", "--config", file, "--port", "3333", "--print-config", env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(setting(done.stdout, "port"), "3333")
        self.assertEqual(setting(done.stdout, "threads"), "2")
        self.assertEqual(setting(done.stdout, "max-clients"), "1")
        self.assertEqual(setting(done.stdout, "policy"), '"allkeys-lfu"')

    def test_what_is_printed_is_a_file_that_gives_the_same(self):
        first = nidus.run("serve", "--maxmemory", "64mb", "--bind", "127.0.0.1", "::1",
                          "--protected-mode", "no", "--print-config")
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertEqual(setting(first.stdout, "memory-limit"), '"64mb"')
        second = nidus.run("serve", "--config", self.write(first.stdout), "--print-config")
        self.assertEqual(second.stdout, first.stdout)

    def test_a_password_is_not_printed(self):
        done = nidus.run("serve", "--requirepass", "swordfish", "--print-config")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("swordfish", done.stdout + done.stderr)

    def test_check_config_is_silent_on_success_and_says_the_line_of_a_mistake(self):
        done = nidus.run("serve", "--check-config", "--config", self.write("port = 7000\n"))
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        error = self.refused("serve", "--check-config", "--config", self.write("\nprot = 7000\n"))
        self.assertIn(self.file + ":2: unknown setting 'prot'; did you mean 'port'?", error)

    def test_a_bad_option_ends_with_status_2(self):
        self.assertIn("did you mean --port?", self.refused("serve", "--prot", "7000"))
        self.assertIn("'--prot'", self.refused("serve", "--prot=7000"))
        self.assertIn("'64xb' is not a size", self.refused("serve", "--memory-limit", "64xb"))
        self.assertIn("--port", self.refused("serve", "--port"))
        self.assertIn("--port", self.refused("serve", "--port", "1", "--port", "2"))
        self.assertIn("NIDUS_PROT", self.refused("serve", env={"NIDUS_PROT": "1"}))
        self.assertIn("cannot read", self.refused("serve", "--config", "/dev/null/nidus.toml"))

    def test_a_wrong_command_ends_with_status_2(self):
        self.assertIn("nidus help", self.refused())
        self.assertIn("'sevre'", self.refused("sevre"))
        self.assertIn("'nope'", self.refused("help", "nope"))

    def test_help_and_version_go_to_standard_output(self):
        for arguments in (["help"], ["help", "serve"], ["serve", "--help"], ["--help"]):
            done = nidus.run(*arguments)
            self.assertEqual((done.returncode, done.stderr), (0, ""), arguments)
            self.assertIn("Example: nidus serve", done.stdout)
        self.assertIn("--memory-limit,--maxmemory SIZE", nidus.run("help", "serve").stdout)
        self.assertRegex(nidus.run("version").stdout, r"^nidus \d+\.\d+\.\d+\n$")
        version = json.loads(nidus.run("version", "--json").stdout)["version"]
        self.assertEqual(nidus.run("--version").stdout, f"nidus {version}\n")

    def test_a_full_disk_is_an_error(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = nidus.subprocess.run([nidus.EXECUTABLE, "serve", "--print-config"], stdout=full,
                                        env=nidus.environment(), stderr=nidus.subprocess.PIPE,
                                        timeout=nidus.PATIENCE_S)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"cannot write", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
