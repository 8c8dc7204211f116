# SPDX-License-Identifier: Apache-2.0
"""RESP on a raw socket, independent of every client library: encode a request, read one reply.

Used by the golden tests, the differential fuzzer and the load tests. `Wire.reply()` returns the reply's raw bytes
exactly as they came (so that two servers can be compared byte by byte); `parse()` turns them into values:
bytes, int, None, list, `Error`, `Simple`, `Map`, `Set`, `Double`, bool.
"""


class Simple(bytes):
    """+OK"""


class Error(bytes):
    """-ERR ..."""


class Double(bytes):
    """,1.5 (kept as text: the text is what is compared)"""


class Map(list):
    """%n: alternating keys and values"""


class Set(list):
    """~n"""


class Closed(Exception):
    """The server closed the connection where a reply was expected."""


class Malformed(Exception):
    """The bytes are no RESP."""


def encode(*arguments):
    parts = [b"*%d\r\n" % len(arguments)]
    for argument in arguments:
        data = as_bytes(argument)
        parts.append(b"$%d\r\n%s\r\n" % (len(data), data))
    return b"".join(parts)


def as_bytes(value):
    return value if isinstance(value, bytes) else str(value).encode()


class Wire:
    """One connection with a read buffer."""

    def __init__(self, link):
        self.link = link
        self.buffer = bytearray()
        self.position = 0

    def send(self, *arguments):
        self.link.sendall(encode(*arguments))

    def raw(self, data):
        self.link.sendall(data)

    def ask(self, *arguments):
        """Sends one command and returns the raw bytes of its reply."""
        self.send(*arguments)
        return self.reply()

    def call(self, *arguments):
        """Sends one command and returns its reply as a value."""
        return parse(self.ask(*arguments))

    def reply(self):
        self.position = 0
        self._skip()
        data = bytes(self.buffer[:self.position])
        del self.buffer[:self.position]
        return data

    def line(self):
        """One line without its end, for replies too large to hold; `take()` gives what follows in the buffer."""
        self.position = 0
        line = self._line()
        del self.buffer[:self.position]
        return line

    def take(self):
        data, self.buffer = self.buffer, bytearray()
        return data

    def until_close(self):
        """Everything up to the close; raises socket.timeout when the server keeps the connection open."""
        data = bytes(self.buffer)
        self.buffer.clear()
        while True:
            try:
                chunk = self.link.recv(65536)
            except ConnectionResetError:
                return data
            if not chunk:
                return data
            data += chunk

    def quiet(self, seconds=0.05):
        """True when nothing is waiting to be read and nothing comes within `seconds`."""
        if self.buffer:
            return False
        before = self.link.gettimeout()
        self.link.settimeout(seconds)
        try:
            chunk = self.link.recv(65536)
        except TimeoutError:
            return True
        finally:
            self.link.settimeout(before)
        self.buffer += chunk
        return False

    def close(self):
        self.link.close()

    def _more(self):
        chunk = self.link.recv(1 << 18)
        if not chunk:
            raise Closed(bytes(self.buffer))
        self.buffer += chunk

    def _line(self):
        while True:
            end = self.buffer.find(b"\r\n", self.position)
            if end >= 0:
                line = bytes(self.buffer[self.position:end])
                self.position = end + 2
                return line
            self._more()

    def _skip(self):
        line = self._line()
        kind, rest = line[:1], line[1:]
        if kind in b"+-:,_#(" and kind:
            return
        if kind in (b"$", b"="):
            length = int(rest)
            if length >= 0:
                end = self.position + length + 2
                while len(self.buffer) < end:
                    self._more()
                self.position = end
            return
        if kind in (b"*", b"~", b">", b"%"):
            for _ in range(int(rest) * (2 if kind == b"%" else 1)):
                self._skip()
            return
        raise Malformed(line)


def parse(data):
    value, end = _parse(data, 0)
    if end != len(data):
        raise Malformed(data)
    return value


_SEQUENCES = {b"*": list, b"~": Set, b">": list, b"%": Map}


def _parse(data, start):
    end = data.index(b"\r\n", start)
    kind, rest, at = data[start:start + 1], data[start + 1:end], end + 2
    if kind in (b"$", b"="):
        length = int(rest)
        return (None, at) if length < 0 else (data[at:at + length], at + length + 2)
    if kind in _SEQUENCES:
        count = int(rest)
        if count < 0:
            return None, at
        items = _SEQUENCES[kind]()
        for _ in range(count * (2 if kind == b"%" else 1)):
            item, at = _parse(data, at)
            items.append(item)
        return items, at
    if kind == b":":
        return int(rest), at
    if kind == b"_":
        return None, at
    if kind == b"#":
        return rest == b"t", at
    return {b"+": Simple, b"-": Error, b",": Double, b"(": Double}[kind](rest), at
