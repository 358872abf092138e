"""Reads bytecode as it lies, without what `dis` makes of it.

PYTEST_DONT_REWRITE
"""

from opcode import EXTENDED_ARG


def steps(code, begin=0):
    """Offset, operation and argument of each instruction from an offset on; those that only
    extend an argument are left out."""
    raw, extended = code.co_code, 0
    for at in range(begin, len(raw), 2):
        operation, argument = raw[at], raw[at + 1] | extended
        extended = 0
        if operation == EXTENDED_ARG:
            extended = argument << 8
        else:
            yield at, operation, argument
