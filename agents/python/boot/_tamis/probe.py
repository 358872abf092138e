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
    from _tamis import dists, envvars, fingerprint, late, trace

    sys.path.remove(boot)
    read = _reader()
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
            for kind, name in read(question)
        ]
        print(trace.encode({"runtime": runtime, "values": values}), flush=True)


def _reader():
    """Reads a line of JSON. To import `json` costs half as much as to start the interpreter."""
    try:
        from _json import make_scanner
    except ImportError:
        import json

        return json.loads

    class Settings:
        strict = True
        object_hook = object_pairs_hook = parse_constant = None
        parse_float, parse_int = float, int

    scan = make_scanner(Settings)
    return lambda line: scan(line.decode("utf-8"), 0)[0]


if __name__ == "__main__":
    main()
