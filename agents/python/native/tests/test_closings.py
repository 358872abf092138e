"""What ends between two tests because nobody holds it any more belongs to the next one."""

MODULE = """
def lines():
    try:
        yield 1
    finally:
        pass


def delegates():
    yield from lines()


def begun(kind):
    generator = kind()
    next(generator)
    return generator


def close(generator):
    generator.close()
"""

SCRIPT = """
import os, sys
native.start((os.getcwd() + "/closing_steps",), ())
sys.path.insert(0, os.getcwd())
import closing_steps as steps

names = {}

def ran():
    numbers = native.swap()
    for number, _, _, name in native.definitions():
        names[number] = name
    return sorted(names[number] for number in numbers)

def while_between(kind, end):
    generator = steps.begun(kind)
    ran()
    native.between(True)
    kept = [generator]
    del generator
    end(kept)
    seen = ran()
    native.between(False)
    out([seen, ran()])

while_between(steps.lines, list.clear)
while_between(steps.delegates, list.clear)
while_between(steps.lines, lambda kept: steps.close(kept[0]))

generator = steps.begun(steps.lines)
ran()
del generator
out(ran())
"""


def test_what_ends_between_two_tests_is_the_next_ones(run):
    assert run(SCRIPT, files=[("closing_steps.py", MODULE)]) == [
        [[], ["lines"]],
        [[], ["delegates", "lines"]],
        # Code of the project wants it: that may be a hook, of which all tests may have something.
        [["close", "lines"], []],
        # In the turn of a test.
        ["lines"],
    ]
