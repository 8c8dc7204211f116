# SPDX-License-Identifier: Apache-2.0
"""Starts the server under test on a free loopback port and always stops it again.

Every Python test of this folder and tools/redis_suite begins here: `Server` is a context manager that starts
either kind of server (`redis` = a stock redis-server, which proves the harness; `nidus` = ours), waits
until it answers PING, and on leaving stops that one process by its own pid, in bounded time. What the
server printed is shown when a test fails. `/proc` gives the file descriptors and resident bytes that the
load tests compare before and after.
"""

import argparse
import os
import pathlib
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
import time

START_TIMEOUT_S = 20
STOP_TIMEOUT_S = 20
HOST = "127.0.0.1"


def free_port():
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return probe.getsockname()[1]


def add_arguments(parser):
    """The two options that every script of this folder takes."""
    parser.add_argument("--server", default="nidus", help="nidus (build/release/nidus), redis (redis-server), or a path")
    parser.add_argument("--kind", choices=("redis", "nidus"), help="which options it takes (default: by its name)")


def resolve(arguments, parser):
    """Turns the names `nidus` and `redis` into paths and fills in the kind; no executable: status 2."""
    if not arguments.kind:
        arguments.kind = "redis" if "redis" in pathlib.Path(arguments.server).name else "nidus"
    known = {"redis": shutil.which("redis-server") or "redis-server",
             "nidus": str(pathlib.Path(__file__).resolve().parents[2] / "build" / "release" / "nidus")}
    arguments.server = os.path.abspath(known.get(arguments.server, arguments.server))
    if not os.access(arguments.server, os.X_OK):
        parser.error(f"no server executable at {arguments.server!r}: give --server nidus|redis|PATH")
    return arguments


def parse_arguments(description, extra=None):
    """Parses --server/--kind and what `extra(parser)` adds."""
    parser = argparse.ArgumentParser(description=description)
    add_arguments(parser)
    if extra:
        extra(parser)
    return resolve(parser.parse_args(), parser)


class Server:
    """One running server. Options are named as ours are; redis' names are derived from them.

    requirepass, memory_limit (bytes or "64mb"), policy ("noeviction", "lru"), threads, unixsocket,
    max_clients, fd_limit (RLIMIT_NOFILE of the server alone), extra (a list of raw arguments).
    """

    def __init__(self, path, kind, *, requirepass=None, memory_limit=None, policy=None, threads=None,
                 unixsocket=None, fd_limit=None, extra=()):
        self.path, self.kind = path, kind
        self.requirepass, self.memory_limit, self.policy = requirepass, memory_limit, policy
        self.threads, self.unixsocket, self.fd_limit = threads, unixsocket, fd_limit
        self.extra = list(extra)
        self.port = None
        self.process = None

    def command_line(self):
        if self.kind == "redis":
            return self._redis_command_line()
        line = [self.path, "serve", "--port", str(self.port), "--bind", HOST, "--http-port", "0"]
        pairs = (("--threads", self.threads), ("--requirepass", self.requirepass),
                 ("--memory-limit", self.memory_limit), ("--policy", self.policy),
                 ("--unixsocket", self.unixsocket))
        for name, value in pairs:
            if value is not None:
                line += [name, str(value)]
        return line + self.extra

    def _redis_command_line(self):
        policies = {"lru": "allkeys-lru", "lfu": "allkeys-lfu", "random": "allkeys-random"}
        line = [self.path, "--port", str(self.port), "--bind", HOST, "--save", "", "--appendonly", "no",
                "--dir", str(self.folder)]
        pairs = (("--io-threads", self.threads), ("--requirepass", self.requirepass),
                 ("--maxmemory", self.memory_limit),
                 ("--maxmemory-policy", policies.get(self.policy, self.policy)),
                 ("--unixsocket", self.unixsocket))
        for name, value in pairs:
            if value is not None:
                line += [name, str(value)]
        return line + self.extra

    def _limit_files(self):
        if self.fd_limit:
            resource.setrlimit(resource.RLIMIT_NOFILE, (self.fd_limit, self.fd_limit))

    def start(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="nidus-conformance-"))
        self.log = self.folder / "server.log"
        error = None
        for _ in range(3):  # another process may take the free port before the server binds it
            self.port = free_port()
            with open(self.log, "wb") as log:
                self.process = subprocess.Popen(
                    self.command_line(), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                    cwd=self.folder, preexec_fn=self._limit_files)
            error = self._wait_until_it_answers()
            if error is None:
                return self
            self.stop()
            self.folder.mkdir(exist_ok=True)
        raise RuntimeError(error)

    def _wait_until_it_answers(self):
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                return f"server ended with status {self.process.returncode}: {self.output()}"
            try:
                with self.connect(timeout=2) as probe:
                    probe.sendall(b"PING\r\n")
                    if probe.recv(256)[:1] in (b"+", b"-"):
                        return None
            except OSError:
                pass
            time.sleep(0.02)
        return f"server does not answer after {START_TIMEOUT_S} s: {self.output()}"

    def stop(self):
        """SIGTERM, then SIGKILL after STOP_TIMEOUT_S; returns the exit status (negative: a signal)."""
        status = None
        if self.process is not None:
            if self.process.poll() is None:
                self.process.send_signal(signal.SIGTERM)
                try:
                    self.process.wait(STOP_TIMEOUT_S)
                except subprocess.TimeoutExpired:
                    self.process.kill()
                    self.process.wait()
            status = self.process.returncode
            self.process = None
        shutil.rmtree(self.folder, ignore_errors=True)
        return status

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def output(self):
        try:
            return self.log.read_bytes().decode(errors="replace")[-4000:]
        except OSError:
            return ""

    def __enter__(self):
        return self.start()

    def __exit__(self, kind, value, trace):
        if kind is not None:
            print(f"--- output of {self.path}:\n{self.output()}\n---", flush=True)
        died = self.process is not None and self.process.poll() is not None
        status = self.stop()
        if died and kind is None:
            raise RuntimeError(f"the server had ended by itself with status {status}")
        return False

    def connect(self, timeout=10):
        """A plain TCP socket to the server."""
        link = socket.create_connection((HOST, self.port), timeout=timeout)
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return link

    def open_files(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def resident_bytes(self):
        with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
