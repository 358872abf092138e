"""What imports and searches for tests write where nothing was, and take away again.

If it is gone when all tests are found, nobody meets it: a folder for temporary files that a
module makes to find out whether there are symbolic links.
"""

import os


class Passing:
    """Who made which path. Paths are absolute."""

    def __init__(self):
        self._made = {}
        self._lstat = os.lstat
        self._realpath = os.path.realpath

    def note(self, path, scope, opens):
        """Whether nothing lasts of what `scope` is about to do at `path`, if that is gone in the
        end. `opens`: it writes through a link that is there."""
        folder = path[: path.rfind("/")]
        whole = path if opens else folder
        if self._realpath(whole) != whole:
            return False
        known = self._made.get(path)
        if known is None and not self._is_there(path):
            known = self._made[path] = scope
        return known is scope

    def is_file(self, path):
        """Whether a path is one of these, and no folder."""
        return path in self._made and not os.path.isdir(path)

    def lasting(self):
        """The numbers of the scopes of which something is left."""
        return {scope.number for path, scope in self._made.items() if self._is_there(path)}

    def _is_there(self, path):
        try:
            self._lstat(path)
        except (OSError, ValueError):
            return False
        return True
