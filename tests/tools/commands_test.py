#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""./run, ./test and .ci/run as scripts: they parse, explain themselves, refuse what they do not know
and can be called from any directory and through a link."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = ("run", "test", ".ci/run", "packaging/install_packages")


def call(*command, cwd="/"):
    return subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          check=False, timeout=30)


class Commands(unittest.TestCase):
    def test_every_script_parses_and_may_be_executed(self):
        for name in SCRIPTS:
            self.assertEqual(call("bash", "-n", ROOT / name).returncode, 0, name)
            self.assertTrue(os.access(ROOT / name, os.X_OK), name)

    def test_test_explains_itself_from_any_directory_and_through_a_link(self):
        with tempfile.TemporaryDirectory() as folder:
            link = pathlib.Path(folder) / "test"
            link.symlink_to(ROOT / "test")
            for path in (ROOT / "test", link):
                done = call(path, "--help", cwd=folder)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertIn("./test --full", done.stdout)

    def test_test_refuses_an_unknown_option(self):
        done = call(ROOT / "test", "--fast")
        self.assertEqual(done.returncode, 2)
        self.assertIn("'--fast'", done.stderr)

    def test_ci_runs_the_test_command_and_passes_its_status_on(self):
        with tempfile.TemporaryDirectory() as folder:
            top = pathlib.Path(folder)
            (top / ".ci").mkdir()
            shutil.copy(ROOT / ".ci/run", top / ".ci/run")
            (top / "test").write_text("#!/bin/sh\necho tested $#\nexit 3\n")
            (top / "test").chmod(0o755)
            done = call(top / ".ci/run")
        self.assertEqual((done.returncode, done.stdout), (3, "tested 0\n"))


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
