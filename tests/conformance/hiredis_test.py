# SPDX-License-Identifier: Apache-2.0
"""Runs the C client (hiredis_client.c, built by CMake or, without --client, by the system's cc)."""

import pathlib
import subprocess
import tempfile

import case


class Hiredis(case.ServerCase):
    def test_the_c_client_passes_all_its_checks(self):
        with tempfile.TemporaryDirectory() as folder:
            client = case.arguments().client or self.build(folder)
            done = subprocess.run([client, str(self.server.port)], capture_output=True, text=True, timeout=120)
        self.assertEqual((done.returncode, done.stdout), (0, "0 failures\n"), done.stderr)

    def build(self, folder):
        source = pathlib.Path(__file__).with_name("hiredis_client.c")
        target = pathlib.Path(folder) / "hiredis_client"
        subprocess.run(["cc", "-std=c11", "-D_GNU_SOURCE", "-O1", str(source), "-o", str(target), "-lhiredis"], check=True)
        return target


if __name__ == "__main__":
    case.main(lambda parser: parser.add_argument("--client"))
