"""Keeps the bytecode of the agent where Python is told to keep none.

With `PYTHONDONTWRITEBYTECODE`, which is for the folders of the user, each process would compile the
agent anew: that takes as long as all the rest of a short run. The agent's folder belongs to tamis.
"""

import os
import sys
from importlib._bootstrap_external import SourceFileLoader, cache_from_source


def keep(folder):
    """Compile the modules in `folder` once, for this interpreter."""
    if not sys.dont_write_bytecode or sys.pycache_prefix is not None:
        return
    names = sorted(name for name in os.listdir(folder) if name.endswith(".py"))
    last = cache_from_source(os.path.join(folder, names[-1]))
    if os.path.exists(last) or not os.access(folder, os.W_OK):
        return
    sys.dont_write_bytecode = False
    try:
        for name in names:
            path = os.path.join(folder, name)
            # It writes what it had to compile, and no error tells if it cannot.
            SourceFileLoader(name[:-3], path).get_code(name[:-3])
    finally:
        sys.dont_write_bytecode = True
