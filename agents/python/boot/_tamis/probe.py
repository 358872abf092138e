"""Prints the present values of late units: `python probe.py units.json`.

The file holds `[[kind, name], …]`. The answer is an object: `values`, a list of fingerprints
in the same order with null for a missing unit, and `runtime`, the words that name this
environment. It does not import pytest.
"""

import os
import sys


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    boot = os.path.dirname(here)
    sys.path[:] = [entry for entry in sys.path if entry not in (here, boot)]
    sys.path.insert(0, boot)
    from _tamis import dists, envvars, fingerprint, late

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
    json.dump({"runtime": fingerprint.runtime()[1], "values": values}, sys.stdout)
    print()


if __name__ == "__main__":
    main()
