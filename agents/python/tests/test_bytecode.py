"""`steps_at` finds what `dis` finds."""

import dis
import inspect
import sys
import types

import traces

sys.path.insert(0, traces.BOOT)
from _tamis.bytecode import ATTRIBUTES, attribute, steps_at

sys.path.remove(traces.BOOT)


def _codes(module):
    waiting = [compile(inspect.getsource(module), module.__file__, "exec")]
    # With so many names and constants some arguments need more than a byte.
    waiting.append(compile("\n".join("a.b%d[%d]" % (at, at + 9) for at in range(400)), "many", "exec"))
    while waiting:
        code = waiting.pop()
        yield code
        waiting.extend(one for one in code.co_consts if isinstance(one, types.CodeType))


def _shown(code):
    left_out = "CACHE", "EXTENDED_ARG"
    return [step for step in dis.get_instructions(code) if step.opname not in left_out]


def test_at_each_attribute_it_is_what_dis_shows():
    seen = set()
    for code in _codes(inspect):
        shown = _shown(code)
        for place, step in enumerate(shown):
            if step.opcode not in ATTRIBUTES:
                continue
            found = steps_at(code, step.offset, 4)
            # Operations without an argument have whatever the compiler left there.
            expected = [(one.opcode, one.arg) for one in shown[place : place + 4]]
            told = [(step[0], None if one[1] is None else step[1]) for step, one in zip(found, expected)]
            assert len(found) == len(expected) and told == expected
            assert attribute(code, *found[0]) == step.argval.split(" ")[0].split(".")[-1]
            seen.add(step.argval)
    assert {"b3", "b399", "__dict__"} <= seen


def test_from_a_place_that_belongs_to_a_call_on():
    def asks(thing):
        return signature(thing).parameters.keys()

    code = asks.__code__
    shown = _shown(code)
    calls = [place for place, one in enumerate(shown) if one.opname in ("CALL", "CALL_FUNCTION")]
    call, after = shown[calls[0]], shown[calls[0] + 1]
    for at in range(call.offset, after.offset, 2):
        names = [attribute(code, *step) for step in steps_at(code, at, 3)[1:]]
        assert names == ["parameters", "keys"]
    assert attribute(code, *steps_at(code, after.offset - 2, 1)[0]) is None


def test_code_that_has_not_begun():
    code = test_code_that_has_not_begun.__code__
    assert steps_at(code, -1, 2) == steps_at(code, 0, 2)
