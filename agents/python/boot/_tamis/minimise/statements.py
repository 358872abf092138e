"""Runs all tests in their own order, and watches those that tamis names.

PYTEST_DONT_REWRITE
"""

import gc
import json
import unittest
from _thread import get_ident

import pytest

from . import events
from .hidden import Hidden, Outside
from .sources import PRODUCTION, TEST, Sources
from .takings import Takings

_MISSING = object()

# Taking the inputs of so many calls takes as long as a test should.
_MOST_CALLS = 300


def run(session, items, request, write, native, boot):
    """Run the tests; one line for each that was watched goes to the file of the request. Why it
    ended early, or `None`."""
    from ..order import child

    wish = request["observe"]
    order = [items[number] for number in request["run"]]
    session.items = order
    session.testscollected = len(order)
    files = {str(getattr(item, "path", None) or item.fspath) for item in items}
    sources = Sources(wish["roots"], boot, files)
    watch = Watch(native, sources, boot)
    listener = child.Listener(write)
    for plugin in (listener, watch):
        session.config.pluginmanager.register(plugin, "_tamis.%s" % type(plugin).__name__)
    watch.events.open()
    try:
        with open(wish["into"], "w", encoding="utf-8") as into:
            for position, item in enumerate(order):
                following = order[position + 1] if position + 1 < len(order) else None
                plan = wish["tests"].get(str(request["run"][position]))
                watch.plan = None if plan is None else Plan(plan, wish["deep"])
                listener.begin(position, item)
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                listener.end()
                if plan is not None:
                    told = {"test": request["run"][position], **watch.told()}
                    into.write(json.dumps(told) + "\n")
    except (pytest.exit.Exception, KeyboardInterrupt) as error:
        return {"stopped": "%s: %s" % (type(error).__name__, error)}
    return None


class Plan:
    """What is to be watched of one test."""

    def __init__(self, plan, deep):
        self.statements = plan["statements"]
        self.instance = plan["instance"]
        self.members = plan["members"]
        self.deep = deep
        # Line -> number of the statement that it belongs to.
        self.lines = {}
        for number, statement in enumerate(self.statements):
            # The compiler keeps the lines of some texts, but nothing else of them.
            if not statement["silent"]:
                for line in range(statement["first"], statement["last"] + 1):
                    self.lines[line] = number


class Step:
    """One statement that runs."""

    __slots__ = ("number", "before", "shared_before", "calls", "asserts")

    def __init__(self, number, before, shared):
        self.number = number
        self.before = before
        self.shared_before = shared
        self.calls = []
        self.asserts = False


