"""Tells the present values of late units to whoever asks on standard input.

A question is a line of JSON, `[[kind, name], …]`. Its answer is a line with an object: `values`,
a list of fingerprints in the same order with null for a missing unit, and `runtime`, the words
that name this environment. It ends with its input, and does not import pytest.
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

    environment = {}
    for name, value in os.environ.items():
        value = envvars.own_value(name, value, boot)
        if value is not None:
            environment[name] = value
    runtime = fingerprint.runtime()[1]
    for question in sys.stdin.buffer:
        installed = dists.Distributions()
        values = [
            late.current_value(kind, name, environment, None, installed)
            for kind, name in json.loads(question)
        ]
        json.dump({"runtime": runtime, "values": values}, sys.stdout)
        print(flush=True)


if __name__ == "__main__":
    main()
