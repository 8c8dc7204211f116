#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Proves that each rule of tools/check_layers fires, and only there: every test starts from a clean
tree, breaks one rule in it, and looks for exactly that violation."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools/check_layers"
SPDX = "// SPDX-License-Identifier: Apache-2.0\n"
OPENING = "\n// What this file is.\n\n"
HEADER = SPDX + "#pragma once\n" + OPENING
SOURCE = SPDX + OPENING

CLEAN_TREE = {
    "include/nidus/CMakeLists.txt": "# SPDX-License-Identifier: Apache-2.0\nset(HEADERS\n"
    "  base/error.hpp\n  map/cuckoo_map.hpp\n)\n",
    "include/nidus/base/error.hpp": HEADER + "#include <string>\n",
    "include/nidus/map/cuckoo_map.hpp": HEADER + "#include <nidus/base/error.hpp>\n",
    "src/resp/parser.cpp": SOURCE + '#include "resp/parser.hpp"\n#include <nidus/base/error.hpp>\n',
    "src/engine/index.cpp": SOURCE + "#include <nidus/lanes/lanes.hpp>\n"
    "x.load(std::memory_order_acquire);  // pairs with the release in put()\n",
    "src/server/server.cpp": SOURCE + '#include "command/executor.hpp"\n#include "http/http.hpp"\n',
    "tests/base/error_test.cpp": SOURCE + "#include <gtest/gtest.h>\n",
    "tools/tool": "#!/bin/sh\n# SPDX-License-Identifier: Apache-2.0\n",
}


class CheckLayers(unittest.TestCase):
    def run_on(self, changes):
        """Runs the tool on the clean tree with these files changed; returns its violations."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (CLEAN_TREE | changes).items():
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            done = subprocess.run([TOOL, folder], capture_output=True, text=True, check=False)
        lines = done.stdout.splitlines()
        self.assertEqual(done.returncode, 1 if len(lines) > 1 else 0, done.stdout + done.stderr)
        return lines[:-1]

    def assert_violation(self, path, text, expected):
        found = self.run_on({path: text})
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith(f"{path}:"), found)
        self.assertIn(expected, found[0])

    def test_a_clean_tree_passes(self):
        self.assertEqual(self.run_on({}), [])

    def test_an_include_that_points_up_is_found(self):
        self.assert_violation("src/resp/parser.cpp", SOURCE + '#include "engine/keyspace.hpp"\n',
                              "layer: resp may not include engine")

    def test_an_include_that_points_sideways_is_found(self):
        self.assert_violation("include/nidus/map/cuckoo_map.hpp",
                              HEADER + "#include <nidus/cache/cache_table.hpp>\n",
                              "layer: map may not include cache")

    def test_a_public_header_that_includes_a_compiled_layer_is_found(self):
        self.assert_violation("include/nidus/base/error.hpp", HEADER + '#include "engine/item.hpp"\n',
                              "layer: base may not include engine")

    def test_an_include_beside_the_include_root_is_found(self):
        self.assert_violation("src/resp/parser.cpp", SOURCE + '#include "parser.hpp"\n',
                              "does not start at a layer")

    def test_an_unknown_layer_is_found(self):
        self.assert_violation("src/utils/utils.cpp", SOURCE, "layer: 'utils' is no layer")

    def test_a_file_of_500_lines_passes_and_of_501_is_found(self):
        fits = SOURCE + "\n" * (500 - SOURCE.count("\n"))
        self.assertEqual(self.run_on({"tests/base/error_test.cpp": fits}), [])
        self.assert_violation("tests/base/error_test.cpp", fits + "\n", "length: 501 lines")

    def test_a_memory_order_without_a_reason_is_found(self):
        self.assert_violation("src/engine/index.cpp",
                              SOURCE + "int a;\nint b;\nx.load(std::memory_order_acquire);\n",
                              "memory-order")

    def test_a_reason_counts_up_to_two_lines_above(self):
        reason, line = "// pairs with the release in put()\n", "x.load(std::memory_order_acquire);\n"
        self.assertEqual(self.run_on({"src/engine/index.cpp": SOURCE + reason + "f();\n" + line}), [])
        self.assert_violation("src/engine/index.cpp", SOURCE + reason + "f();\ng();\n" + line,
                              "memory-order")

    def test_a_reason_above_a_statement_covers_all_its_lines(self):
        call = "f();\nx.exchange(1,\n           y,\n           std::memory_order_acquire);\n"
        reason = "// pairs with the release in put()\n"
        self.assertEqual(self.run_on({"src/engine/index.cpp": SOURCE + reason + call}), [])
        self.assert_violation("src/engine/index.cpp", SOURCE + "int a;\n" + call, "memory-order")

    def test_a_reason_for_all_counts_up_to_the_next_blank_line(self):
        all_of_them = "// relaxed (all): only the holder writes\n" + "f();\n" * 4
        line = "x.load(std::memory_order_relaxed);\n"
        self.assertEqual(self.run_on({"src/engine/index.cpp": SOURCE + all_of_them + line}), [])
        self.assert_violation("src/engine/index.cpp",
                              SOURCE + all_of_them + "\n" + "f();\n" * 2 + line, "memory-order")

    def test_a_missing_licence_line_is_found(self):
        self.assert_violation("tools/tool", "#!/bin/sh\n", "spdx")

    def test_a_missing_opening_paragraph_is_found(self):
        self.assert_violation("src/resp/parser.cpp", SPDX + "\n#include <string>\n", "opening")

    def test_a_header_without_pragma_once_is_found(self):
        self.assert_violation("include/nidus/base/error.hpp", SOURCE, "opening: #pragma once")

    def test_a_download_and_a_glob_in_the_build_are_found(self):
        licence = "# SPDX-License-Identifier: Apache-2.0\n"
        for line in ("include(FetchContent)", "file(GLOB sources *.cpp)"):
            self.assert_violation("src/CMakeLists.txt", licence + line + "\n", "build:")

    def test_a_skip_without_a_reason_is_found(self):
        self.assertEqual(self.run_on({"tests/base/error_test.cpp":
                                      SOURCE + 'GTEST_SKIP() << "no redis-server";\n'}), [])
        # Written in two parts, so that this file itself is no violation.
        self.assert_violation("tests/base/error_test.cpp", SOURCE + "GTEST_" + "SKIP();\n", "skip:")

    def test_a_public_header_outside_the_list_is_found(self):
        self.assert_violation("include/nidus/base/hash.hpp", HEADER, "listed")


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
