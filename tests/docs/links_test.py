#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the documentation names exists: linked pages and their headings, files and folders, and
functions written as `Type::name()`."""

import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = sorted(ROOT.glob("*.md")) + sorted((ROOT / "docs").rglob("*.md"))
TOPS = "include|src|tests|tools|bench|examples|docs|cmake|packaging"
LINK = re.compile(r"\[[^\]]+\]\(([^)\s]+)\)")
FILE = re.compile(rf"(?<![\w/.])((?:{TOPS})/[\w./-]*\w/?)")
HEADER = re.compile(r"<(nidus/[\w/]+\.hpp)>")
QUALIFIED = re.compile(r"`(?:\w+::)*(\w+)::(~?\w+)(?:\(\))?`")
CODE_BLOCK = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
EXTERNAL = {"std", "boost", "asio", "benchmark", "hn"}


def anchor(heading):
    """The anchor that Git hosts give a heading."""
    return re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower()).strip().replace(" ", "-")


def anchors(page):
    text = CODE_BLOCK.sub("", page.read_text())
    return {anchor(line.lstrip("#")) for line in text.splitlines() if line.startswith("#")}


def exists(name):
    """A path, or a family of files without suffix: src/resp/parser."""
    path = ROOT / name
    return path.exists() or any(path.parent.glob(path.name + ".*"))


class Documentation(unittest.TestCase):
    def assert_true_of_pages(self, wrong):
        """wrong(page, text) gives what a page says that is not so; no page says any."""
        found = [f"{page.relative_to(ROOT)}: {what}" for page in PAGES
                 for what in wrong(page, page.read_text())]
        self.assertEqual(found, [])

    def test_links_lead_to_pages_and_headings(self):
        def wrong(page, text):
            for target in LINK.findall(CODE_BLOCK.sub("", text)):
                if target.startswith(("http://", "https://")):
                    continue
                name, _, heading = target.partition("#")
                linked = (page.parent / name).resolve() if name else page
                if not linked.exists() or (heading and heading not in anchors(linked)):
                    yield target
        self.assert_true_of_pages(wrong)

    def test_named_files_exist(self):
        def wrong(_, text):
            yield from (name for name in FILE.findall(text) if not exists(name))
            yield from (name for name in HEADER.findall(text) if not exists(f"include/{name}"))
        self.assert_true_of_pages(wrong)

    def test_named_functions_exist(self):
        code = "\n".join(path.read_text() for folder in ("include", "src")
                         for path in (ROOT / folder).rglob("*.[ch]pp"))
        words = set(re.findall(r"~?\w+", code))

        def wrong(_, text):
            for scope, name in QUALIFIED.findall(text):
                if scope not in EXTERNAL and not {scope, name} <= words:
                    yield f"{scope}::{name}"
        self.assert_true_of_pages(wrong)

    def test_every_page_is_linked(self):
        linked = set()
        for page in PAGES:
            for target in LINK.findall(page.read_text()):
                linked.add((page.parent / target.partition("#")[0]).resolve())
        pages = {page for page in PAGES if page.parent != ROOT}
        self.assertEqual({str(page.relative_to(ROOT)) for page in pages - linked}, set())


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=2))
