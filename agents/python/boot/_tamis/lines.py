"""Notes which lines of sources are shown, through the standard library's cache of lines."""

import os
import stat
import sys

from .agent import guard, unobserved, watcher
from .paths import PROJECT, SOURCE_SUFFIXES, STDLIB


def install(agent, files):
    """Source text that a program reads is data: all of a file, for example in
    `inspect.getsource`, or the lines that a traceback shows."""
    of_lines = []

    @watcher
    def note(filename, noted):
        if not isinstance(filename, str) or filename[:1] == "<":
            return
        path = files.wanted(filename, sys._getframe(3))
        if path is None or not path.endswith(SOURCE_SUFFIXES):
            return
        if not agent.paths.is_project_code(path):
            return
        asker = sys._getframe(3)
        number = asker.f_locals.get("lineno") if asker.f_code in of_lines else None
        is_made = path in agent.written or files.is_made(path)
        if type(number) is int and agent.paths.place(path) == PROJECT and not is_made:
            # With the text it shows the number, so the line must be in its place.
            agent.note("line", agent.note_links(path), str(number))
        else:
            files.read(path)
        noted.append(path)

    def is_file(path):
        try:
            return stat.S_ISREG(files.stat(path).st_mode)
        except (OSError, ValueError):
            return False

    def watch(linecache):
        plain = linecache.getlines
        of_lines.append(linecache.getline.__code__)

        def getlines(filename, module_globals=None):
            noted = []
            note(filename, noted)
            if noted and is_file(noted[0]):
                # It reads the file, of which only some lines may matter.
                return unobserved(plain, filename, module_globals)
            return plain(filename, module_globals)

        check = linecache.checkcache

        def checkcache(filename=None):
            # Whether to read the file again is no matter of the program.
            return unobserved(check, filename)

        getlines.__doc__, checkcache.__doc__ = plain.__doc__, check.__doc__
        linecache.getlines, linecache.checkcache = getlines, checkcache

    library = os.path.dirname(os.path.abspath(os.__file__))
    if "linecache" in sys.modules or agent.paths.place(library) != STDLIB:
        import linecache

        watch(linecache)
    else:
        # Most processes that tests start never import it.
        agent.after_import["linecache"] = guard(watch)