class Watch:
    """The statements of one test at a time."""

    def __init__(self, native, sources, boot):
        self.sources = sources
        self.hidden = Hidden(native, sources, boot)
        self.takings = Takings(native, sources.places())
        self.outside = Outside()
        self.events = events.choose(self)
        self.thread = get_ident()
        self.plan = None
        self._clear()

    def _clear(self):
        self.steps = []
        self.start = None
        self.step = None
        self.state = {}
        self.trouble = None
        self.depth = 0
        self.calls = 0
        self.busy = False
        self.hidden_before = None

    def told(self):
        return {
            "start": self.start or {},
            "steps": self.steps,
            "trouble": self.trouble or (None if self.start is not None else "it was not seen to run"),
        }

    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_runtest_call(self, item):
        if self.plan is None:
            yield
            return
        self._clear()
        code = item.function.__code__
        self.events.begin(code)
        self.outside.begin()
        try:
            yield
        finally:
            seen = self.outside.end()
            self.events.end()
            self.trouble = seen or self.trouble
            self.hidden_before = None

    # -- what the events say --------------------------------------------------

    def wants(self, code):
        return self.sources.kind(code) in (PRODUCTION, TEST)

    def line(self, frame, line):
        if self.busy or self.trouble is not None:
            return
        if get_ident() != self.thread:
            self.trouble = "it uses threads"
            return
        number = self.plan.lines.get(line)
        if number is None:
            # The line of the `def`, or of a docstring.
            return
        if self.step is not None and self.step.number == number:
            return
        self._guarded(self._next, frame, number)

    def returns(self, frame):
        if self.busy or self.trouble is not None:
            return
        self._guarded(self._next, frame, len(self.plan.statements))

    def fails(self):
        self.trouble = self.trouble or "it does not end in the usual way"

    def enters(self, frame, is_start):
        if self.busy or self.trouble is not None:
            return
        if get_ident() != self.thread:
            self.trouble = "it uses threads"
            return
        step = self.step
        if self.sources.kind(frame.f_code) == PRODUCTION:
            if self.depth == 0 and is_start and step is not None:
                self._guarded(self._called, frame)
            self.depth += 1
        elif step is not None and not step.asserts:
            step.asserts = self.sources.may_assert(frame.f_code)

    def leaves(self, code):
        if self.busy or get_ident() != self.thread:
            return
        if self.sources.kind(code) == PRODUCTION and self.depth > 0:
            self.depth -= 1

    def _guarded(self, work, *arguments):
        self.busy = True
        try:
            work(*arguments)
        except Exception as error:
            self.trouble = "it could not be watched: %r" % (error,)
        finally:
            self.busy = False

    # -- takings ----------------------------------------------------------------

    def _called(self, frame):
        self.calls += 1
        if self.calls > _MOST_CALLS:
            self.trouble = "it makes more than %d calls of production code" % _MOST_CALLS
            return
        code = frame.f_code
        count = code.co_argcount + code.co_kwonlyargcount
        count += bool(code.co_flags & 4) + bool(code.co_flags & 8)
        values = dict(frame.f_locals)
        inputs, why = self.takings.inputs(
            [values[name] for name in code.co_varnames[:count] if name in values]
        )
        if why is not None:
            self._opaque("an input of %s" % code.co_name, why)
        module = frame.f_globals.get("__name__", "")
        name = getattr(code, "co_qualname", None) or code.co_name
        self.step.calls.append(["%s.%s" % (module, name), inputs])

    def _opaque(self, what, why):
        if self.trouble is None:
            self.trouble = "%s cannot be seen: %s" % (what, why)

    def _next(self, frame, number):
        """The statement that runs has ended, and `number` begins."""
        self.depth = 0
        named = self._named(frame)
        state = self.takings.each(named)
        if self.step is None:
            self.start = state
            expected = self._following(-1)
        else:
            self._end_step(frame, named, state)
            expected = self._following(self.step.number)
        self.state = state
        if self.trouble is not None:
            return
        if number != expected:
            self.trouble = "its statements do not run one after the other, each once"
            return
        if self.plan.deep:
            self._compare_hidden()
        if number < len(self.plan.statements):
            statement = self.plan.statements[number]
            before, shared = self._used(frame, named, statement)
            self.step = Step(number, before, shared)

    def _following(self, number):
        """The next statement that the interpreter makes something of."""
        number += 1
        statements = self.plan.statements
        while number < len(statements) and statements[number]["silent"]:
            number += 1
        return number

    def _end_step(self, frame, named, state):
        step = self.step
        statement = self.plan.statements[step.number]
        after, shared = self._used(frame, named, statement)
        changed = {name: told for name, told in state.items() if self.state.get(name) != told}
        changed.update({name: None for name in self.state if name not in state})
        self.steps.append(
            {
                "statement": step.number,
                "before": step.before,
                "after": after,
                "shared": [step.shared_before, shared],
                "calls": step.calls,
                "asserts": step.asserts,
                "changed": changed,
            }
        )

    def _compare_hidden(self):
        if self.hidden_before is None:
            # Classes that earlier tests made and left as garbage shall not go away meanwhile.
            gc.collect()
        now = self.hidden.take()
        before, self.hidden_before = self.hidden_before, now
        if before is not None:
            changed = self.hidden.difference(before, now)
            if changed is not None:
                self.trouble = "it changes state that outlives it: %s" % changed

    def _named(self, frame):
        """The variables of the frame, and the attributes of its instance."""
        found = {}
        for name, value in dict(frame.f_locals).items():
            if name == self.plan.instance:
                for attribute, held in _attributes(value).items():
                    found["%s.%s" % (name, attribute)] = held
            elif not name.startswith("@"):
                found[name] = value
        for name in self.plan.members:
            value = self._find(frame, found, name)
            if value is not _MISSING:
                found[name] = value
        return found

    def _used(self, frame, named, statement):
        """The values that the statement names, by position; and which are the same objects."""
        values = [self._find(frame, named, name) for name in statement["used"]]
        names = frame.f_globals
        free = [names[name] for name in statement["free"] if name in names]
        told, shared, why = self.takings.together(values, free, _MISSING)
        if why is not None:
            self._opaque("a value", why)
        return told, shared

    def _find(self, frame, named, name):
        if name in named:
            return named[name]
        instance = self.plan.instance
        if instance is None or not (name == instance or name.startswith(instance + ".")):
            return _MISSING
        holder = frame.f_locals.get(instance, _MISSING)
        if name == instance:
            return _attributes(holder)
        attribute = name[len(instance) + 1 :]
        for owner in type(holder).__mro__:
            if attribute in vars(owner):
                if owner is unittest.TestCase or owner is object:
                    return _MISSING
                value = vars(owner)[attribute]
                is_code = hasattr(type(value), "__get__")
                # A method may use all that the instance has.
                return _attributes(holder) if is_code else value
        return _MISSING


def _attributes(instance):
    """The attributes of a test's instance, without those of the test framework."""
    found = getattr(instance, "__dict__", {})
    if not isinstance(instance, unittest.TestCase):
        return dict(found)
    # pytest puts the method that it calls there.
    return {
        name: value
        for name, value in found.items()
        if name not in _OF_UNITTEST and getattr(value, "__self__", None) is not instance
    }


_OF_UNITTEST = frozenset(vars(unittest.TestCase())) | {"_testcase", "_subtest", "_outcome"}
