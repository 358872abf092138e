"""Fingerprints as the trace format defines them."""

import os
import stat
import sys

# Only the C module: importing hashlib costs more than all of this.
try:
    from _sha1 import sha1
except ImportError:
    from hashlib import sha1

# The reader of the trace fingerprints larger files.
LARGEST_FILE = 64 << 20

# Increased whenever the agent observes something new. It is part of the runtime's fingerprint,
# because records of older agents prove nothing.
_OBSERVED = 5

_ENTRY = {"r": b"r", "x": b"x", "l": b"l"}


def of_bytes(content, mode="r"):
    """32 hex digits: 15 bytes of the git blob id of `content`, and its mode."""
    digest = sha1(b"blob %d\0" % len(content))
    digest.update(content)
    return (digest.digest()[:15] + _ENTRY[mode]).hex()


def of_file(path, lstat=os.lstat, readlink=os.readlink):
    """The fingerprint of a file or symbolic link; `None` if it does not exist."""
    try:
        info = lstat(path)
        if stat.S_ISLNK(info.st_mode):
            return of_bytes(os.fsencode(readlink(path)), "l")
        if not stat.S_ISREG(info.st_mode) or info.st_size > LARGEST_FILE:
            return None
        # Without waiting, in case it is a pipe by now.
        flags = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
        descriptor = os.open(path, flags)
        try:
            digest = sha1(b"blob %d\0" % info.st_size)
            size = 0
            while True:
                part = os.read(descriptor, 1 << 20)
                if not part:
                    break
                digest.update(part)
                size += len(part)
        finally:
            os.close(descriptor)
    except (OSError, ValueError):
        return None
    if size != info.st_size:
        return None
    mode = "x" if info.st_mode & stat.S_IXUSR else "r"
    return (digest.digest()[:15] + _ENTRY[mode]).hex()


def runtime():
    """The fingerprint of the interpreter, and the text it is made of."""
    version = sys.version_info
    number = "%d.%d.%d" % version[:3]
    if version[3] != "final":
        number += "%s%d" % (version[3], version[4])
    text = "%s-%s-%s-%s %s" % (
        sys.implementation.name,
        number,
        sys.platform,
        os.uname().machine if hasattr(os, "uname") else "unknown",
        sys.version,
    )
    content = "%s %d" % (text, _OBSERVED)
    return of_bytes(content.encode("utf-8", "surrogateescape")), text


# Flags of the interpreter for its input, its bytecode files and its messages. They do not
# change outcomes.
_HARMLESS_FLAGS = frozenset(("inspect", "interactive", "quiet", "verbose", "dont_write_bytecode"))

_start_up = None


def start_up():
    """The fingerprint of the start of this interpreter: its flags, `-W`, `-X`, and the
    encodings that it took from the environment. The first answer is kept, since programs may
    change some of it."""
    global _start_up
    if _start_up is None:
        flags = sorted(
            "%s=%r" % (name, getattr(sys.flags, name))
            for name in dir(sys.flags)
            if name[:1] != "_"
            and name[:2] != "n_"
            and name not in ("count", "index")
            and name not in _HARMLESS_FLAGS
        )
        options = sorted("%s=%r" % pair for pair in sys._xoptions.items())
        encodings = [sys.getfilesystemencoding(), sys.getfilesystemencodeerrors(), _encoding()]
        parts = (flags, sys.warnoptions, options, encodings)
        _start_up = of_bytes(repr(parts).encode("utf-8", "surrogateescape"))
    return _start_up


def _encoding():
    """The encoding of text files, as `locale` gives it; importing that is slow."""
    try:
        from _locale import CODESET, nl_langinfo
    except ImportError:
        return ""
    return nl_langinfo(CODESET)
