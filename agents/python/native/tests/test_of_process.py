"""What is another thing in each process, and still has a value."""

import sys

import pytest

MADE = """
import os, queue, sys, tempfile, threading
class Kept:
    def method(self): pass
    @classmethod
    def made(cls): pass
class Other:
    def method(self): pass
class Plain: pass
def function(): pass
def another(): return 1
one, two, none = Plain(), Plain(), None
one.a, two.a = 1, 2
names = tempfile._RandomNameSequence()
"""

# Values, of which none is equal to another.
ALIKE = """
id(Kept) | id(Other) | [id(Kept)] | {id(Kept), 5} | {id(Kept), id(Other)} | {id(Kept): 1}
'%d' % id(Kept) | 'program.Kept:%d' % id(Kept) | 'program.Kept:%d' % id(Other) | 'x:%d' % id(Kept)
'a[%d:%d]' % (id(Kept), id(int)) | 'a[%d:%d]' % (id(int), id(Kept)) | id(int) | id(None) | id(sys)
(id(Kept), 'text') | {(id(Kept), 'text'): 1} | id(Kept.__dict__['method']) | id(Other.method)
id(Kept.__dict__['made'].__func__) | id(threading)
"""
# The same, where the collector shows all objects.
FROM_3_12 = """
id(one) | id(two) | id(function) | id(another) | {id(one)} | {id(one): 1} | [id(two), id(one)]
(id(one), 'text', id(function)) | {(id(one), 'text', id(function)): 1} | one
"""

TAKE = (
    "from cell_steps import *\n"
    "made = module(sys.argv[1], 'program', 'program.py')\n"
    "for text in sys.argv[2].split(' | '):\n"
    "    found = taken(eval(text, vars(made)), made)\n"
    "    out([text, found[:16].hex() if isinstance(found, bytes) else found])\n"
)


def values(run, texts, source=MADE):
    return run(TAKE, source, " | ".join(texts.strip().splitlines()))


@pytest.mark.parametrize("texts", [ALIKE, FROM_3_12] if sys.version_info >= (3, 12) else [ALIKE])
def test_addresses_have_the_value_of_what_stands_there(run, texts):
    first = values(run, texts)
    assert first == values(run, texts)
    assert len({value for _, value in first}) == len(first)


def test_an_address_of_another_object_is_another_value(run):
    if sys.version_info < (3, 12):
        pytest.skip("the collector shows no objects")
    (before,) = values(run, "id(one)")
    (after,) = values(run, "id(one)", MADE + "one.a = 3\n")
    assert before[1] != after[1]


def test_a_number_that_is_no_address_is_a_number(run):
    texts = "94652244693152 | 94652244693168 | 'x:94652244693152' | 'x:94652244693168'"
    first = values(run, texts)
    assert first == values(run, texts)
    assert len({value for _, value in first}) == 4


def test_the_main_thread_and_the_process(run):
    """Its number may well be another number by chance."""
    (thread, process) = values(run, "threading.get_ident() | os.getpid()")
    again = values(run, "threading.get_ident() | os.getpid()")
    assert thread == again[0]
    assert process != again[1]


def test_names_of_temporary_files_are_all_alike(run):
    (unused,) = values(run, "names")
    (used,) = values(run, "names", MADE + "next(names)\n")
    assert unused == used


def test_a_queue_has_a_value_while_it_is_empty(run):
    source = MADE + "full = queue.SimpleQueue()\nfull.put(1)\n"
    (empty, full) = values(run, "queue.SimpleQueue() | full", source)
    assert len(empty[1]) == 32
    assert "a queue that is not empty" in full[1]


