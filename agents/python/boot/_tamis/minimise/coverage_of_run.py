"""Lines and branches that a session runs, by the coverage.py of the project's environment.

PYTEST_DONT_REWRITE
"""

import json
import os

from . import _BOOT
from .sources import PRODUCTION, Sources


class Measured:
    """Coverage from the start of pytest, before any code of the project is imported."""

    def __init__(self, roots):
        self.roots = roots
        self.coverage = None
        try:
            import coverage
        except ImportError:
            return
        self.coverage = coverage.Coverage(
            branch=True, data_file=None, config_file=False, messages=False, source=roots
        )
        self.coverage.start()

    def write(self, into, items):
        """Lines and arcs of each production file, by its path below the top of the project; or
        null where there is no coverage.py."""
        found = None
        if self.coverage is not None:
            self.coverage.stop()
            data = self.coverage.get_data()
            sources = Sources(self.roots, _BOOT, {str(item.fspath) for item in items})
            found = {}
            for path in sorted(data.measured_files()):
                if sources.kind_of(path) == PRODUCTION:
                    arcs, lines = data.arcs(path) or [], data.lines(path) or []
                    name = os.path.relpath(path, self.roots[0])
                    found[name] = {"lines": sorted(lines), "arcs": sorted(arcs)}
        with open(into, "w", encoding="utf-8") as file:
            json.dump(found, file)
