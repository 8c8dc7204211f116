#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Proves that tools/check_style finds a wrong format, a wide line and each kind of wrong name, and
passes a tree that has none. Skipped (77) where clang-format and clang-tidy are not installed: only
./test --full installs them."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CLEAN = """#include <vector>

#define NIDUS_LIMIT 7

namespace nidus {

enum class Outcome { kFound, kAbsent };
inline constexpr int kSlots = 8;

template <class Key>
class CuckooMap {
 public:
  using value_type = Key;
  bool may_contain(int key_bytes) const { return key_bytes < size_; }

 private:
  int size_ = NIDUS_LIMIT;
};

bool find(int a) { return CuckooMap<int>().may_contain(a); }

}  // namespace nidus
"""


class CheckStyle(unittest.TestCase):
    def violations(self, text):
        """The lines that the tool prints for a tree whose one file has this text."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder).resolve()
            for name in (".clang-format", ".clang-tidy"):
                shutil.copy(ROOT / name, root / name)
            source = root / "src/engine/index.cpp"
            source.parent.mkdir(parents=True)
            source.write_text(text)
            (root / "compile_commands.json").write_text(json.dumps([{
                "directory": str(root), "file": str(source),
                "command": f"c++ -std=c++20 -c {source}"}]))
            done = subprocess.run([ROOT / "tools/check_style", root, "--build", root],
                                  capture_output=True, text=True, check=False)
        lines = done.stdout.splitlines()
        self.assertEqual(done.returncode, 1 if len(lines) > 1 else 0, done.stdout + done.stderr)
        return lines[:-1]

    def assert_found(self, old, new, expected):
        self.assertIn(old, CLEAN)
        found = self.violations(CLEAN.replace(old, new))
        self.assertTrue(found and all(expected in line for line in found), found)

    def test_a_clean_tree_passes(self):
        self.assertEqual(self.violations(CLEAN), [])

    def test_a_wrong_format_is_found(self):
        self.assert_found("bool find(int a) {", "bool find( int a ) {", "format:")

    def test_a_wide_comment_is_found(self):
        self.assert_found("bool find(", "// " + "x" * 98 + "\nbool find(", "width: 101")

    def test_wrong_names_are_found(self):
        for old, new in (
            ("CuckooMap", "cuckoo_map"), ("Outcome", "outcome_kind"), ("kFound", "FOUND"),
            ("kSlots", "SLOTS"), ("may_contain", "mayContain"), ("size_", "size"),
            ("key_bytes", "keyBytes"), ("NIDUS_LIMIT", "LIMIT"), ("bool find(", "bool Find("),
        ):
            with self.subTest(new):
                self.assert_found(old, new, "names:")


if __name__ == "__main__":
    if not (shutil.which("clang-format") and shutil.which("clang-tidy")):
        print("skipped: clang-format and clang-tidy are not installed (./test --full installs them)")
        sys.exit(77)
    sys.exit(unittest.main(verbosity=2))
