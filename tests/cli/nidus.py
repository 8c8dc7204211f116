# SPDX-License-Identifier: Apache-2.0
"""The executable under test: runs it to its end, or as a server on ports the system chooses."""

import os
import re
import select
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

EXECUTABLE = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "nidus"
PATIENCE_S = 20


def environment(extra=None):
    """This process's environment without nidus' own variables, and with those given."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("NIDUS_")}
    return {**clean, **(extra or {})}


def run(*arguments, env=None):
    return subprocess.run([EXECUTABLE, *arguments], env=environment(env), text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=PATIENCE_S)


class Server:
    """`nidus serve`, stopped by its own process id when the block ends."""

    def __init__(self, *arguments, env=None):
        # One that is given again after these would be given twice.
        defaults = [("--port", "any"), ("--http-port", "any"), ("--threads", "1")]
        flags = [word for flag in defaults if flag[0] not in arguments for word in flag]
        self.process = subprocess.Popen(
            [EXECUTABLE, "serve", *flags, *arguments], env=environment(env), text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.line = self._first_line()
        port = re.search(r"redis-cli .*-p (\d+)", self.line)
        http = re.search(r"http://(\S+)/metrics", self.line)
        self.port = int(port.group(1)) if port else None
        self.http = "http://" + http.group(1) if http else None

    def _first_line(self):
        ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE_S)
        line = self.process.stdout.readline() if ready else ""
        if not line:
            self.process.kill()
            raise RuntimeError("nidus did not start: " + self.process.communicate()[1])
        return line

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def connect(self):
        client = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S)
        return client

    def ask(self, *words):
        """Sends one request on a connection of its own; the bytes of a short reply."""
        with self.connect() as client:
            client.sendall(request(*words))
            return client.recv(65536)

    def get(self, path):
        """Status and text of an HTTP GET."""
        try:
            with urllib.request.urlopen(self.http + path, timeout=PATIENCE_S) as response:
                return response.status, response.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def stop(self, signal):
        """Sends the signal; the exit status, the seconds it took, and standard error."""
        began = time.monotonic()
        self.process.send_signal(signal)
        _, errors = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, time.monotonic() - began, errors


def request(*words):
    parts = [b"*%d\r\n" % len(words)]
    for word in words:
        data = word.encode()
        parts.append(b"$%d\r\n%s\r\n" % (len(data), data))
    return b"".join(parts)
