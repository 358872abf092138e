"""The trace file: records as lines, only whole lines, appended with one write."""

import os

# Imported here: an import during the first record would be recorded, and so begin the file a
# second time.
try:
    import fcntl
except ImportError:
    fcntl = None

try:
    from _json import encode_basestring_ascii as _quote
except ImportError:
    from json.encoder import py_encode_basestring_ascii as _quote

# Buffered text is written when it is longer than this, in characters.
_LARGEST_BUFFER = 1 << 18


def encode(value):
    """JSON text of a value; text that is not valid Unicode becomes `{"hex": …}`."""
    kind = type(value)
    if kind is str and value.isascii():
        return _quote(value)
    if kind is int:
        return "%d" % value
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, str):
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            try:
                raw = value.encode("utf-8", "surrogateescape")
            except UnicodeEncodeError:
                raw = value.encode("utf-8", "surrogatepass")
            return '{"hex":"%s"}' % raw.hex()
        return _quote(value)
    if isinstance(value, bytes):
        try:
            return _quote(value.decode("utf-8"))
        except UnicodeDecodeError:
            return '{"hex":"%s"}' % value.hex()
    if isinstance(value, int):
        return "%d" % value
    if isinstance(value, float):
        return "%.6f" % value
    if isinstance(value, dict):
        pairs = (encode(str(key)) + ":" + encode(value[key]) for key in value)
        return "{" + ",".join(pairs) + "}"
    return _encode_all(value)


def _encode_all(values):
    """A list. Most of what is written are plain texts."""
    told = [
        _quote(value) if type(value) is str and value.isascii() else encode(value)
        for value in values
    ]
    return "[" + ",".join(told) + "]"


class Trace:
    """One process's trace. The file appears with the first write.

    With `through` every record is written at once.
    """

    def __init__(self, directory):
        self.directory = directory
        self.through = False
        # The native helper's function, if there is one. It only writes if the descriptor is
        # still the same file.
        self.append = None
        self._buffer = []
        self._size = 0
        # Files of code, as JSON.
        self._files = {}
        self._descriptor = self._identity = None
        self._write = os.write
        self._open = os.open
        self._header = None
        self.renew()

    def renew(self):
        """Begin another file, for a new or forked process."""
        self.id = "%d-%s" % (os.getpid(), os.urandom(4).hex())
        self.path = os.path.join(self.directory, self.id + ".trace")
        if self._descriptor is not None and self._is_ours():
            os.close(self._descriptor)
        self._descriptor = self._identity = None
        self._buffer = []
        self._size = 0
        self._header = None

    def set_header(self, fields, record):
        """The `open` record, always the first line, and the one after it."""
        self._header = fields
        self._buffer.insert(0, encode(record) + "\n")

    def write(self, *record):
        self._append(_encode_all(record) + "\n")

    def write_definition(self, unit, file, line, name):
        """A `c` record."""
        told = self._files.get(file)
        if told is None:
            told = self._files[file] = encode(file)
        self._append('["c",%d,%s,%d,%s]\n' % (unit, told, line, encode(name)))

    def write_additions(self, scope, units, edges):
        """A `+` record; `units` and `edges` are lists of numbers."""
        # The text of such a list is JSON.
        self._append('["+",%d,%r,%r]\n' % (scope, units, edges))

    def write_code(self, scope, units):
        """A `+` record; `units` is the text of numbers with commas."""
        self._append('["+",%d,[%s],[]]\n' % (scope, units))

    def write_test(self, scope, name, file):
        """A test begins: its `s` and `b` records; both texts are JSON."""
        self._append(
            '["s",%d,"test",%s,null]\n["b",%d,%s,%s]\n' % (scope, name, scope, name, file)
        )

    def write_result(self, scope, name, outcome, seconds, reason):
        """A `t` record; `name` is JSON, `outcome` a word."""
        self._append(
            '["t",%d,%s,"%s",%.6f,%s]\n' % (scope, name, outcome, seconds, encode(reason))
        )

    def _append(self, line):
        self._buffer.append(line)
        self._size += len(line)
        if self._header is not None and (self.through or self._size > _LARGEST_BUFFER):
            self.flush()

    def flush(self):
        """Write everything so far to the file, once there is a header."""
        if self._header is None or (not self._buffer and self._descriptor is not None):
            return
        lines, self._buffer, self._size = self._buffer, [], 0
        data = "".join(lines).encode("utf-8")
        written = 0
        if self.append is not None and self._descriptor is not None:
            written = self.append(self._descriptor, *self._identity, data)
            if written == len(data):
                return
        descriptor = self.descriptor()
        while written < len(data):
            data = data[written:]
            written = self._write(descriptor, data)

    def descriptor(self):
        """The open file, after its header was written."""
        if self._descriptor is not None and not self._is_ours():
            self._descriptor = self._reopen()
        if self._descriptor is None:
            self._descriptor = self._reopen()
            header = (encode(["open", self._header]) + "\n").encode("utf-8")
            self._write(self._descriptor, header)
        return self._descriptor

    def _reopen(self):
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
        descriptor = _high(self._open(self.path, flags, 0o644))
        info = os.fstat(descriptor)
        self._identity = (info.st_dev, info.st_ino)
        return descriptor

    def _is_ours(self):
        """Whether the descriptor is still open and was not reused."""
        try:
            info = os.fstat(self._descriptor)
        except OSError:
            return False
        return (info.st_dev, info.st_ino) == self._identity


def _high(descriptor):
    """The same file with a high descriptor number: tests that count or close low descriptors
    must not meet it."""
    if fcntl is None:
        return descriptor
    try:
        moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 700)
    except (OSError, ValueError, AttributeError):
        return descriptor
    os.close(descriptor)
    return moved
