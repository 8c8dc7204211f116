#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs nidus into an empty folder and builds examples/embed against it three ways: with
find_package(nidus), with pkg-config, and with nidus as a subfolder. Each program is run."""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest


class Consumers(unittest.TestCase):
    source = build = compiler = None

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.top = pathlib.Path(cls.folder.name)
        cls.prefix = cls.top / "prefix"
        cls.run_command("cmake", "--install", cls.build, "--prefix", cls.prefix,
                        "--component", "library")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @staticmethod
    def run_command(*command, **environment):
        done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.STDOUT, check=False, env=os.environ | environment)
        if done.returncode != 0:
            raise AssertionError(f"{' '.join(map(str, command))}\n{done.stdout}")
        return done.stdout

    def assert_works(self, executable):
        self.assertIn("none lost", self.run_command(executable))

    def build_project(self, project, *options):
        where = self.top / project.name
        self.run_command("cmake", "-S", project, "-B", where, "-G", "Ninja",
                         f"-DCMAKE_CXX_COMPILER={self.compiler}", "-DCMAKE_BUILD_TYPE=Release",
                         *options)
        self.run_command("cmake", "--build", where)
        return where / "embed"

    def test_every_public_header_is_installed_and_nothing_else(self):
        def headers(folder):
            return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}

        expected = {name for name in headers(self.source / "include/nidus")
                    if name.endswith(".hpp")}
        self.assertEqual(headers(self.prefix / "include/nidus"), expected)

    def test_a_project_finds_it_with_find_package(self):
        self.assert_works(self.build_project(self.source / "examples/embed",
                                             f"-DCMAKE_PREFIX_PATH={self.prefix}"))

    def test_a_project_finds_it_with_pkg_config(self):
        paths = ":".join(str(path.parent) for path in self.prefix.rglob("nidus.pc"))
        flags = self.run_command("pkg-config", "--cflags", "--libs", "nidus",
                                 PKG_CONFIG_PATH=paths).split()
        self.assertIn(f"{self.prefix}/include", " ".join(
            str(pathlib.Path(flag.removeprefix("-I")).resolve()) for flag in flags))
        program = self.top / "with_pkg_config"
        self.run_command(self.compiler, "-O2", self.source / "examples/embed/main.cpp",
                         "-o", program, *flags)
        self.assert_works(program)

    def test_a_project_has_it_as_a_subfolder(self):
        self.assert_works(self.build_project(self.source / "tests/install/subproject",
                                             f"-DNIDUS_SOURCE={self.source}"))

    def test_another_version_is_refused(self):
        project = self.top / "newer"
        project.mkdir()
        text = (self.source / "examples/embed/CMakeLists.txt").read_text()
        (project / "CMakeLists.txt").write_text(text.replace("nidus 0.1 ", "nidus 9.0 "))
        with self.assertRaisesRegex(AssertionError, "nidus"):
            self.run_command("cmake", "-S", project, "-B", project / "build", "-G", "Ninja",
                             f"-DCMAKE_PREFIX_PATH={self.prefix}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--compiler", default="c++")
    options, rest = parser.parse_known_args()
    Consumers.source, Consumers.build = options.source.resolve(), options.build.resolve()
    Consumers.compiler = options.compiler
    sys.exit(unittest.main(argv=[sys.argv[0], *rest], verbosity=2))
