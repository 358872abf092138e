"""Starts the agent of tamis in a Python process.

`tamis` puts the directory of this file in front of `PYTHONPATH`. Python's `site` imports
`sitecustomize` before any of the user's code runs. This module starts the agent, restores
`sys.path` to what it would be without tamis, and runs the `sitecustomize` that it shadowed, if
there is one.
"""

import sys


def _start():
    here = __file__[: -len("/sitecustomize.py")]
    while here in sys.path:
        sys.path.remove(here)
    import os

    if os.environ.get("TAMIS_TRACE_DIR"):
        sys.path.insert(0, here)
        try:
            import _tamis.agent
        finally:
            sys.path.remove(here)
        _tamis.agent.start(os.environ["TAMIS_TRACE_DIR"])
    elif os.environ.get("TAMIS_ORDER"):
        # pytest itself loads the plug-in, as PYTEST_ADDOPTS says.
        sys.path.insert(0, here)
        try:
            import _tamis
        finally:
            sys.path.remove(here)


def _run_shadowed():
    """Run the next `sitecustomize` on the path under its own name."""
    from importlib.machinery import PathFinder

    spec = PathFinder.find_spec("sitecustomize")
    if spec is None or spec.origin == __file__ or spec.loader is None:
        return
    from importlib.util import module_from_spec

    module = module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


try:
    _start()
except Exception as error:
    import os

    if os.environ.get("TAMIS_DEBUG"):
        print("tamis: the collector did not start:", repr(error), file=sys.stderr)
_run_shadowed()
