# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of one Node.js client (node/*_test.js); `npm ci` fetches the clients into --modules first.

What is fetched is fixed by node/package-lock.json. The folder is shared by the two ctest entries of this file and kept
between runs; a lock file decides which of two runs at once fetches. Without npm, node or a registry that
answers, the run is skipped with the reason.
"""

import fcntl
import os
import pathlib
import shutil
import subprocess

import case

HERE = pathlib.Path(__file__).resolve().parent / "node"
DEFAULT_MODULES = HERE.parents[2] / "build" / "conformance_node"


def fetch(modules):
    """Fills `modules` unless it already holds what the committed lock file asks for."""
    modules.mkdir(parents=True, exist_ok=True)
    with open(modules / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        wanted = (HERE / "package-lock.json").read_bytes()
        done = modules / ".fetched"
        if done.exists() and done.read_bytes() == wanted:
            return
        for name in ("package.json", "package-lock.json"):
            shutil.copy2(HERE / name, modules / name)
        command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--fetch-retries", "2"]
        try:
            ran = subprocess.run(command, cwd=modules, capture_output=True, text=True, timeout=300)
        except subprocess.TimeoutExpired:
            case.skip("npm ci: no answer from the registry within 300 s")
        if ran.returncode:
            if "integrity" in ran.stderr.lower() or "EUSAGE" in ran.stderr:
                raise SystemExit(f"npm ci: {ran.stderr}")  # a broken lock file is a failure, not a reason to skip
            case.skip(f"npm ci failed (no network?): {ran.stderr.strip()[-600:]}")
        done.write_bytes(wanted)


class NodeClient(case.ServerCase):
    def test_the_client_passes_its_tests(self):
        modules = case.arguments().modules
        script = f"{case.arguments().client}_test.js"
        shutil.copy2(HERE / script, modules / script)  # require() looks in node_modules beside the script
        environment = os.environ | {"NIDUS_PORT": str(self.server.port), "NODE_NO_WARNINGS": "1"}
        done = subprocess.run(["node", "--test", "--test-timeout=60000", script], cwd=modules, capture_output=True, text=True,
                              timeout=100, env=environment)
        print(done.stdout)
        self.assertEqual(done.returncode, 0, done.stdout[-6000:] + done.stderr[-2000:])


def options(parser):
    parser.add_argument("--client", choices=("ioredis", "node_redis"), required=True)
    parser.add_argument("--modules", type=pathlib.Path, default=DEFAULT_MODULES)


if __name__ == "__main__":
    for program in ("node", "npm"):
        if not shutil.which(program):
            case.skip(f"{program} is missing (packages nodejs, npm)")
    case.main(options, prepare=lambda arguments: fetch(arguments.modules))
