#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`nidus ring` and `nidus lab ring`: what they print in each form, and what they refuse.

Usage: ring_test.py EXECUTABLE
"""

import csv
import io
import json
import os
import subprocess
import tempfile
import unittest
import xml.dom.minidom

import nidus

PLACEMENTS = ("ring", "bounded", "rendezvous", "ketama", "ketama-twemproxy", "jump", "maglev",
              "modulo")


def as_json(*arguments):
    done = nidus.run(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


class Ring(unittest.TestCase):
    def test_every_placement_shares_keys_out_by_weight(self):
        for placement in PLACEMENTS:
            with self.subTest(placement):
                answer = as_json("ring", "--nodes", "a,b,c", "--placement", placement)
                self.assertEqual([node["node"] for node in answer["nodes"]], ["a", "b", "c"])
                self.assertEqual(sum(node["keys"] for node in answer["nodes"]), 100_000)
                self.assertLess(answer["summary"]["max_over_mean"], 1.2)
        loads = as_json("ring", "--nodes", "a:1,b:2", "--placement", "rendezvous")["nodes"]
        self.assertAlmostEqual(loads[1]["share_percent"], 66.7, delta=1)

    def test_a_node_that_joins_takes_its_share_and_modulo_moves_three_of_four(self):
        answer = as_json("ring", "--nodes", "a,b,c", "--add", "d")
        ring, modulo = answer["change"]
        self.assertAlmostEqual(ring["moved_percent"], 25, delta=3)
        self.assertEqual(ring["needless"], 0)
        self.assertAlmostEqual(modulo["moved_percent"], 75, delta=1)
        self.assertEqual({move["to"] for move in answer["moves"]}, {"d"})

    def test_a_node_that_leaves_gives_exactly_its_keys(self):
        before = as_json("ring", "--nodes", "a,b,c,d,e")
        after = as_json("ring", "--nodes", "a,b,c,d,e", "--remove", "c")
        had = next(node["keys"] for node in before["nodes"] if node["node"] == "c")
        self.assertEqual(after["change"][0]["moved"], had)
        self.assertEqual({move["from"] for move in after["moves"]}, {"c"})

    def test_copies_stand_in_other_zones(self):
        zones = "a=x,b=x,c=y,d=y"
        answer = as_json("ring", "--nodes", "a,b,c,d", "--replicas", "2", "--zones", zones)
        self.assertEqual(answer["summary"]["keys_crowded_in_zones"], 0)
        self.assertEqual(sum(node["copies"] for node in answer["nodes"]), 200_000)
        zone_of = dict(pair.split("=") for pair in zones.split(","))
        done = nidus.run("ring", "--nodes", "a,b,c,d", "--replicas", "2", "--zones", zones,
                         "--count", "100", "--owners", "--csv")
        for row in csv.DictReader(io.StringIO(done.stdout)):
            self.assertNotEqual(zone_of[row["owner"]], zone_of[row["copy_1"]])

    def test_keys_come_from_a_file_or_standard_input(self):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("".join(f"k{i},\"x\"\n" for i in range(50)))
            file.flush()
            done = nidus.run("ring", "--nodes", "a,b", "--keys", file.name, "--owners", "--csv")
            rows = list(csv.DictReader(io.StringIO(done.stdout)))
            self.assertEqual([row["key"] for row in rows], [f'k{i},"x"' for i in range(50)])
            with open(file.name, encoding="utf-8") as keys:
                piped = subprocess.run([nidus.EXECUTABLE, "ring", "--nodes", "a,b", "--keys", "-",
                                        "--owners", "--csv"], stdin=keys, capture_output=True,
                                       text=True, timeout=nidus.PATIENCE_S, check=True)
            self.assertEqual(piped.stdout, done.stdout)

    def test_text_and_csv_show_the_same_tables(self):
        arguments = ("ring", "--nodes", "a,b,c", "--add", "d")
        text, tables = nidus.run(*arguments).stdout, nidus.run(*arguments, "--csv").stdout
        self.assertIn("moved over ideal", text)
        self.assertEqual([table.split(",")[0] for table in tables.split("\n\n")],
                         ["node", "placement", "placement", "from"])

    def test_the_picture_is_a_document_with_an_arc_a_node(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "ring.svg")
            done = nidus.run("ring", "--nodes", "a,<b>", "--add", "c", "--vnodes", "16", "--svg",
                             path)
            self.assertEqual(done.returncode, 0, done.stderr)
            picture = xml.dom.minidom.parse(path)
            titles = [title.firstChild.data for title in picture.getElementsByTagName("title")]
            self.assertEqual([title.split()[0] for title in titles],
                             ["ring", "<b>", "a", "c", "moved"])

    def test_mistakes_are_named(self):
        for arguments, error in (
                (("--nodes", "a,a"), "node 'a' is given twice"),
                (("--nodes", "a:0"), "the weight of node 'a' is not above zero"),
                (("--nodes", "a:x"), "'x' is no weight"),
                (("--nodes", "a", "--placement", "rng"), "take one of ring, bounded"),
                (("--nodes", "a,b", "--remove", "c"), "node 'c' cannot be removed"),
                (("--nodes", "a,b", "--add", "b"), "node 'b' is given twice"),
                (("--nodes", "a", "--remove", "a"), "no node is left"),
                (("--nodes", "a", "--zones", "b=x"), "'b', which is no node"),
                (("--nodes", "a", "--zones", "x"), "write NODE=ZONE"),
                (("--nodes", "a", "--vnodes", "0"), "--vnodes"),
                (("--nodes", "a", "--placement", "jump", "--svg", "x"), "no ring to draw"),
                ((), "--nodes is required")):
            with self.subTest(arguments):
                done = nidus.run("ring", *arguments)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(error, done.stderr)
        for arguments in (("--keys", "/nonexistent/keys"), ("--svg", "/nonexistent/x.svg")):
            done = nidus.run("ring", "--nodes", "a", *arguments)
            self.assertEqual(done.returncode, 1)
            self.assertIn(arguments[1], done.stderr)


class Lab(unittest.TestCase):
    def test_load_follows_the_square_root_law(self):
        law = as_json("lab", "ring", "balance", "--rings", "30")["fit"]
        self.assertAlmostEqual(law["exponent"], -0.5, delta=0.03)
        self.assertAlmostEqual(law["factor"], law["theory_factor"], delta=0.1)

    def test_churn_moves_the_ideal_and_never_between_others(self):
        rows = as_json("lab", "ring", "churn", "--nodes", "12")["churn"]
        by_name = {row["placement"]: row for row in rows}
        self.assertEqual(set(by_name), set(PLACEMENTS))
        for name in ("ring", "bounded", "rendezvous"):
            self.assertAlmostEqual(by_name[name]["join_moved_over_ideal"], 1, delta=0.1)
            self.assertAlmostEqual(by_name[name]["leave_moved_over_ideal"], 1, delta=0.1)
            self.assertEqual(by_name[name]["needless_percent_a_change"], 0)
        self.assertLessEqual(by_name["bounded"]["worst_max_over_mean_of_slots"], 1.05)
        self.assertGreater(by_name["modulo"]["join_moved_over_ideal"], 3)

    def test_placements_are_measured_beside_each_other(self):
        rows = as_json("lab", "ring", "placements", "--nodes", "20", "--keys", "20000")
        self.assertEqual({row["placement"] for row in rows["placements"]}, set(PLACEMENTS))
        self.assertTrue(all(row["lookup_ns"] > 0 for row in rows["placements"]))

    def test_slots_keep_the_bound(self):
        rows = as_json("lab", "ring", "slots", "--nodes", "10", "--rings", "2")["slots"]
        bounded = next(row for row in rows if row["placement"] == "bounded")
        self.assertLessEqual(bounded["max_over_mean_of_slots"], 1.05)
        self.assertAlmostEqual(bounded["moved_over_ideal"], 1, delta=0.01)

    def test_the_textbook_moves_one_key(self):
        answer = as_json("lab", "ring", "worked")
        self.assertEqual(answer["summary"], {"keys": 4, "moved": 1})
        self.assertEqual([row["key"] for row in answer["keys"] if row["moves"] == "yes"], [35])

    def test_unknown_experiments_and_impossible_sizes_are_refused(self):
        for arguments in (("lab",), ("lab", "ring"), ("lab", "ring", "nope"),
                          ("lab", "ring", "churn", "--nodes", "2"),
                          ("lab", "ring", "balance", "--nodes", "1")):
            done = nidus.run(*arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertTrue(done.stderr.startswith("nidus: "), done.stderr)


if __name__ == "__main__":
    unittest.main()
