# SPDX-License-Identifier: Apache-2.0
"""Random commands against the server and a stock redis-server: the replies are equal byte for byte.

Both get the same sequence, in pipelines of random length and split at random places. Where a reply depends
on the server's own choice, `normalise` reduces it to what both must agree on; everything else is raw bytes. A
difference prints the seed, the commands before it, and both replies; `--seed N` repeats the run.
"""

import random
import shutil
import time

import case
import commands
import server as servers
import wire

ROUND = 400
TTL_SLACK = {"TTL": 2, "PTTL": 3000, "EXPIRETIME": 2, "PEXPIRETIME": 3000}


def normalise(command, reply):
    """What of `reply` is compared. The listed exceptions are all there are."""
    name = str(command[0]).upper()
    value = wire.parse(reply)
    if isinstance(value, wire.Error):
        return reply
    if name == "HELLO":  # the servers' own name, version and connection number
        return type(value), value[::2], value[5]
    if name == "OBJECT":  # ours follows from the value, redis' also from its history (raw after APPEND)
        return "raw" if value in (b"int", b"embstr", b"raw") else value
    if name == "KEYS" and isinstance(value, list):  # in any order
        return sorted(value)
    if name == "SCAN" and isinstance(value, list):  # one page here (COUNT 1000), in any order
        return (value[0], sorted(value[1])) if 1000 in command else len(value)
    return reply


def same(command, ours, theirs):
    name = str(command[0]).upper()
    if name in TTL_SLACK and ours[:1] == theirs[:1] == b":":  # the two set and read it at two moments
        left, right = wire.parse(ours), wire.parse(theirs)
        return left == right or (min(left, right) > 0 and abs(left - right) <= TTL_SLACK[name])
    return normalise(command, ours) == normalise(command, theirs)


class Pair:
    """One connection to each server, and whether a transaction is open (its replies come later)."""

    def __init__(self, ours, theirs, rng):
        self.ours, self.theirs, self.random = ours, theirs, rng
        self.log = []
        self.queued = None

    def send(self, batch):
        data = b"".join(wire.encode(*command) for command in batch)
        for link in (self.ours, self.theirs):
            at = 0
            while at < len(data):
                size = self.random.choice((len(data), 1 + self.random.randrange(len(data)), 7))
                link.raw(data[at:at + size])
                at += size
        for command in batch:
            self.compare(command, self.ours.reply(), self.theirs.reply())

    def compare(self, command, ours, theirs):
        self.log = self.log[-40:] + [(command, ours, theirs)]
        name = str(command[0]).upper()
        equal = ours == theirs or (self.same_exec(ours, theirs) if name == "EXEC" else same(command, ours, theirs))
        if theirs == b"+QUEUED\r\n":
            self.queued = (self.queued or []) + [command]
        elif name in ("EXEC", "DISCARD", "RESET", "MULTI") and not (name == "MULTI" and theirs[:1] == b"-"):
            self.queued = None
        if not equal:
            before = "\n".join(f"{c!r:.200} -> {o!r:.80}" for c, o, _ in self.log[:-1])
            raise AssertionError(f"{before}\n{command!r}\n    got      {ours!r:.600}\n    expected {theirs!r:.600}")

    def same_exec(self, ours, theirs):
        """EXEC: the queued commands' replies, each by its own rule."""
        left, right = split(ours), split(theirs)
        return (self.queued is not None and len(left) == len(right) == len(self.queued)
                and all(a == b or same(c, a, b) for c, a, b in zip(self.queued, left, right)))


def split(reply):
    """The elements of an array reply, as raw bytes."""
    if reply[:1] != b"*" or reply[:2] == b"*-":
        return [reply]
    reader = wire.Wire(None)
    end = reply.index(b"\r\n") + 2
    reader.buffer = bytearray(reply[end:])
    return [reader.reply() for _ in range(int(reply[1:end - 2]))]


class Differential(case.ServerCase):
    def setUp(self):
        super().setUp()
        path = shutil.which("redis-server")
        if not path:
            case.skip("redis-server is missing (package redis-server)")
        peer = servers.Server(path, "redis").start()
        self.addCleanup(peer.stop)
        self.peer = peer

    def test_random_commands_get_the_replies_of_redis(self):
        seed = case.arguments().seed
        seed = random.randrange(2**32) if seed is None else seed
        deadline, rounds = time.monotonic() + case.arguments().seconds, 0
        while time.monotonic() < deadline:
            self.round(seed + rounds)
            rounds += 1
        print(f"{rounds} rounds of {ROUND} commands, seeds from {seed}")

    def round(self, seed):
        rng = random.Random(seed)
        ours, theirs = self.connect(), case.Wire(self.peer.connect())
        self.addCleanup(theirs.close)
        pair, generator = Pair(ours, theirs, rng), commands.Generator(rng)
        try:
            pair.send([["FLUSHALL"]] + ([["HELLO", "3"]] if seed % 2 else []))
            done = 0
            while done < ROUND:
                batch = [generator.command() for _ in range(rng.choice((1, 2, 16, 60)))]
                pair.send(batch)
                done += len(batch)
        except (AssertionError, case.Closed, OSError) as error:
            raise AssertionError(f"--seed {seed}: {type(error).__name__}: {error}") from None
        ours.close()
        theirs.close()


def options(parser):
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--seed", type=int)


if __name__ == "__main__":
    case.main(options)
