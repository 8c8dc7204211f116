#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""packaging/install_packages with stand-ins for apt-get, dpkg-query, id and sudo: what it installs,
what it says, and how it fails. Nothing is installed and no terminal is there."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIST = """# a comment
[run]
g++       # the compiler
mold      # links
[test]
python3   # tests
nodejs sh # a command that is there will do
[full]
clang     # fuzzers
"""
STAND_INS = {
    "apt-get": 'echo "$*" >>"$CALLS"; echo "${APT_SAYS:-}"; exit "${APT_STATUS:-0}"',
    # dpkg-query -W -f FORMAT PACKAGE
    "dpkg-query": 'case " $INSTALLED " in *" $4 "*) printf installed ;; *) exit 1 ;; esac',
    "id": "echo 1000",
    # Only apt-get is run; the tool's other errands as root would change this machine.
    "sudo": '[ "$1" = -n ] && shift; case "$*" in *apt-get*) exec "$@" ;; *) exit 0 ;; esac',
}


class InstallPackages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = pathlib.Path(folder.name)
        shutil.copy(ROOT / "packaging/install_packages", self.top)
        (self.top / "debian-12.txt").write_text(LIST)
        self.bin = self.top / "bin"
        self.bin.mkdir()
        for name, body in STAND_INS.items():
            (self.bin / name).write_text(f"#!/bin/sh\n{body}\n")
            (self.bin / name).chmod(0o755)
        self.calls = self.top / "calls"
        self.calls.touch()

    def install(self, *sections, path="/usr/bin:/bin", **environment):
        return subprocess.run(
            [self.top / "install_packages", *sections], stdin=subprocess.DEVNULL,
            capture_output=True, text=True, check=False, start_new_session=True,
            env={"PATH": f"{self.bin}:{path}", "CALLS": str(self.calls)} | environment)

    def test_with_everything_there_it_says_and_does_nothing(self):
        done = self.install("run", INSTALLED="g++ mold")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertEqual(self.calls.read_text(), "")

    def test_it_installs_what_is_missing_of_the_sections_and_says_so(self):
        done = self.install("run", "test", INSTALLED="g++")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, "Installing 2 Debian packages: mold python3\n")
        update, install = self.calls.read_text().splitlines()
        self.assertTrue(update.endswith("update"), update)
        self.assertTrue(install.endswith("install --no-install-recommends mold python3"), install)
        self.assertIn("-y", install.split())

    def test_a_failure_shows_what_apt_get_said(self):
        done = self.install("run", INSTALLED="g++", APT_STATUS="100", APT_SAYS="E: no such package")
        self.assertEqual(done.returncode, 1)
        self.assertIn("E: no such package", done.stderr)
        self.assertIn("failed", done.stderr)

    def test_without_root_and_sudo_it_says_what_to_type(self):
        (self.bin / "sudo").unlink()
        for name in ("bash", "sh", "env", "dirname", "readlink", "mktemp", "cat", "rm"):
            (self.bin / name).symlink_to(shutil.which(name))
        done = self.install("run", path="", INSTALLED="g++")
        self.assertEqual(done.returncode, 1)
        self.assertIn("As root: apt-get install mold", done.stderr)
        self.assertEqual(self.calls.read_text(), "")


class PackageList(unittest.TestCase):
    def test_each_package_has_a_purpose_and_stands_once(self):
        names = []
        for line in (ROOT / "packaging/debian-12.txt").read_text().splitlines():
            code, _, purpose = line.partition("#")
            if code.strip() and not code.startswith("["):
                names.append(code.split()[0])
                self.assertTrue(purpose.strip(), line)
        self.assertEqual(len(names), len(set(names)))


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
