#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares nidus with redis-server, memcached and the bare server, in one interleaved run.

Every server is started on loopback, pinned to one core, and loaded with the same keys; the load
generator is pinned to another. Then they are driven in turn, round after round, and the medians are
printed with their ratios: the server's CPU time a request (user + system, the figure that noise
disturbs least), throughput, latency of a pipeline, resident bytes a key beyond key and value.

  cmake --preset release && cmake --build build/release
  bench/server/compare.py                        # 5 M keys, some 6 minutes
  bench/server/compare.py --keys 100000 --rounds 1 --seconds 1 --json
"""

import argparse
import json
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KEY_BYTES = 16

# name, mix of the generator, pipeline
CASES = [
    ("GET:SET 10:1", "getset", 1),
    ("GET:SET 10:1", "getset", 4),
    ("GET:SET 10:1", "getset", 16),
    ("GET:SET 10:1", "getset", 32),
    ("GET", "get", 32),
    ("SET", "set", 32),
    ("MGET of 32", "mget", 1),
]


class Server:
    def __init__(self, name, command, port, protocol="resp", holds_keys=True):
        self.name, self.port, self.protocol, self.holds_keys = name, port, protocol, holds_keys
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log)
        deadline = time.monotonic() + 20
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                return
            except OSError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    self.log.seek(0)
                    raise SystemExit(f"{name} did not start: {self.log.read().decode()}")
                time.sleep(0.05)

    def cpu_seconds(self):
        """User + system time of all threads, in nanosecond resolution."""
        total = 0
        for task in Path(f"/proc/{self.process.pid}/task").iterdir():
            total += int((task / "schedstat").read_text().split()[0])
        return total / 1e9

    def resident(self):
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def start_servers(options, build):
    core = str(options.server_core)
    pin = ["taskset", "-c", core]
    servers = []

    def add(name, make, **more):
        if name in options.servers:
            port = free_port()
            servers.append(Server(name, pin + make(port), port, **more))

    add("bare", lambda port: [build / "bench/server/bare_server", str(port), str(options.value)],
        holds_keys=False)
    add("nidus", lambda port: [build / "nidus", "serve", "--port", str(port), "--threads", "1",
                               "--http-port", "0"] + options.nidus_options.split())
    if options.against:
        options.servers.append("nidus-b")
        add("nidus-b", lambda port: [options.against, "serve", "--port", str(port), "--threads", "1",
                                     "--http-port", "0"] + options.nidus_options.split())
    if shutil.which("redis-server"):
        add("redis", lambda port: ["redis-server", "--port", str(port), "--save", "",
                                   "--appendonly", "no", "--bind", "127.0.0.1"])
    if shutil.which("memcached"):
        add("memcached", lambda port: ["memcached", "-l", "127.0.0.1", "-p", str(port), "-t", "1",
                                       "-m", "8192", "-u", "nobody", "-c", "4096"],
            protocol="memcached")
    return servers


def generate(options, build, server, mix, pipeline, seconds, seed=1):
    command = ["taskset", "-c", str(options.client_core), str(build / "bench/server/load_generator"),
               "--port", str(server.port), "--protocol", server.protocol, "--mix", mix,
               "--keys", str(options.keys), "--value", str(options.value), "--pipeline",
               str(pipeline), "--connections", str(options.connections), "--seconds", str(seconds),
               "--seed", str(seed)]
    before = server.cpu_seconds()
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        raise SystemExit(f"{server.name}: {done.stderr.strip()}")
    result = json.loads(done.stdout)
    result["cpu_us"] = (server.cpu_seconds() - before) / result["requests"] * 1e6
    result["per_second"] = result["requests"] / result["seconds"]
    return result


def measure(options, build, servers):
    rows = []
    for case, mix, pipeline in CASES:
        if options.only and options.only not in f"{mix}/{pipeline}":
            continue
        samples = {server.name: [] for server in servers}
        for round_number in range(options.rounds):
            for server in servers:
                samples[server.name].append(
                    generate(options, build, server, mix, pipeline, options.seconds,
                             seed=round_number + 1))
        for server in servers:
            row = {"case": case, "pipeline": pipeline, "server": server.name}
            for figure in ("cpu_us", "per_second", "p50_us", "p99_us", "p999_us"):
                values = [sample[figure] for sample in samples[server.name]]
                row[figure] = statistics.median(values)
                row[figure + "_spread"] = (max(values) - min(values)) / row[figure]
            rows.append(row)
        if not options.json:
            print_case(case, pipeline, [r for r in rows
                                        if (r["case"], r["pipeline"]) == (case, pipeline)])
    return rows


def print_case(case, pipeline, rows):
    ours = next((row for row in rows if row["server"] == "nidus"), None)
    print(f"\n{case}, pipeline {pipeline}")
    print(f"{'':12}{'CPU us/req':>12}{'+-':>7}{'req/s':>12}{'p50 us':>9}{'p99 us':>9}{'p99.9 us':>10}"
          f"{'nidus CPU':>12}{'nidus req/s':>13}")
    for row in rows:
        ratio = (f"{ours['cpu_us'] / row['cpu_us']:11.2f}x{ours['per_second'] / row['per_second']:12.2f}x"
                 if ours else "")
        print(f"{row['server']:12}{row['cpu_us']:12.3f}{row['cpu_us_spread']:7.0%}"
              f"{row['per_second']:12.0f}{row['p50_us']:9.0f}{row['p99_us']:9.0f}"
              f"{row['p999_us']:10.0f}{ratio}", flush=True)


def load(options, build, servers):
    memory = []
    for server in servers:
        if not server.holds_keys:
            continue
        before = server.resident()
        generate(options, build, server, "load", 64, 1)
        extra = (server.resident() - before) / options.keys - KEY_BYTES - options.value
        memory.append({"server": server.name, "bytes_a_key_beyond_key_and_value": extra})
        if not options.json:
            print(f"{server.name:12} {extra:6.1f} resident bytes a key beyond key and value",
                  flush=True)
    return memory


def versions():
    lines = []
    for command in (["redis-server", "--version"], ["memcached", "--version"]):
        if shutil.which(command[0]):
            lines.append(subprocess.run(command, capture_output=True, text=True).stdout.strip())
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keys", type=int, default=5_000_000)
    parser.add_argument("--value", type=int, default=32, help="bytes")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0, help="of each measurement")
    parser.add_argument("--connections", type=int, default=50)
    parser.add_argument("--servers", default="bare,nidus,redis,memcached")
    parser.add_argument("--only", help="a part of mix/pipeline, e.g. getset/32")
    parser.add_argument("--server-core", type=int, default=0)
    parser.add_argument("--client-core", type=int, default=(os.cpu_count() or 1) - 1)
    parser.add_argument("--against", type=Path, help="a second nidus executable, to compare two builds")
    parser.add_argument("--nidus-options", default="", help="more options of nidus serve")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    options.servers = options.servers.split(",")
    build = options.build.resolve()
    servers = []
    try:
        servers = start_servers(options, build)
        if not options.json:
            print("\n".join(versions()))
            print(f"{options.keys} keys of {KEY_BYTES} bytes, values of {options.value} bytes, "
                  f"{options.connections} connections; medians of {options.rounds} rounds\n")
        memory = load(options, build, servers)
        rows = measure(options, build, servers)
        if options.json:
            json.dump({"memory": memory, "rows": rows, "versions": versions()}, sys.stdout, indent=1)
            print()
    finally:
        for server in servers:
            server.stop()


if __name__ == "__main__":
    main()
