#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`nidus lab filter`: what its experiments print, and what they refuse.

Usage: filter_test.py EXECUTABLE
"""

import json
import unittest

import nidus


def as_json(*arguments):
    done = nidus.run("lab", "filter", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


class LabFilter(unittest.TestCase):
    def test_rates_are_those_of_the_formulas(self):
        rows = as_json("rates", "--keys", "50000", "--probes", "200000")["rates"]
        for row in rows:
            for name in ("bloom", "blocked", "cuckoo"):
                if row[name + "_theory"] > 0.01:  # 2000 events and more
                    with self.subTest(name, bits=row["bits_per_key"]):
                        self.assertAlmostEqual(row[name] / row[name + "_theory"], 1, delta=0.1)

    def test_every_filter_takes_more_than_the_optimum(self):
        for row in as_json("space")["space"]:
            for name in ("bloom", "blocked", "counting", "cuckoo_b4"):
                self.assertGreater(row[name], row["optimum"])

    def test_small_ends_in_a_false_positive_and_finds_every_key(self):
        steps = as_json("small")["small"]
        self.assertIn("false positive", steps[-1]["outcome"])
        for step in steps:
            self.assertEqual(len(step["bits"]), 16)
            if "present" in step["outcome"]:
                self.assertIn("maybe", step["outcome"])

    def test_delete_makes_a_false_negative_in_the_bloom_filter_only(self):
        for row in as_json("delete")["delete"]:
            wrong = row["filter"] == "Bloom" and "cleared" in row["operation"]
            self.assertEqual("false negative" in row["verdict"], wrong, row)

    def test_pays_in_front_of_a_slow_store(self):
        answer = as_json("pays", "--keys", "20000", "--probes", "5000")
        rows = {(row["store"], row["filter"]): row for row in answer["pays"]}
        with_filter = rows["100 us", "blocked Bloom"]["absent_100_percent"]
        self.assertLess(with_filter, rows["100 us", "none"]["absent_100_percent"] / 2)
        self.assertEqual(len(answer["break_even"]), 9)

    def test_refuses_what_makes_no_sense(self):
        for arguments in (("nope",), ("rates", "--keys", "0"), ("pays", "--fpr", "2"),
                          ("small", "--keys", "17")):
            with self.subTest(arguments):
                done = nidus.run("lab", "filter", *arguments)
                self.assertEqual(done.returncode, 2)
                self.assertNotEqual(done.stderr, "")


if __name__ == "__main__":
    unittest.main()
