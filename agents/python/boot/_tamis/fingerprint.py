"""Fingerprints as the trace format defines them."""

import os
import stat
import sys

# The C module alone: importing hashlib costs more than all of this.
try:
    from _sha1 import sha1
except ImportError:
    from hashlib import sha1

# Larger files are left for the reader of the trace to fingerprint.
LARGEST_FILE = 64 << 20

_ENTRY = {"r": b"r", "x": b"x", "l": b"l"}


def of_bytes(content, mode="r"):
    """32 hex digits: 15 bytes of the git blob id of `content`, and its mode."""
    digest = sha1(b"blob %d\0" % len(content))
    digest.update(content)
    return (digest.digest()[:15] + _ENTRY[mode]).hex()


def of_file(path, lstat=os.lstat, readlink=os.readlink):
    """The fingerprint of a file or symbolic link; `None` if there is none."""
    try:
        info = lstat(path)
        if stat.S_ISLNK(info.st_mode):
            return of_bytes(os.fsencode(readlink(path)), "l")
        if not stat.S_ISREG(info.st_mode) or info.st_size > LARGEST_FILE:
            return None
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
        try:
            parts = []
            while True:
                part = os.read(descriptor, 1 << 20)
                if not part:
                    break
                parts.append(part)
        finally:
            os.close(descriptor)
    except (OSError, ValueError):
        return None
    executable = info.st_mode & stat.S_IXUSR
    return of_bytes(b"".join(parts), "x" if executable else "r")


def runtime():
    """The fingerprint of the interpreter, and the text that it is made of."""
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
    return of_bytes(text.encode("utf-8", "surrogateescape")), text
