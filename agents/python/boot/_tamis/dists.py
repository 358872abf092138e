"""Installed distributions: the owner of a file, and its fingerprint."""

import os
import sys

from . import fingerprint
from .paths import site_directory, site_entry

_listdir = os.listdir


# The name of the unit for all installed plug-ins of pytest: a new one can change every test.
PLUGINS = "[pytest11]"


def normalised(name):
    name = name.replace("_", "-").replace(".", "-").lower()
    while "--" in name:
        name = name.replace("--", "-")
    return name


class Distributions:
    """The distributions in the site-packages directories, read lazily."""

    def __init__(self):
        self._directories = {}
        self._owners = {}
        self._prints = {}

    def owner(self, path):
        """`(name, fingerprint)` of the distribution that the file belongs to,
        or `None`."""
        directory, entry = site_directory(path), site_entry(path)
        if directory is None or not entry:
            return None
        key = (directory, entry)
        found = self._owners.get(key)
        if found is None:
            found = self._owners[key] = self._candidates(directory, entry)
        if len(found) > 1:
            # In a namespace package the exact list of files tells.
            inner = path[len(directory) + 1 :]
            exact = [info for info in found if inner in _recorded_files(info)]
            found = exact or found
        return self.print_of(found[0]) if found else None

    def _candidates(self, directory, entry):
        if entry.endswith((".dist-info", ".egg-info")):
            return [os.path.join(directory, entry)]
        return self._tops(directory).get(entry, [])

    def _tops(self, directory):
        """Top-level entry -> the metadata directories that list it."""
        tops = self._directories.get(directory)
        if tops is not None:
            return tops
        tops = self._directories[directory] = {}
        try:
            names = sorted(_listdir(directory))
        except OSError:
            names = []
        for name in names:
            if not name.endswith((".dist-info", ".egg-info")):
                continue
            info = os.path.join(directory, name)
            for top in _recorded_tops(info):
                tops.setdefault(top, []).append(info)
        return tops

    def print_of(self, info):
        """`(name, fingerprint)` for a metadata directory."""
        found = self._prints.get(info)
        if found is None:
            name, version = _name_and_version(info)
            record = _read(os.path.join(info, "RECORD")) or b""
            content = b"%s\0%s\0" % (name.encode(), version.encode()) + record
            found = self._prints[info] = (name, fingerprint.of_bytes(content))
        return found

    def plugins(self, path=None):
        """The fingerprint of the names of all distributions with a plug-in for pytest."""
        found = set()
        for directory in sys.path if path is None else path:
            try:
                entries = _listdir(directory or ".")
            except (OSError, TypeError):
                continue
            for entry in entries:
                if entry.endswith((".dist-info", ".egg-info")):
                    points = os.path.join(directory or ".", entry, "entry_points.txt")
                    if b"[pytest11]" in (_read(points) or b""):
                        found.add(normalised(entry.split("-", 1)[0]))
        return fingerprint.of_bytes("\n".join(sorted(found)).encode())

    def by_name(self, name, path=None):
        """The fingerprint of the distribution called `name`, or `None`."""
        if name == PLUGINS:
            return self.plugins(path)
        wanted = normalised(name)
        for directory in sys.path if path is None else path:
            try:
                entries = _listdir(directory or ".")
            except (OSError, TypeError):
                continue
            for entry in sorted(entries):
                if not entry.endswith((".dist-info", ".egg-info")):
                    continue
                stem = normalised(entry.rsplit(".", 1)[0])
                if stem != wanted and not stem.startswith(wanted + "-"):
                    continue
                found = self.print_of(os.path.join(directory or ".", entry))
                if found[0] == wanted:
                    return found[1]
        return None


