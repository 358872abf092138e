"""What stands in `sys.modules`.

PYTEST_DONT_REWRITE
"""

import sys
from types import ModuleType

# Those of the run.
_OWN = ("_tamis", "_tamis_native")


def names():
    """The names in `sys.modules`, without those that belong to the run."""
    return [
        name
        for name in sys.modules
        if type(name) is str and name.partition(".")[0] not in _OWN
    ]


def stand_ins():
    """What stands there under another name than its own: `import` finds it there."""
    found = {}
    for name, module in list(sys.modules.items()):
        own = vars(module).get("__name__") if issubclass(type(module), ModuleType) else None
        if type(name) is str and own != name and name != "__main__":
            found[name] = module
    return found


def made_by_hand():
    """What programs have put there."""
    found = {}
    for name, module in list(sys.modules.items()):
        # As `is_a` does, and this goes through all of them again and again.
        if issubclass(type(module), ModuleType) and vars(module).get("__spec__") is not None:
            continue
        if type(name) is str and name != "__main__" and name.partition(".")[0] not in _OWN:
            found[name] = module
    return found
