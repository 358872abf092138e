"""Prints what late units are now: `python probe.py units.json`.

The file holds `[[kind, name], …]`; the answer is a list of fingerprints in the
same order, null for what is missing. It imports no pytest.
"""

import os
import sys


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    boot = os.path.dirname(here)
    sys.path[:] = [entry for entry in sys.path if entry not in (here, boot)]
    sys.path.insert(0, boot)
    from _tamis import dists, envvars, late

    sys.path.remove(boot)
    import json

    with open(sys.argv[1], encoding="utf-8") as text:
        units = json.load(text)
    environment = {}
    for name, value in os.environ.items():
        value = envvars.own_value(name, value, boot)
        if value is not None:
            environment[name] = value
    installed = dists.Distributions()
    values = [
        late.current_value(unit[0], unit[1], environment, None, installed) for unit in units
    ]
    json.dump(values, sys.stdout)
    print()


if __name__ == "__main__":
    main()