def _read(path):
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        parts = []
        while True:
            part = os.read(descriptor, 1 << 20)
            if not part:
                return b"".join(parts)
            parts.append(part)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _name_and_version(info):
    """The name from the first lines of the metadata, or else from the directory."""
    text = _read(os.path.join(info, "METADATA"))
    if text is None:
        text = _read(os.path.join(info, "PKG-INFO"))
    if text is None and not os.path.isdir(info):
        text = _read(info)
    stem = os.path.basename(info).rsplit(".", 1)[0]
    name, _, version = stem.partition("-")
    for line in (text or b"").decode("utf-8", "replace").split("\n"):
        if not line.strip():
            break
        if line.startswith("Name:"):
            name = line[5:].strip()
        elif line.startswith("Version:"):
            version = line[8:].strip()
    return normalised(name), version


def _recorded_tops(info):
    """The first parts of the paths of a distribution's files."""
    record = _read(os.path.join(info, "RECORD"))
    if record is None or b'"' in record:
        return {recorded.split("/", 1)[0] for recorded in _recorded_files(info, record)}
    # Nothing is quoted.
    folders = {line.partition(b"/")[0] for line in record.split(b"\n")}
    tops = {folder.partition(b",")[0] for folder in folders} - {b"", b".."}
    return {top.decode("utf-8", "replace") for top in tops}


def _recorded_files(info, record=None):
    """The files of a distribution, relative to its site-packages."""
    if record is None:
        record = _read(os.path.join(info, "RECORD"))
    if record is not None:
        lines = record.decode("utf-8", "replace").split("\n")
        # A name with a comma is quoted.
        return {
            line[1:].split('"', 1)[0] if line.startswith('"') else line.split(",", 1)[0]
            for line in lines
            if line and not line.startswith("../")
        }
    listed = _read(os.path.join(info, "installed-files.txt"))
    if listed is not None:
        base = os.path.basename(info)
        lines = listed.decode("utf-8", "replace").split("\n")
        return {os.path.normpath(os.path.join(base, line)) for line in lines if line}
    tops = _read(os.path.join(info, "top_level.txt"))
    if tops is not None:
        names = tops.decode("utf-8", "replace").split()
        return set(names) | {name + ".py" for name in names}
    return set()


def install(agent):
    """Make the agent note distributions."""
    agent.distributions = Distributions()
    known = {}

    def note_site(path, scope=None):
        """The scope depends on the distribution of an installed file, or on the file itself if
        it belongs to none."""
        key = path if path.endswith((".py", ".so")) else None
        owner = known.get(path)
        if owner is None:
            owner = agent.distributions.owner(path) or ()
            if key:
                known[path] = owner
        if owner:
            agent.note("dist", owner[0], owner[1], scope)
        else:
            agent.note("file", path, fingerprint.of_file(path), scope)

    agent.note_site = note_site
    _find_editables(agent)


def watch_metadata(agent):
    """A request for a distribution by name depends on it, or on its absence."""
    from .agent import guard, watcher

    @watcher
    def note(name):
        if isinstance(name, str) and agent.acts(sys._getframe(3)):
            agent.note("dist", normalised(name), agent.distributions.by_name(name))

    def watch(module):
        plain = module.Distribution.from_name.__func__

        def from_name(cls, name):
            note(name)
            return plain(cls, name)

        from_name.__doc__ = plain.__doc__
        module.Distribution.from_name = classmethod(from_name)

    loaded = sys.modules.get("importlib.metadata")
    if loaded is not None and hasattr(loaded, "Distribution"):
        watch(loaded)
    else:
        agent.after_import["importlib.metadata"] = guard(watch)


def _find_editables(agent):
    """Directories to which installed packages are linked."""
    for directory in list(sys.path):
        if not directory.endswith(("/site-packages", "/dist-packages")):
            continue
        try:
            names = _listdir(directory)
        except OSError:
            continue
        for name in names:
            if name.endswith(".pth") or name.endswith(".egg-link"):
                text = _read(os.path.join(directory, name)) or b""
                for line in text.decode("utf-8", "replace").split("\n"):
                    line = line.strip()
                    if line.startswith("/"):
                        agent.paths.add_project(line)
    for finder in list(sys.meta_path):
        mapping = getattr(sys.modules.get(getattr(finder, "__module__", "")), "MAPPING", None)
        if isinstance(mapping, dict):
            for target in mapping.values():
                if isinstance(target, str) and target.startswith("/"):
                    agent.paths.add_project(target)
